"""Passes of weights out of a file: the same numbers, maps and summaries as of weights that a model computes."""

import numpy as np
import pytest
import torch

from tests.tfm_ui.given_weights import given, softmaxed
from tests.tfm_ui.store.empty import empty_store
from tfm_core.study.attention_arrays import as_attention
from tfm_ui.live import memory, passes
from tfm_ui.live.attention import EXACT_UP_TO, MASKED
from tfm_ui.live.cache import held_bytes
from tfm_ui.state import array_files
from tfm_ui.state.model_state import ModelState


@pytest.fixture(autouse=True)
def kept():
    array_files.forget()
    with empty_store(array_files) as opened:
        yield opened


SHAPES = [(1, 1, 1, 1, 1), (12, 2, 12, 20, 20), (2, 1, 3, 300, 300), (1, 1, 2, 512, 512)]


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_the_files_and_numbers_are_those_of_numpy(shape, causal):
    whole = softmaxed(*shape, causal=causal)
    item = shape[1] - 1
    model, weights = given(whole, item=item), whole[:, item]
    shown = passes.run(model)
    assert [*shown.attention] == ["self"]
    assert (len(shown.next_token), shown.stream, shown.milliseconds) == (0, {}, 0)
    heads, length = shown.attention["self"], shape[-1]
    assert (heads.heads, heads.read, shown.exact) == (shape[2], length, length <= EXACT_UP_TO)
    is_causal = causal or length == 1
    np.testing.assert_array_equal(heads.visible, np.tri(length, dtype=bool) if is_causal else np.ones((length, length)))
    summary = passes.summary(model, "self")
    distance = np.abs(np.subtract.outer(np.arange(length), np.arange(length)))
    for layer in range(shape[0]):
        of_layer = weights[layer].astype(np.float64)
        logs = np.log(np.where(of_layer > 0, of_layer, 1))
        expected = {
            "entropy": -(of_layer * logs).sum(-1).mean(-1),
            "distance": (of_layer * distance).sum(-1).mean(-1),
            "self": of_layer.diagonal(0, 1, 2).mean(-1),
            "prev": of_layer.diagonal(-1, 1, 2).mean(-1) if length > 1 else np.zeros(shape[2]),
            "first": of_layer[..., 0].mean(-1),
        }
        for name, values in expected.items():
            np.testing.assert_allclose(summary.layers[layer].summary[name], values, rtol=1e-4, atol=1e-6)
        for head in range(shape[2]):
            np.testing.assert_array_equal(heads.exact(layer, head), weights[layer, head])
        np.testing.assert_array_equal(summary.layers[layer].largest, weights[layer].max((-1, -2)))


def test_a_long_text_is_pooled_to_the_largest_of_each_block():
    weights = softmaxed(1, 1, 512, 512, causal=True)
    model = given(weights)
    heads = passes.run(model).attention["self"]
    (layer,) = passes.summary(model, "self").layers
    assert (heads.block, layer.maps.shape) == (4, (1, 128, 128))
    blocks = weights[0, 0].reshape(128, 4, 128, 4).max((1, 3))
    shares = np.where(np.tri(128, dtype=bool), np.round(blocks / weights.max() * (MASKED - 1)), MASKED)
    np.testing.assert_allclose(layer.maps[0], shares, atol=1)


def test_rows_of_zeros_in_all_heads_see_nothing():
    weights = softmaxed(2, 2, 4, 4)
    weights[:, :, 2] = 0  # padding, or a query that sees no key
    weights[0, 1, 1] = 0  # in one head alone
    visible = passes.run(given(weights)).attention["self"].visible
    np.testing.assert_array_equal(visible.any(-1), [True, True, False, True])


def test_a_pass_keeps_one_sentence_and_no_more_is_needed_than_is_told():
    whole = softmaxed(4, 8, 4, 64, 64)
    shown = passes.run(model := given(whole))
    assert held_bytes(shown) < whole[:, 0].nbytes + 50_000
    assert memory.needs(model) > 3 * whole.nbytes
    assert passes.why_not_run(model) == ""


def test_large_files_are_heavy_and_small_ones_are_not():
    assert not given(softmaxed(2, 2, 9, 9)).is_heavy
    assert given(as_attention(torch.from_numpy(softmaxed(2, 12, 512, 512)).half())).is_heavy
    assert ModelState(weights="array-" + "0" * 32).is_heavy is False
