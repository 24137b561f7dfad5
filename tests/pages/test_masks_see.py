"""The view "see" of the Masks lens, and what stands above all its views, without a browser."""

from urllib.parse import urlencode

import numpy as np
import pytest

from tests.pages.test_app import picture, start, text_on, widget, with_menus
from tests.tfm_ui.payloads import decode
from tests.tfm_ui.pictures.charts import prints_nan
from tfm_core import MASKS
from tfm_ui.lenses import lens
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.pictures.maps import MASKED
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import Asked, content_of, made

PAGE = "masks"
PICTURES = ["masks_batch", "masks_composer", "masks_see", "masks_growth"]
PLACES = [("encoder", "decoder"), ("decoder", "decoder"), ("encoder-decoder", "decoder"), ("encoder-decoder", "cross")]


def maps(app):
    """Mask, scores and weights as the browser gets them, and the header."""
    return in_shape(*picture(app, "masks_see"))


def in_shape(header, numbers: bytes):
    shape = (-1, len(header["rows"]["names"]), len(header["columns"]["names"]))
    return header, np.frombuffer(numbers, np.float32).reshape(shape)


def check(app, *, exact: bool = True):
    assert not app.exception
    for name in PICTURES:
        assert not prints_nan(picture(app, name)[0])
    assert "✕" not in text_on(app)
    return check_maps(*picture(app, "masks_see"), exact=exact)


def check_maps(header, numbers: bytes, *, exact: bool = True):
    _, (mask, scores, weights, *_) = in_shape(header, numbers)
    assert np.isfinite(scores).all() or not exact
    assert (weights[np.isnan(mask)] == 0).all() or not exact
    return header


def asked(mask: str, where: tuple[str, str]) -> dict[str, str]:
    """A link's parameters: this mask in this attention."""
    architecture, place = where
    return {
        "architecture": architecture, "masks_place": place, "masks_mask": mask, "masks_layer": "2", "masks_head": "4"
    }  # fmt: skip


@pytest.mark.parametrize("mask", ["", *MASKS])
@pytest.mark.parametrize("where", PLACES)
def test_every_mask_is_obeyed_in_every_place(where, mask):
    query = urlencode(asked(mask, where))
    for name in PICTURES:
        assert not prints_nan(content_of(name, query)[0])
    check_maps(*decode(made("masks_see", query)))
    states = Asked(query)
    blocks = lens(PAGE).blocks(states.model, states.lens(MasksState, "masks_"))
    assert all(holds for panel in panels_in(blocks) for holds in panel.laws().values())


@pytest.mark.parametrize(
    "model",
    [
        {"masks_texts": "a\nb\nc\nd\ne\nf\ng\nh\ni", "masks_item": "8"},
        {"text": "@alice", "seq_len": "64", "masks_item": "1", "masks_paint": "64x64.tY2BgYAAA"},
        {"text": "@alice", "seq_len": "300", "masks_item": "1", "masks_part": "20,0,30,40"},
        {"text": "@alice", "seq_len": "70", "masks_item": "1", "masks_mask": "global 1000"},
        {"text": "@alice", "seq_len": "1024", "masks_item": "1", "masks_mask": "strided 32"},
        {"text": "@alice", "seq_len": "1024", "masks_item": "2", "masks_part": "0,0,100,1024", "masks_mask": ""},
    ],
)
def test_texts_and_batches_of_any_size(model):
    app = start(PAGE, **model)
    header = check(app, exact=model.get("seq_len") != "1024")
    text = text_on(app)
    large = int(model.get("seq_len", 10)) > 64
    assert (header["painting"] is None) == large
    assert ("Cells can be painted up to 64 × 64" in text) == large
    assert ("of the 9 lines the first 7 are taken" in text) == (model.get("masks_item") == "8")


def test_paint_lies_over_the_masks_and_is_cleared_as_one_act():
    before = maps(start(PAGE))[1]
    app = start(PAGE, masks_paint="~s1.2_1.3~h2.1")
    assert "3 cells painted: 2 shown and 1 hidden." in text_on(app)
    header, (mask, _, weights, codes) = maps(app)
    text = header["painting"]["text"]
    assert text.startswith("2x3.")
    assert (codes % 4)[:2, :3].tolist() == [[0, 1, 1], [2, 0, 0]]
    assert not np.isnan(mask[0, 1:3]).any()
    assert (weights[0, :3] > 0).all()
    assert weights[1].tolist()[:3] == [0, 1, 0]
    widget(app, "_masks_clear").click().run()
    assert not app.exception
    assert "masks_paint" not in app.query_params
    np.testing.assert_array_equal(maps(app)[1], before)
    assert "No cell is painted." in text_on(app)
    widget(app, "_masks_undo").click().run()
    assert not app.exception
    assert maps(app)[0]["painting"]["text"] == text


def test_undo_beside_the_paint_is_enabled_where_it_takes_back_painting():
    app = start(PAGE)
    assert widget(app, "_masks_undo").disabled
    widget(app, "masks_layer").set_value(2).run()
    assert not widget(app, "_undo").disabled
    assert widget(app, "_masks_undo").disabled  # the last act was another one
    painted = start(PAGE, masks_paint="~s1.2")
    assert widget(painted, "_masks_undo").disabled  # the link painted, nobody here did
    widget(painted, "_masks_clear").click().run()
    assert not widget(painted, "_masks_undo").disabled
    widget(painted, "_masks_undo").click().run()
    assert "1 cell painted" in text_on(painted)
    assert widget(painted, "_masks_undo").disabled


def test_a_fully_hidden_mask_gives_zeros_and_no_nan():
    rows = "_".join(f"{row}.{column}" for row in range(1, 11) for column in range(1, 11))
    app = start(PAGE, masks_paint=f"~h{rows}")
    header = check(app)
    assert "0 of 100 pairs kept. Nobody sees anything: all weights are 0." in text_on(app)
    assert header["maps"][0]["unit"] == "0 of 100 pairs kept"
    _, (mask, _, weights, _) = maps(app)
    assert np.isnan(mask).all()
    assert not weights.any()


def test_the_composer_knows_what_is_there_anyway_and_how_to_take_it_away():
    composer = picture(start(PAGE), "masks_composer")[0]
    assert composer["locked"] == {"text": "causal, the sidebar’s switch", "lift": {"causal": "false"}}
    assert composer["terms"] == [{"how": "and", "name": "padding", "numbers": []}]
    composer = picture(start(PAGE, architecture="decoder", masks_mask="prefix 3"), "masks_composer")[0]
    assert composer["locked"]["lift"] is None
    assert "built into the decoder" in composer["notes"]
    assert not composer["offer"]
    composer = picture(start(PAGE, masks_mask="prefix 3 or global 2 99"), "masks_composer")[0]
    assert composer["title"] == "causality and (prefix 3 or global 2 99)"
    assert composer["terms"][1]["numbers"] == [2, 99]
    assert picture(start(PAGE, causal="false"), "masks_composer")[0]["locked"] is None


def test_a_model_that_shrinks_keeps_the_lens():
    app = start(PAGE, num_layers="3", num_heads="8", masks_layer="3", masks_head="8", masks_item="7")
    assert "there is no sentence 7, the last one is shown" in text_on(app)
    before = maps(app)[1]
    widget(app, "num_layers").set_value(1).run()
    assert not app.exception
    assert "Layer 1, head 8." in text_on(app)
    assert not np.array_equal(before, maps(app)[1], equal_nan=True)


def test_every_menu_opens():
    names = ("masks_see", "masks_growth")
    app = with_menus(names, PAGE, architecture="encoder-decoder", masks_place="cross", masks_paint="~h1.1")
    assert len(app.dataframe) == 2
    assert len(app.code) > 2


def test_pooled_cells_are_masked_only_where_no_pair_may_attend():
    _, (mask, scores, weights) = maps(start(PAGE, text="@alice", seq_len="1024", masks_item="1", masks_mask="window 2"))
    assert mask.shape == (256, 256)
    assert (np.isnan(mask) == np.isnan(scores)).all()
    assert (np.isnan(mask) == np.isnan(weights)).all()
    band = np.subtract.outer(np.arange(256), np.arange(256))
    assert (~np.isnan(mask) == ((band == 0) | (band == 1))).all()
    assert np.isnan(MASKED)
