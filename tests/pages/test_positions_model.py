"""The views model, fault and table of the Positions lens without a browser."""

import numpy as np
import pytest

from tests.pages.test_app import picture, plain, start, text_on, widget, with_menus
from tests.tfm_ui.pictures.charts import prints_nan, values
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.model.shuffle import Shuffled
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState

PAGE = "positions"
PICTURES = {
    "model": ["positions_maps", "positions_distance", "positions_shuffled", "positions_entry"],
    "fault": ["positions_fault_added", "positions_fault_maps"],
    "table": [],
}


def lens(view: str, **query: str):
    return start(PAGE, positions_view=view, **query)


def all_pictures(app) -> None:
    for name in PICTURES["model"]:
        header, numbers = picture(app, name)
        assert header["about"]
        assert not prints_nan(header)
        assert not np.isnan(values(header, numbers)).all() or name == "positions_entry"


def test_shuffle_again_is_another_order_in_the_link():
    def computed(seed: int) -> np.ndarray:
        rows = Shuffled(ModelState(), PositionsState(shuffle=seed)).rows.values()
        return np.concatenate([row.shares for row in rows])

    app = lens("model")
    before, numbers = text_on(app), picture(app, "positions_shuffled")[1]
    np.testing.assert_allclose(np.frombuffer(numbers, np.float32), computed(1), atol=1e-5)
    widget(app, "_positions_shuffle").click().run()
    assert not app.exception
    header, after = picture(app, "positions_shuffled")
    assert "positions_shuffle=2" in header["query"]
    assert after != numbers
    np.testing.assert_allclose(np.frombuffer(after, np.float32), computed(2), atol=1e-5)
    assert text_on(app) != before
    again = lens("model", positions_shuffle="2")
    assert picture(again, "positions_shuffled")[1] == after


def test_a_text_without_another_order_offers_no_shuffle():
    assert widget(lens("model", text="a a a"), "_positions_shuffle").disabled


def test_the_causal_mask_is_switched_off_beside_the_shuffle():
    app = lens("model")
    assert "Even without positions the causal mask tells some order" in text_on(app)
    widget(app, "_positions_causal").click().run()
    assert not app.exception
    assert not widget(app, "causal").value
    text = text_on(app)
    assert "Without positions each of the 10 tokens kept its output" in text
    assert "causal mask tells" not in text
    assert not [button for button in app.button if button.key == "_positions_causal"]


def test_layer_and_head_choose_the_map():
    app = lens("model", num_layers="3")
    before = picture(app, "positions_maps")[1]
    widget(app, "positions_layer").set_value(3).run()
    other = picture(app, "positions_maps")[1]
    widget(app, "positions_model_head").set_value(4).run()
    assert len({before, other, picture(app, "positions_maps")[1]}) == 3
    assert "layer 3, head 4" in text_on(app)


def test_the_table_leads_into_the_views():
    app = lens("table")
    buttons = [button.key for button in app.button if button.key and button.key.startswith("_try_")]
    assert len(buttons) == 5
    for key in buttons:
        widget(app, key).click().run()
        assert not app.exception
        app = lens("table")
    widget(app, "_try_model_none").click().run()
    assert picture(app, "positions_maps")[0]["maps"][0]["name"] == "A: none"


@pytest.mark.parametrize("view", PICTURES)
def test_every_menu_opens(view):
    names = PICTURES[view] or ["positions_table"]
    app = with_menus(names, PAGE, positions_view=view, seq_len="12", architecture="encoder-decoder")
    assert len(app.dataframe) == len(names)
    assert len(app.code) > len(names)


def test_a_model_that_takes_long_says_what_is_left_out(monkeypatch):
    monkeypatch.setattr(model_runs, "ALL_UP_TO", 100)
    app = lens("model", positions_a="t5", positions_b="alibi")
    all_pictures(app)
    assert any("; sinusoidal, learned and rope are left out." in plain(info.value) for info in app.info)
    assert [m["name"] for m in picture(app, "positions_maps")[0]["maps"]] == ["A: t5", "B: alibi", "none"]
