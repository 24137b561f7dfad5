"""Any link of any model in each view: all is said, each law holds, each picture is drawn, each question is answered.

The view "distance" has a test of its own, as its networks are slow: tests/tfm_ui/lenses/model/test_model_distance.py.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.lenses.model.any_link import models, panels_that_hold, states
from tfm_core import TOKENIZERS
from tfm_ui.lenses.model.diagram.block import formulas
from tfm_ui.lenses.model.state import BLOCKS, DROPOUTS, FFN_SIZES, OUTSIDE_LAYERS, SPREADS, SUB_LAYERS

HEAD, WIDTH, TWO = st.integers(1, 16), st.sampled_from([32, 64, 96]), st.just(2)
TEMPERATURE = st.sampled_from([0.1, 0.5, 1.0, 1.7, 5.0])
Fields = dict[str, Any]
# View -> fields of the model, fields of the view, and how many panels there are: at least, and at most.
VIEWS: dict[str, tuple[Fields, Fields, tuple[int, int]]] = {
    "diagram": ({}, {"block": st.sampled_from(BLOCKS), "all_layers": st.booleans()}, (3, 3)),
    "block": (
        {"d_model": WIDTH, "num_layers": TWO},
        {
            "sub_layer": st.sampled_from((*SUB_LAYERS, *OUTSIDE_LAYERS)),
            "block_dim": st.integers(1, 96),
            "dropout": st.sampled_from(DROPOUTS),
            "dropout_draw": st.integers(1, 9),
        },
        (1, 5),
    ),
    "feed_forward": (
        {"d_ff": st.sampled_from([0, 1, 7, 40])},
        {"unit": st.integers(1, 200), "ffn_size": st.sampled_from(FFN_SIZES)},
        (4, 4),
    ),
    "depth": (
        {"num_layers": TWO},
        {"head": HEAD, "depth": st.sampled_from([1, 2, 7]), "depth_dropout": st.sampled_from([0, 0.1, 0.5])},
        (3, 4),
    ),
    "efficient": (
        {"num_layers": TWO},
        {"head": HEAD, "tile": st.integers(1, 6), "tile_step": st.integers(1, 144)},
        (4, 4),
    ),
    "output": (
        {"tokenizer": st.sampled_from(tuple(TOKENIZERS)), "d_model": WIDTH},
        {
            "token": st.integers(1, 20),
            "temperature": TEMPERATURE,
            "tied": st.booleans(),
            "top": st.integers(3, 20),
            "spread": st.sampled_from(SPREADS),
        },
        (7, 7),
    ),
}


@pytest.mark.parametrize("view", VIEWS)
@given(st.data())
def test_of_any_link_all_is_said_and_holds(view, data):
    of_model, of_view, (least, most) = VIEWS[view]
    model, state = data.draw(models(**of_model)), data.draw(states(view, **of_view))
    panels = panels_that_hold(model, state)
    assert least <= len(panels) <= most
    for panel in panels:
        numbers = panel.table().select_dtypes("number").to_numpy()
        assert panel.sentence().endswith(".")
        # A flow has columns for the wider end; depth and efficiency have lengths and cells that there are not.
        assert np.isfinite(numbers).all() or panel.key == "model_flow" or view not in ("block", "output"), panel.key
    if view == "diagram":
        assert all(formulas(item.block, panels[0].config) for item in panels[0].items)
