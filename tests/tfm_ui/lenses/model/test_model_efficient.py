"""The view "efficient": the attentions on the same weights, the tiles and the costs, for any model."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tfm_core import ATTENTION, NORMS, POSITIONAL, Transformer, causal_mask, recording
from tfm_ui.lenses.model.efficient.compared import Efficient, EfficientGrowth
from tfm_ui.lenses.model.efficient.tiling import EfficientTiles
from tfm_ui.lenses.model.state import ModelLensState, possible
from tfm_ui.state.model_state import ModelState


@pytest.mark.parametrize("attention", [name for name in ATTENTION if name != "linear"])
@pytest.mark.parametrize("norm", NORMS)
def test_the_comparison_is_what_a_model_with_that_attention_computes_in_its_first_layer(attention, norm):
    """The first layer's input is the same; so a model that is built with the attention must agree."""
    model = ModelState(text="a b c d e f g h i", norm=norm, causal=True)
    panel = Efficient(model, ModelLensState(head=3))
    with torch.no_grad(), recording(["layers.0.self_attention.*"]) as trace:
        Transformer(replace(model.config, attention=attention)).eval()(model.source_tokens.batch, mask=causal_mask(9))
    assert torch.allclose(panel.by_name[attention].weights, trace["layers.0.self_attention.weights"][0, 2], atol=1e-6)


def test_the_step_by_step_end_is_torchs_kernel_in_float64():
    model = ModelState(text="the cat sat on the mat and the dog sat too", positional="rope", causal=True)
    state = ModelLensState(tile=3, tile_step=5)
    panel = EfficientTiles(model, state)
    with torch.no_grad(), recording(["layers.0.self_attention.*"]) as trace:
        Transformer(model.config).eval()(model.source_tokens.batch, mask=causal_mask(11))
    q, k, v = (
        trace[f"layers.0.self_attention.{site}"][0, 0].double() for site in ("rotated_query", "rotated_key", "value")
    )
    kernel = F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]
    assert torch.allclose(panel.result, kernel, atol=1e-12)
    end = panel.end
    weights = (q @ k.T / math.sqrt(q.shape[-1])).masked_fill(~causal_mask(11), -math.inf).softmax(-1)
    assert torch.allclose(end.shares.nan_to_num(0.0), weights, atol=1e-12)
    assert torch.isinf(panel.shares).any()  # after step 5 of 16 there are tiles that have not been read
    assert not torch.isinf(end.shares).any()


def test_a_tile_of_the_whole_text_is_a_single_step():
    model = ModelState(text="a b c")
    state = ModelLensState(tile=6)
    assert len(EfficientTiles(model, state).steps) == 1


@pytest.mark.parametrize("positional", tuple(POSITIONAL))
def test_attention_without_scores_is_offered_where_no_bias_is_added(positional):
    model = ModelState(positional=positional)
    assert ("linear" in possible(model)) == (positional not in ("alibi", "t5"))
    assert set(Efficient(model, ModelLensState()).by_name) == set(possible(model))


def test_costs_here_are_for_the_tokens_of_the_stack_that_is_shown():
    model = ModelState(text="a b c d e", target="x y", architecture="encoder-decoder", d_model=32, num_heads=4)
    assert EfficientGrowth(model, ModelLensState(stack="encoder")).on_screen["full"].pairs == 25
    assert EfficientGrowth(model, ModelLensState(stack="decoder")).on_screen["full"].pairs == 3  # 2 tokens, causal


def test_what_questions_take_for_granted():
    """Linear attention needs less for 64 tokens in heads of 8 dimensions, and the softmax is sharper."""
    model = ModelState(seq_len=64, causal=True)
    here = EfficientGrowth(model, ModelLensState()).on_screen
    assert here["linear"].needed < here["full"].needed
    shown = Efficient(ModelState(), ModelLensState(layer=2, head=2)).by_name
    sharpness = {name: float(np.mean(shown[name].weights.max(-1).values.numpy())) for name in ("full", "linear")}
    assert sharpness["full"] > sharpness["linear"]
