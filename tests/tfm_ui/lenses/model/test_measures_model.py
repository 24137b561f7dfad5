"""What lessons measure on the pages of Model, beside torch’s own modules and sums written out."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from tfm_core import Transformer, causal_mask, recording
from tfm_core.model.initialization import draw
from tfm_ui.jobs.networks import network_of, start_anew
from tfm_ui.lenses.model import measures
from tfm_ui.lenses.model.distance.reach import transformer_of
from tfm_ui.lenses.model.measures import MEASURES
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.passes import transformer
from tfm_ui.state import pretrained
from tfm_ui.state.model_state import ModelState

MODEL = ModelState()


def state(**fields) -> ModelLensState:
    return ModelLensState(**fields)


def parameters(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def test_a_layer_is_counted_as_torch_makes_it():
    shown, layer = state(shape="one layer"), nn.TransformerEncoderLayer(128, 8, 512)
    assert measures.layer_parameters(MODEL, shown) == parameters(layer) == 198_272
    assert measures.attention_parameters(MODEL, shown) == parameters(layer.self_attn)
    assert measures.feed_forward_parameters(MODEL, shown) == parameters(layer.linear1, layer.linear2)


@pytest.mark.parametrize(("size", "d_model", "d_ff"), [("this model", 32, 85), ("512 / 2,048", 512, 2048)])
def test_a_gate_is_a_third_matrix(size, d_model, d_ff):
    model, shown = ModelState(d_ff=85), state(view="feed_forward", ffn_size=size)
    first, gate, second = nn.Linear(d_model, d_ff), nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    assert measures.plain_parameters(model, shown) == parameters(first, second)
    assert measures.swiglu_parameters(model, shown) == parameters(first, gate, second)


@pytest.mark.parametrize(("tokens", "kernel"), [(48, 3), (16, 5), (8, 17)])
def test_paths_are_as_long_as_their_formulas_say(tokens, kernel):
    shown = state(view="distance", reach_length=tokens, reach_kernel=kernel)
    assert measures.recurrent_path(MODEL, shown) == tokens
    assert measures.convolution_path(MODEL, shown) == math.ceil((tokens - 1) / (kernel // 2))
    assert kernel ** measures.dilated_path(MODEL, shown) >= tokens > kernel ** (measures.dilated_path(MODEL, shown) - 1)
    assert measures.transformer_path(MODEL, shown) == 1


def test_a_window_takes_a_layer_for_each_of_its_widths():
    shown = state(view="distance", reach_length=48, attention="window")
    assert measures.transformer_path(MODEL, shown) == math.ceil(47 / (round(math.sqrt(48)) - 1))


def test_the_rnn_forgets_as_its_own_gradient_says():
    shown = state(view="distance", reach_length=16, reach_seeds=3)
    config, lengths = transformer_of(MODEL, shown), []
    for seed in range(config.seed, config.seed + 3):
        network = network_of("RNN", config, 3, causal=True)
        start_anew(network, seed, "ours")
        x = draw(seed, "x", (1, 16, config.d_model), std=1.0).double().requires_grad_()
        last = network(x)[0, -1]
        (last @ draw(seed, "probe", (1, len(last)), std=1.0).double()[0]).backward()
        lengths.append(x.grad[0].norm(dim=-1))
    median = torch.stack(lengths).median(0).values
    assert measures.rnn_shrinks(MODEL, shown) == pytest.approx(float(median[-2] / median[0]))


@pytest.mark.parametrize("causal", [False, True])
def test_costs_are_counted_pair_by_pair(causal):
    model, shown = ModelState(causal=causal), state(view="efficient")
    n, d, d_k = model.length, model.d_model, model.d_model // model.num_heads
    pairs = sum(1 for query in range(n) for key in range(n) if key <= query or not causal)
    assert measures.full_pairs(model, shown) == pairs
    assert measures.full_multiply_adds(model, shown) == 2 * pairs * d
    assert measures.linear_multiply_adds(model, shown) == n * (2 * d * d_k + d)


@pytest.mark.parametrize("causal", [False, True])
def test_a_stride_saves_what_is_hidden_in_the_longest_text(causal):
    places = np.arange(4096, dtype=np.int16)
    apart = places[:, None] - places[None]
    left = (np.abs(apart) < 64) | (apart % 64 == 0)
    allowed = apart >= 0 if causal else np.ones_like(left)
    expected = allowed.sum() / (left & allowed).sum()
    assert measures.strided_saves(ModelState(causal=causal), state(view="efficient")) == pytest.approx(expected)


@pytest.mark.parametrize("side", [1, 3, 4, 6])
def test_tiles_cover_the_scores(side):
    assert measures.tile_steps(MODEL, state(view="efficient", tile=side)) == math.ceil(MODEL.length / side) ** 2


def output_gradient(norm: str, depth: int) -> float:
    """The length of the gradient of the last layer's output matrix, for outputs times random vectors."""
    config = replace(MODEL.config, norm=norm, num_layers=depth)
    stack = Transformer(config).eval().double().stack
    ids = torch.tensor([MODEL.source_tokens.ids])
    x = stack.run(stack.embed(ids), mask=causal_mask(ids.shape[1]))
    (x * draw(0, "probe", tuple(x.shape), std=1.0).double()).sum().backward()
    return float(list(stack.layers)[-1].feed_forward.output_projection.weight.grad.norm())


@pytest.mark.parametrize("depth", [1, 24])
def test_deep_post_norm_has_the_larger_gradient_at_its_end(depth):
    ratio = measures.post_over_pre(MODEL, state(view="depth", depth=depth))
    assert ratio == pytest.approx(output_gradient("post", depth) / output_gradient("pre", depth), rel=1e-5)
    assert ratio > 1


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_vectors_are_longer_without_a_norm_at_the_end(norm):
    model, shown = ModelState(norm=norm), state(view="block", layer=2)
    assert measures.longer_under(model, shown) == "pre-norm"


def test_a_token_has_one_embedding_and_two_places_have_two_encodings():
    model = ModelState(text="the cat saw the dog", d_model=32)
    embedding = Transformer(model.config).get_submodule("stack.embedding").weight.detach()
    ids = model.source_tokens.ids
    assert torch.equal(embedding[ids[0]], embedding[ids[3]])
    assert measures.repeats_apart(model, state(view="block", sub_layer="embedding")) == 0
    apart = np.abs(sines(0, 32) - sines(3, 32)).max()
    assert measures.repeats_apart(model, state(view="block", sub_layer="positions")) == pytest.approx(apart, abs=1e-5)
    assert measures.repeats_apart(model, state(view="block", sub_layer="feed-forward")) == 0
    assert measures.repeats_apart(ModelState(text="a b c"), state(view="block", sub_layer="positions")) == 0


def sines(place: int, width: int) -> np.ndarray:
    """The sinusoidal encoding of a place, as the paper of 2017 writes it."""
    angles = [place / 10000 ** (2 * (dim // 2) / width) for dim in range(width)]
    return np.array([math.cos(angle) if dim % 2 else math.sin(angle) for dim, angle in enumerate(angles)])


def test_words_stand_between_spaces():
    assert measures.words(ModelState(text=" unbelievable  whales, "), state()) == 2


def test_parameters_of_a_shape_are_those_of_torchs_layers():
    head = nn.Linear(64, 3)
    layer = nn.TransformerEncoderLayer(64, 4, 256)
    parts = [nn.Embedding(500, 64), *[layer] * 3, head]
    state = ModelLensState(shape="classifier", block="head")
    assert MEASURES["block_parameters"](ModelState(), state) == sum(p.numel() for p in head.parameters())
    in_all = sum(p.numel() for part in parts for p in part.parameters())
    assert MEASURES["machine_parameters"](ModelState(), state) == in_all


@pytest.mark.parametrize(("dropout", "same"), [(0, "yes"), (0.1, "no"), (0.5, "no")])
def test_two_passes_are_the_same_in_evaluation_mode_alone(dropout, same):
    state = ModelLensState(view="block", dropout=dropout, dropout_draw=9998)
    assert MEASURES["same_twice"](ModelState(), state) == same


def test_without_a_pooler_there_is_no_cosine():
    assert MEASURES["pooled_cosine"](ModelState(), ModelLensState()) == 0


@pytest.mark.skipif(not pretrained.is_here("minilm"), reason="all-MiniLM-L6-v2 is not installed")
def test_the_pooled_vector_is_what_a_dense_layer_and_tanh_make_of_the_first_hidden_state():
    model = ModelState(weights="minilm", text="Transformers have revolutionized natural language processing.")
    whole = transformer(model.config)
    with torch.no_grad(), recording("layers.5.feed_forward.residual_after") as trace:
        whole.states(model.source_tokens.batch)
    first = trace["layers.5.feed_forward.residual_after"][0, 0].numpy().astype(np.float64)
    weight, bias = (tensor.detach().numpy().astype(np.float64) for tensor in (whole.pooler.weight, whole.pooler.bias))
    pooled = np.tanh(weight @ first + bias)
    cosine = pooled @ first / np.linalg.norm(pooled) / np.linalg.norm(first)
    assert MEASURES["pooled_cosine"](model, ModelLensState()) == pytest.approx(cosine, abs=1e-4)
