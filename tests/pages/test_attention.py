"""The Attention lens without a browser; tests/laws/test_extremes.py has its views at every extreme."""

import pytest

from tests.pages.test_app import picture, start, text_on, widget
from tfm_ui.lenses.attention.state import VIEWS
from tfm_ui.pictures.steps import STEPS

ATTENTION = "attention"


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_runs_for_a_long_text(view):
    start(ATTENTION, attention_view=view, text="@alice", seq_len="1024", num_layers="1", num_heads="2")


@pytest.mark.parametrize("step", STEPS)
def test_every_step_has_its_formula_and_its_picture(step):
    app = start(ATTENTION, attention_step=step, attention_whole="false", attention_query="3")
    assert len(app.latex) == 5
    header, _ = picture(app, "steps")
    assert (header["step"], header["whole"]) == (step, False)
    assert f"step {STEPS.index(step) + 1} of 12: {step}" in text_on(app)


def test_switches_change_the_numbers_at_once():
    app = start(ATTENTION)
    before = picture(app, "steps")[1]
    widget(app, "attention_scaled").set_value(False).run()
    assert picture(app, "steps")[0]["lines"] != before
    assert "The switches change this attention alone" in text_on(app)
    widget(app, "attention_masked").set_value(False).run()
    header, _ = picture(app, "steps")
    assert "attention_masked=false" in header["query"]
    assert not app.exception


def test_a_cell_beyond_the_text_in_a_link_is_corrected():
    app = start(ATTENTION, attention_query="99", attention_dim="50", attention_step="magic", attention_temperature="0")
    assert picture(app, "steps")[0]["step"] == "weights"
    assert "attention_query = 99: it goes from 1 to 10" in text_on(app).replace("\\", "")
    assert app.query_params["attention_query"] == "10"
    assert app.query_params["attention_temperature"] == "0.05"
