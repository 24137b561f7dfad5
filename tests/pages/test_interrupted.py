"""A visitor who goes back fast: a run of a page ends where it happens to be, and the next one has another address."""

from collections.abc import Callable

import pytest
import streamlit as st

from benchmarks.streamlit_private.app_test import go_to, interrupted
from tests.opening import new_app
from tests.pages.test_app import start, text_on, widget
from tfm_ui.page.frame import page_of


def another_page(lens: str, **query: str) -> Callable[[], None]:
    """What asks for another page meanwhile."""
    return lambda: st.switch_page(page_of(lens), query_params=query)


def test_a_first_visit_that_another_page_interrupts_leaves_a_working_page():
    for at in range(2, 80, 13):  # of about 590 times
        app = go_to(new_app(), "positions")
        with interrupted(at, by=another_page("heads")):
            app.run()
        assert not app.exception, at
        assert not go_to(app, "heads").run().exception
        assert "<h1>Heads</h1>" in text_on(app)


def test_a_bad_question_is_corrected_although_the_run_that_found_it_was_interrupted():
    bad = {"attention_question": "abc", "num_heads": "7"}
    for at in range(296, 309, 3):  # while the lens's link is opened, from what is known to the correction
        app = go_to(new_app(**bad), "attention")
        with interrupted(at, by=another_page("attention", **bad)):
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
