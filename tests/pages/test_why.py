"""The views on parts without a browser: sources are opened one after another, held out, and reached by the trail."""

import pytest

from tests.pages.test_app import start, text_on, widget

CELL = {"attention_layer": "2", "attention_head": "1", "attention_query": "32", "attention_key": "5"}


def lens(view, **query):
    return start("attention", attention_view=view, **query)


def parameter(app, name):
    """A parameter of the page's link; "" if it is not in it."""
    value = app.query_params.get(name, "")
    return value if isinstance(value, str) else value[0]


def labels(app):
    return " ".join(button.label for button in app.button).replace("\\", "")


def pressed(app, key):
    widget(app, key).click().run()
    assert not app.exception
    return app


@pytest.fixture
def induction():
    return lens("why", weights="induction", **CELL)


def test_a_source_opens_into_its_cell_and_the_trail_leads_back_to_what_was_chosen(induction):
    assert "Why “n₃” looks at “g”" in text_on(induction)
    app = pressed(induction, "_open_why_key")
    assert parameter(app, "attention_trail") == "2.1.32.5k"
    assert [parameter(app, f"attention_{name}") for name in ("query", "key")] == ["5", "4"]
    assert "Why “g” looks at “n”" in text_on(app)
    app = pressed(app, "_trail_why_0")
    assert parameter(app, "attention_key") == "5"
    assert parameter(app, "attention_from_key") == "1.1"
    assert parameter(app, "attention_trail") == ""


def test_a_link_brings_the_trail_back_and_another_cell_has_none():
    opened = {"attention_layer": "1", "attention_head": "1", "attention_query": "5", "attention_key": "4"}
    app = lens("written", weights="induction", **opened, attention_trail="2.1.32.5k")
    assert "layer 2, head 1: “n₃” → “g”" in labels(app)
    assert "they sum to what this head gave there" in text_on(app)
    app = lens("written", weights="induction", **(opened | {"attention_query": "6"}), attention_trail="2.1.32.5k")
    assert "layer 2, head 1" not in labels(app)


def test_a_source_is_held_out_and_let_back_in(induction):
    app = pressed(induction, "_out_why_key")
    assert (parameter(app, "attention_out"), parameter(app, "attention_from_key")) == ("key", "1.1")
    assert "Without layer 1, head 1 at “g”" in text_on(app)
    app = pressed(app, "_out_why_key")
    assert "Without layer 1" not in text_on(app)


def test_what_a_link_holds_out_and_the_model_has_not_is_not_held_out():
    app = lens("why", weights="induction", **CELL, attention_out="key", attention_from_key="9.9")
    assert "Without layer" not in text_on(app)


def test_of_a_masked_cell_no_ratio_of_weights_is_told():
    app = lens("why", attention_query="2", attention_key="6", attention_layer="2")
    assert "Why “cat” may not look at “mat”" in text_on(app)
    assert "times as much weight" not in text_on(app)


def test_a_logit_opens_into_a_head_and_that_into_another():
    app = lens("logit", weights="lab-gpt", text="The captain met Mr Darnay and then Mr", attention_query="12")
    app = pressed(app, "_open_logit_heads_logit")
    assert parameter(app, "attention_view") == "written"
    assert parameter(app, "attention_trail").startswith("l1.2.12.12l")
    assert "they sum to what this head gave there" in text_on(app)
    app = pressed(app, "_trail_written_0")
    assert parameter(app, "attention_view") == "logit"
