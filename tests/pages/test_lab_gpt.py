"""Lab GPT on every page: the badge names it, what it fixes is locked, and any text is read.

tests/laws/test_all_panels.py holds for every view that its blocks are right with Lab GPT; here are a lens's first view
and its last one.
"""

import pytest

from tests.opening import NO_PASS
from tests.pages.test_app import picture, shown, start, text_on, widget
from tests.pages.test_locked import plain_text_on
from tests.pages.test_weights import badge
from tfm_ui.lenses import lenses

BADGE = "Lab GPT, trained on prose · 4 × 5"
VIEWS = [
    (lens.name, {f"{lens.prefix}view": view} if len(lens.views) > 1 else {})
    for lens in lenses()
    if lens.name not in (*NO_PASS, "profiling")
    for view in sorted({*list(lens.views)[:1], *list(lens.views)[-1:]})
]


@pytest.mark.parametrize(("page", "query"), VIEWS)
def test_every_page_runs_and_says_that_it_is_lab_gpt(page, query):
    app = start(page, weights="lab-gpt", text="The ship, said “he”, was bound for 🦊", **query)
    text = text_on(app)
    assert "drawn from seed" not in text
    if query.get("attention_view") != "dictionary":  # which needs no model
        assert badge(app) == BADGE
        assert "Lab GPT: pretrained by a script of this project" in text


def test_what_it_fixes_is_a_line_that_says_why():
    app = start(weights="lab-gpt")
    assert "4 layers × 5 heads, d_model 160: fixed by these weights" in plain_text_on(app)
    assert "Tokens by byte pairs: 2,048 tokens" in plain_text_on(app)
    widget(app, "weights").set_value("random").run()
    assert badge(app).startswith("Random weights")
    widget(app, "weights").set_value("lab-gpt").run()
    assert badge(app) == BADGE


def test_it_is_offered_before_the_tasks():
    options = widget(start(), "weights").options
    assert options[:2] == ["random", "Lab GPT: trained on prose"]


def test_a_text_beyond_its_context_keeps_its_end_and_that_is_said():
    app = start(weights="lab-gpt", text="whale " * 300 + "the end")
    assert "the last 256 are read." in text_on(app)
    assert picture(app, "head")[0]["keys"][-1] == "·end"
    widget(app, "seq_len").set_value(2).run()
    assert picture(app, "head")[0]["keys"] == ["·the", "·end"]
    assert "the last 2 are read." in text_on(app)


def test_an_empty_text_shows_the_start_token():
    app = start(weights="lab-gpt", text="")
    assert picture(app, "head")[0]["keys"] == ["<|start|>", "PAD"]
    assert "The text is empty" in text_on(app)
    assert shown(app)[0].tolist() == [1, 0]


def test_samples_are_offered_and_read():
    app = start(weights="lab-gpt", text="@gettysburg", seq_len="4")
    assert "Abraham Lincoln" in text_on(app)
    assert picture(app, "head")[0]["keys"][-1] == "."
    assert [menu for menu in app.get("menu_button") if "Samples" in str(menu)] or "Samples" in str(app.sidebar)


@pytest.mark.parametrize("weights", ["lab-gpt,seed=3", "Lab-GPT", "lab_gpt"])
def test_a_name_that_is_nearly_lab_gpts_is_random_and_that_is_said(weights):
    app = start(weights=weights)
    assert "it can be random, lab\\-gpt, lab\\-bert, smollm2, minilm, or the name of a run" in app.warning[0].value
    assert badge(app).startswith("Random weights")


def test_a_question_about_random_weights_switches_and_says_so():
    app = start("attention", weights="lab-gpt", attention_view="scale")
    assert badge(app) == BADGE
    widget(app, "_set_up").click().run()
    assert badge(app).startswith("Random weights")
