"""What the questions of the Masks lens's presets take for granted."""

import numpy as np

from tfm_ui.masks_lens import empty_rows_spread, padding
from tfm_ui.masks_lens.padding_batch import ROUNDING
from tfm_ui.masks_lens.padding_weights import Weights
from tfm_ui.masks_lens.state import MasksState
from tfm_ui.model_state import ModelState
from tfm_ui.presets import MASKS


def masks(name):
    preset = next(preset for preset in MASKS if preset.name == name)
    return ModelState(**preset.model), MasksState(**preset.page)


# padding


def test_without_the_mask_pads_take_a_quarter_of_the_weight_and_every_output_moves():
    seen = padding.view(*masks("Without the mask"))
    assert seen.batch.pads == 5
    assert 0.24 < Weights(seen).onto.mean() < 0.27
    assert (seen.shares["without"][-1] > 0.4).all()
    assert seen.largest("with") < ROUNDING


def test_one_nan_five_rows_without_a_key_and_a_layer_later_every_token_is_nan():
    seen = empty_rows_spread.view(*masks("One NaN"))
    assert (seen.at.rows, seen.at.by_hand) == ([5, 6, 7, 8, 9], False)
    assert seen.nans("−∞ and softmax")[:3] == [0, 5, 10]
    onto = seen.runs["−∞ and softmax"].onto
    assert (onto.blind, onto.largest) == (5, 0)
    assert np.isnan(0 * np.nan)
