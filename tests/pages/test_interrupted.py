"""A visitor who goes back fast: a run of a page ends where it happens to be, and the next one has another address."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.exceptions import RerunException
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.util import calc_hash

from tests.opening import go_to, new_app
from tests.pages.test_app import start, text_on, widget


@contextmanager
def interrupted(at: int, page: str, query: str = "") -> Iterator[None]:
    """The next run of a page ends the `at`-th time that it could, as another page was asked for meanwhile."""
    usual, left = ScriptRunner._maybe_handle_execution_control_request, at

    def halt(self: ScriptRunner) -> None:
        nonlocal left
        if self._execing and self._is_in_script_thread():
            left -= 1
            if not left:
                raise RerunException(RerunData(query_string=query, page_script_hash=calc_hash(page)))
        usual(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScriptRunner, "_maybe_handle_execution_control_request", halt)
        yield
    assert left <= 0


def test_a_first_visit_that_another_page_interrupts_leaves_a_working_page():
    for at in range(2, 80, 13):  # of about 750 times
        app = go_to(new_app(), "positions")
        with interrupted(at, "heads"):
            app.run()
        assert not app.exception, at
        assert not go_to(app, "heads").run().exception
        assert "<h1>Heads</h1>" in text_on(app)


def test_a_bad_question_is_corrected_although_the_run_that_found_it_was_interrupted():
    bad = "attention_question=abc&num_heads=7"
    for at in range(330, 360, 6):  # between the note that the lens is known and the correction
        app = go_to(new_app(attention_question="abc", num_heads="7"), "attention")
        with interrupted(at, "attention", bad):
            app.run()
        assert not app.exception, at


@pytest.mark.parametrize("asked", ["abc", "99", "2.5"])
def test_a_bad_question_that_history_brings_back_leaves_a_working_page(asked):
    app = start("attention")
    app.query_params = {"attention_question": asked}
    app.run()
    assert not app.exception
    assert "<h1>Attention</h1>" in text_on(app)


def test_exit_is_pressed_when_back_has_ended_presenting_already():
    app = start(present="true")
    app.query_params = {}
    widget(app, "_exit").click().run()
    assert not app.exception
    assert " of 9<" not in text_on(app)
