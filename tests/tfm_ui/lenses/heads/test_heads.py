"""The Heads lens shows what the model computes."""

import math

import numpy as np
import pytest

from tests.tfm_ui.lenses.heads.all_weights import head_of, heads_of, weights_of
from tfm_ui.lenses.heads.state import SCALES
from tfm_ui.lenses.home.next_token import Next
from tfm_ui.live import passes, places
from tfm_ui.live.attention import MASKED
from tfm_ui.live.known_words import known_texts
from tfm_ui.live.places import tokens_of
from tfm_ui.pictures import head_map
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import token_labels

MODELS = [
    ModelState(),
    ModelState(causal=False, positional="t5", norm="post", num_heads=16, num_layers=1),
    ModelState(architecture="decoder", positional="rope", activation="swiglu", seq_len=14),
    ModelState(architecture="encoder-decoder", text='a "quoted" text\nof two lines', tokenizer="byte", seq_len=33),
]
KINDS = [(model, kind) for model in MODELS for kind in places.PLACES[model.is_encoder_decoder]]


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_rows_and_columns_are_the_tokens_that_this_attention_reads(model, kind):
    tokens = tokens_of(model, kind)
    assert passes.run(model).attention[kind].visible.shape == tuple(len(text.ids) for text in tokens)
    heads = heads_of(model, kind)
    assert [heads.queries, heads.keys] == [token_labels.labels(text) for text in tokens]


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_laws_hold_and_would_be_seen_broken(model, kind):
    head = head_of(model, kind, 0, 0)
    assert all(head.laws().values())
    head.weights = head.weights * 1.01
    assert not all(head.laws().values())


@pytest.mark.parametrize("scale", SCALES)
def test_the_grids_bytes_are_the_weights(scale):
    panel = heads_of(ModelState(seq_len=12), scale=scale, layer=2, head=3)
    header, cells = panel.picture()
    assert (cells.shape, cells.dtype) == ((2, 4, 12, 12), np.uint8)
    assert [header[name] for name in ("layers", "heads", "rows", "columns", "read", "block")] == [2, 4, 12, 12, 10, 1]
    assert header["picked"] == (1, 2)
    assert len(header["about"]) == 8
    visible = panel.attention.visible
    assert (cells[..., ~visible] == MASKED).all()
    for place, end in zip(panel.places, header["ends"], strict=True):
        weights, on_the_scale = panel.attention.exact(*place)[visible], cells[place][visible] / (MASKED - 1) * end
        assert np.abs(on_the_scale - weights / panel.top[place]).max() <= 0.5 / (MASKED - 1) * end + 1e-6


@pytest.mark.parametrize(("model", "kind"), KINDS)
def test_the_maps_bytes_are_the_exact_weights_and_its_names(model, kind):
    head = head_of(model, kind, 0, 0)
    header, cells = head.picture()
    assert cells.dtype == np.float32
    visible = head.attention.visible
    np.testing.assert_array_equal(cells[visible], head.weights[visible])
    assert (cells[~visible] == head_map.MASKED).all()
    assert (header["queries"], header["keys"], header["top"]) == (head.queries, head.keys, head.top[0, 0])


def test_scales_end_at_the_largest_weight_at_one_or_at_each_heads_own():
    ends = {scale: heads_of(ModelState(causal=False), scale=scale).top for scale in SCALES}
    assert (ends["1"] == 1).all()
    largest = weights_of(heads_of(ModelState(causal=False))).max((2, 3))
    assert (ends["largest"] == np.max(largest)).all()
    np.testing.assert_array_equal(ends["own"], largest)


def test_the_scale_of_choice_leaves_out_the_row_that_has_none():
    weights = weights_of(heads_of(ModelState()))
    assert weights[:, :, 0, 0].min() == 1 == heads_of(ModelState(), scale="largest").top.max()
    assert heads_of(ModelState(), scale="choice").top.max() == weights[:, :, 1:].max() < 1


def test_padding_is_neither_looked_at_nor_counted():
    panel = heads_of(ModelState(text="a b c", seq_len=5, causal=False))
    assert panel.queries[3:] == ["PAD", "PAD"]
    assert not weights_of(panel)[..., 3:].any()
    short = heads_of(ModelState(text="a b c", seq_len=3, causal=False))
    np.testing.assert_allclose(panel.table(), short.table(), rtol=1e-4, atol=1e-4)


def test_cross_attention_names_target_rows_and_source_columns():
    model = ModelState(architecture="encoder-decoder", text="a b c", target="x y", seq_len=3)
    cross = heads_of(model, "cross")
    assert (cross.queries, cross.keys, cross.attention.read) == (["x", "y"], ["a", "b", "c"], 2)
    assert list(cross.table()) == ["entropy", "first"]


def test_the_next_token_is_the_models_own_softmax():
    model = ModelState()
    likely = Next(model, LensState())
    probabilities = passes.run(model).next_token
    words = sorted({i for text in known_texts(model) for i in text.ids})
    assert likely.shares == sorted(probabilities[words].tolist(), reverse=True)[:5]
    assert f"All known words together have {100 * probabilities[words].sum():.3g}%" in likely.sentence()
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-5)
    assert likely.sentence() != Next(ModelState(seed=8), LensState()).sentence()


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
    assert head_of(ModelState(architecture="encoder-decoder", positional=positional), kind, 0, 0).formula == formula
