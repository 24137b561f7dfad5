"""What the list "Try this" on Home says is true."""

import numpy as np

from tfm_core import Transformer
from tfm_ui.lenses.heads.numbers import all_heads
from tfm_ui.state.model_state import ModelState


def test_another_seed_draws_every_random_weight_anew_and_leaves_the_cells_that_have_no_choice():
    first, other = (dict(Transformer(ModelState(seed=seed).config).named_parameters()) for seed in (7, 8))
    assert list(first) == list(other)
    assert all((first[name] != other[name]).all() for name in first if first[name].std() > 0)
    heads = [all_heads(model, "encoder").head(0, 0) for model in (ModelState(seed=7), ModelState(seed=8))]
    same = heads[0].weights == heads[1].weights
    choice = heads[0].visible & (heads[0].visible.sum(1, keepdims=True) > 1)
    np.testing.assert_array_equal(same, ~choice)


def test_words_that_are_the_same_spread_their_weight_evenly_without_positions():
    model = ModelState(text="word word word", seq_len=3, positional="none")
    weights = all_heads(model, "encoder").head(0, 0).weights
    np.testing.assert_allclose(weights, [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]], atol=1e-6)
