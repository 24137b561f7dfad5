"""Whoever walks through the questions, by keys or by mouse, forwards or back, is where each question says."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from benchmarks.streamlit_private.app_test import go_to
from tests.pages.test_app import start, widget
from tfm_ui.lenses import lens, lenses
from tfm_ui.page import present_bar
from tfm_ui.page.questions import Question
from tfm_ui.state.links import state_of
from tfm_ui.state.model_state import ModelState


class Keys:
    """What a presenter's browser asks for."""

    def __init__(self) -> None:
        self.target: dict[str, Any] = {}

    def press(self, app: AppTest, name: str, number: int, *, sets_up: bool = True) -> None:
        """Walk to a question."""
        step = self.target.get("step", 0) + 1
        self.target = {"lens": name, "number": number, "sets_up": sets_up, "step": step}
        app.run()
        assert not app.exception


@pytest.fixture
def keys(monkeypatch) -> Keys:
    pressed = Keys()
    monkeypatch.setattr(present_bar, "presenting_keys", lambda *_: pressed.target)
    return pressed


def assert_at(app: AppTest, name: str, question: Question) -> None:
    """The address says all that the question sets, and nothing else."""
    each = lens(name)
    query = {key: [value] if isinstance(value, str) else value for key, value in app.query_params.items()}
    assert state_of(ModelState, "", query) == ModelState(**question.model), query
    assert state_of(each.state, each.prefix, query) == each.state(**question.controls, question=question.link), query


@pytest.mark.parametrize("name", [each.name for each in lenses()])
def test_forwards_by_keys_and_back_by_mouse(keys, name):
    these = lens(name).questions
    app = start(name, present="true")
    for number, question in list(enumerate(these, 1))[1:]:
        keys.press(app, name, number)
        assert_at(app, name, question)
    for question in these[-2::-1]:
        widget(app, "_previous_question").click().run()
        assert_at(app, name, question)


def test_from_lens_to_lens_questions_bring_their_model_and_lenses_keep_the_readers(keys):
    app = start("heads", present="true", text="a text of my own", num_heads="8")
    attention = lens("attention").questions
    keys.press(app, "attention", 1, sets_up=False)
    go_to(app, "attention").run()
    assert (app.session_state["text"], widget(app, "num_heads").value) == ("a text of my own", 8)
    go_to(app, "heads").run()
    keys.press(app, "attention", 2)
    go_to(app, "attention").run()
    assert_at(app, "attention", attention[1])
