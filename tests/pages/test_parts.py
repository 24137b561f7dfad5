"""Controls that run only a part of the page: the rest stays right, and where it would not, the whole page is run."""

import pytest
import streamlit as st

from benchmarks.streamlit_private.app_test import go_to, interrupted
from tests.pages.test_app import component_data, start, text_on, widget
from tfm_ui.state.fields import Choice, Flag, alone_in, controls_of
from tfm_ui.state.model_state import ModelState

ALONE = sorted(alone_in(ModelState))


def is_whole(app) -> bool:
    """Whether the last run has drawn the sidebar's controls, and not only the lens and the foot."""
    return bool(app.text_area)


def drawn_in_sidebar(app, but: str) -> list[bytes]:
    elements = [each for each in app.sidebar if each.proto and getattr(each, "key", None) != but]
    assert len(elements) > 20
    return [each.proto.SerializeToString() for each in elements]


def other_value(name: str) -> object:
    field, default = controls_of(ModelState)[name]
    options = field.options if isinstance(field, Choice) else (True, False) if isinstance(field, Flag) else (8, 9)
    return next(value for value in options if value != default)


@pytest.mark.parametrize("name", ALONE)
def test_nothing_else_in_the_sidebar_depends_on_such_a_control(name):
    before, after = start(), start(**{name: str(other_value(name)).lower()})
    assert drawn_in_sidebar(before, name) == drawn_in_sidebar(after, name)


@pytest.mark.parametrize("name", ALONE)
def test_it_runs_the_lens_and_the_foot_and_undo_takes_it_back(name):
    app = start()
    default = widget(app, name).value
    widget(app, name).set_value(other_value(name)).run()
    assert not is_whole(app)
    assert "<h1>Heads</h1>" in text_on(app)
    (link,) = [data["link"] for data in component_data(app) if "link" in data]
    assert f"{name}={str(other_value(name)).lower()}" in link
    widget(app, "_undo").click().run()
    assert is_whole(app)
    assert widget(app, name).value == default


@pytest.mark.parametrize(("name", "value"), [("seed", 8), ("heads_head", 2)])
def test_another_page_that_is_asked_for_at_the_same_time_is_drawn(name, value):
    app = start()
    widget(app, name).set_value(value)
    go_to(app, "positions").run()
    assert is_whole(app)
    assert "<h1>Positions</h1>" in text_on(app)


def test_after_a_run_of_all_of_the_page_that_was_ended_all_of_it_is_run():
    app = start()
    widget(app, "text").set_value("quite another")
    with interrupted(300, by=st.stop):  # of about 480 times: the sidebar is drawn, the lens is not
        app.run()
    assert not [button for button in app.button if button.key == "_undo"]
    widget(app, "seed").set_value(8).run()
    assert is_whole(app)
    assert widget(app, "_undo")


def test_a_page_without_parts_is_run_whole():
    app = start("home", seed="5", weights="random")
    widget(app, "seed").set_value(8).run()
    assert is_whole(app)
