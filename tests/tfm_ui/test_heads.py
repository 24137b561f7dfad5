"""What the Heads lens shows is what the model computed."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_ui import compute
from tfm_ui.components.heads_grid import MASKED, payload
from tfm_ui.heads import SCALES, HeadsState, view
from tfm_ui.model_state import ModelState
from tfm_ui.next_token import next_token
from tfm_ui.recipe import recipe

MODELS = [
    ModelState(),
    ModelState(causal=False, positional="t5", norm="post", num_heads=16, num_layers=1),
    ModelState(architecture="decoder", positional="rope", activation="swiglu", seq_len=14),
    ModelState(architecture="encoder-decoder", text='a "quoted" text\nof two lines', tokenizer="byte", seq_len=33),
]
KINDS = [(model, kind) for model in MODELS for kind in compute.PLACES[model.is_encoder_decoder]]


def seen(model: ModelState, kind: str = "encoder"):
    return view(model, compute.run(model), kind)


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_recipe_gives_the_numbers_on_screen_in_plain_python(model, kind):
    shown = seen(model, kind)
    layer, head = model.num_layers - 1, model.num_heads - 1
    scope: dict[str, torch.Tensor] = {}
    exec(recipe(model, shown.sites[layer], head), scope)
    np.testing.assert_array_equal(scope["weights"].numpy(), shown.weights[layer, head])


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_laws_hold_and_would_be_seen_broken(model, kind):
    shown = seen(model, kind)
    assert all(shown.laws(0, 0).values())
    spoilt = replace(shown, weights=shown.weights * 1.01)
    assert not all(spoilt.laws(0, 0).values())


def test_the_summary_agrees_with_plain_loops():
    shown = seen(ModelState(seq_len=12, causal=False))
    row = shown.summary().loc["L2 h3"]
    weights = shown.weights[1, 2, : shown.read].tolist()
    rows = len(weights)
    assert row["entropy"] == pytest.approx(
        sum(-w * math.log(w) for line in weights for w in line if w > 0) / rows, rel=1e-5
    )
    distance = sum(w * abs(q - k) for q, line in enumerate(weights) for k, w in enumerate(line)) / rows
    assert row["distance"] == pytest.approx(distance, rel=1e-5)
    assert row["self"] == pytest.approx(100 * sum(weights[q][q] for q in range(rows)) / rows, rel=1e-5)
    assert row["prev"] == pytest.approx(100 * sum(weights[q][q - 1] for q in range(1, rows)) / (rows - 1), rel=1e-5)
    assert row["first"] == pytest.approx(100 * sum(line[0] for line in weights) / rows, rel=1e-5)


@pytest.mark.parametrize("scale", SCALES)
def test_the_grids_bytes_are_the_weights(scale):
    shown = seen(ModelState(seq_len=12))
    top = shown.top(scale)
    data = payload(shown.weights, shown.visible, shown.sentences, top=top, picked=(1, 2), read_queries=shown.read)
    length = int.from_bytes(data[:4], "little")
    header = json.loads(data[4 : 4 + length])
    cells = np.frombuffer(data[4 + length :], np.uint8).reshape(shown.weights.shape)
    assert (header["layers"], header["heads"], header["queries"], header["keys"], header["read"]) == (2, 4, 12, 12, 10)
    assert header["picked"] == [1, 2]
    assert len(header["about"]) == 8
    assert (cells[..., ~shown.visible] == MASKED).all()
    restored = cells[..., shown.visible] / (MASKED - 1) * top.reshape(2, 4, 1)
    on_the_scale = np.minimum(shown.weights[..., shown.visible], top.reshape(2, 4, 1))
    assert np.abs(restored - on_the_scale).max() <= 0.5 / (MASKED - 1) + 1e-6


def test_scales_end_at_the_largest_weight_at_one_or_at_each_heads_own():
    shown = seen(ModelState(causal=False))
    assert (shown.top("1") == 1).all()
    assert (shown.top("largest") == shown.weights.max()).all()
    assert shown.top("own")[1, 2].item() == shown.weights[1, 2].max()


def test_the_scale_of_choice_leaves_out_the_row_that_has_none():
    shown = seen(ModelState())
    assert shown.weights[..., 0, 0].min() == 1 == shown.top("largest").max()
    assert shown.top("choice").max() == shown.weights[:, :, 1:].max() < 1


def test_padding_is_neither_looked_at_nor_counted():
    shown = seen(ModelState(text="a b c", seq_len=5, causal=False))
    assert shown.queries[3:] == ["PAD", "PAD"]
    assert not shown.weights[..., 3:].any()
    short = seen(ModelState(text="a b c", seq_len=3, causal=False))
    np.testing.assert_allclose(shown.summary(), short.summary(), rtol=1e-4, atol=1e-4)


def test_cross_attention_names_target_rows_and_source_columns():
    model = ModelState(architecture="encoder-decoder", text="a b c", target="x y", seq_len=3)
    cross = seen(model, "cross")
    assert (cross.queries, cross.keys, cross.read) == (["x", "y"], ["a", "b", "c"], 2)
    assert list(cross.summary()) == ["entropy", "first"]


def test_the_next_token_is_the_models_own_softmax():
    model = ModelState()
    likely = next_token(model, compute.run(model))
    probabilities = compute.run(model).next_token
    assert likely.shares == sorted(probabilities.tolist(), reverse=True)[:5]
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-5)
    assert likely.sentence != next_token(ModelState(seed=8), compute.run(ModelState(seed=8))).sentence


def test_defaults_are_of_the_kinds_that_exist():
    assert HeadsState.kind in compute.PLACES[True]


@pytest.mark.parametrize(
    ("positional", "kind", "formula"),
    [
        ("sinusoidal", "decoder", "softmax(q·k / √dₖ)"),
        ("rope", "decoder", "softmax(turned q·k / √dₖ)"),
        ("alibi", "encoder", "softmax(q·k / √dₖ + bias)"),
        ("t5", "cross", "softmax(q·k / √dₖ)"),
    ],
)
def test_the_hover_names_the_formula_of_this_scheme(positional, kind, formula):
    assert seen(ModelState(architecture="encoder-decoder", positional=positional), kind).formula == formula
