"""The search leads to what was chosen, without a browser: pages, controls, the model, and what strangers send."""

import pytest

from benchmarks.streamlit_private.app_test import go_to, run_with_event
from tests.pages.test_app import parameter, start, text_on, widget
from tests.pages.test_lesson_pages import IN_LESSON
from tfm_ui.lenses import lens
from tfm_ui.search.box import GOING

TEXT = "my own words"


def choose(app, kind, name, page=""):
    """Choose an entry, as the browser tells it; on this page, if another one has led there."""
    if page:
        go_to(app, page)
    (component,) = [each for each in app.get("bidi_component") if '"index": "search/' in each.proto.json]
    run_with_event(app, component.proto.id, "chosen", {"kind": kind, "name": name, "number": 1})
    assert not app.exception
    return app


def seed(app) -> int:
    return widget(app, "seed").value


@pytest.mark.parametrize("page", ["heads", "masks"])  # the same page, and another
def test_a_view_opens_as_by_its_tab_and_the_model_stays(page):
    app = choose(start(page, seed="11", text=TEXT), "view", "masks.padding")
    assert parameter(app, "masks_view") == "padding"
    assert (seed(app), parameter(app, "text")) == (11, TEXT) if page == "heads" else True
    assert widget(app, "_view_padding").proto.type == "primary"


def test_the_view_of_a_lens_with_one_view_opens():
    app = choose(start("masks", seed="11"), "view", "heads.heads")
    assert 'data-lens="heads"' in text_on(app)
    assert seed(app) == 11


@pytest.mark.parametrize(("page", "shown"), [("learn", "<h1>Learn</h1>"), ("lecture", "<h1>Your lecture</h1>")])
def test_a_page_without_a_lens_opens(page, shown):
    app = choose(start("masks", seed="11"), "view", page)
    assert shown in text_on(app)
    assert seed(app) == 11


@pytest.mark.parametrize("page", ["attention", "learn"])
def test_a_question_is_set_up_and_ones_own_text_is_kept(page):
    question = next(each for each in lens("attention").questions if each.controls.get("view") == "scale")
    app = choose(start(page, text=TEXT, seed="11"), "question", f"attention.{question.link}")
    assert question.holds is not None
    assert f'data-number="{lens("attention").questions.index(question) + 1}"' in text_on(app)
    assert parameter(app, "attention_view") == "scale"
    assert widget(app, "_set_up").disabled  # it is as set up
    assert widget(app, "_mine").label == "Back to my text"


def test_a_question_is_to_be_seen_where_a_lesson_was_open():
    app = start("attention", lesson="start-here")
    assert IN_LESSON in text_on(app)
    choose(app, "question", f"masks.{lens('masks').questions[0].link}")
    assert IN_LESSON not in text_on(app)
    assert "lesson" not in app.query_params
    assert 'data-lens="masks" data-number="1"' in text_on(app)


@pytest.mark.parametrize("page", ["heads", "learn"])
def test_a_step_opens(page):
    app = choose(start(page, seed="3"), "step", "start-here.softmax")
    assert parameter(app, "lesson") == "start-here.softmax"
    assert IN_LESSON in text_on(app)


def test_a_setting_opens_a_view_that_has_it_and_changes_nothing_else():
    app = choose(start("heads", seed="11", heads_layer="2"), "setting", "masks_tries")
    assert parameter(app, "masks_view") == "leaks"
    assert widget(app, "masks_tries").value == 4
    assert seed(app) == 11
    choose(app, "view", "heads.heads", page="masks")
    assert widget(app, "heads_layer").value == 2


def test_a_setting_stays_in_the_view_that_has_it_already():
    app = choose(start("attention", attention_view="contribution"), "setting", "attention_layer")
    assert parameter(app, "attention_view") == "contribution"


@pytest.mark.parametrize("weights", ["random", "lab-gpt"])
def test_a_setting_brings_what_its_control_needs(weights):
    app = choose(start("heads", weights=weights, seed="11"), "setting", "attention_kind")
    assert widget(app, "attention_kind")
    assert widget(app, "architecture").value == "encoder-decoder"
    choose(app, "setting", "target", page="attention")
    assert widget(app, "target")
    choose(app, "setting", "model_own_heads", page="attention")
    assert widget(app, "model_own_heads").value == 32


def test_a_setting_of_the_sidebar_leads_nowhere_else():
    app = choose(start("masks", masks_view="padding", seed="11"), "setting", "positional")
    assert parameter(app, "masks_view") == "padding"
    assert seed(app) == 11


@pytest.mark.parametrize(
    "sent",
    [
        None, 7, "heads", [], {}, {"kind": "view"}, {"kind": "view", "name": 5}, {"kind": [], "name": "heads.heads"},
        {"kind": "view", "name": "heads.nothing"}, {"kind": "question", "name": "../secret"},
        {"kind": "setting", "name": "_known"}, {"kind": "word", "name": "softmax"}, {"kind": "x" * 9999, "name": "a"},
    ],
)  # fmt: skip
def test_what_is_not_in_the_index_leads_nowhere(sent):
    app = start("heads", seed="11")
    (component,) = [each for each in app.get("bidi_component") if '"index": "search/' in each.proto.json]
    run_with_event(app, component.proto.id, "chosen", sent)
    assert not app.exception
    assert GOING not in app.session_state
    assert 'data-lens="heads"' in text_on(app)
    assert seed(app) == 11
