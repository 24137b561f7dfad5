"""The view "output": beside NumPy's and torch's own arithmetic, and beside models that really end after each layer."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch import nn

from tfm_core import ARCHITECTURES, ATTENTION, NORMS, POSITIONAL, TOKENIZERS, Transformer, encode
from tfm_ui.lenses.model.machine import inputs_of, read_of, token_of
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.output.lens import AtToken, layer_by_layer
from tfm_ui.lenses.model.output.norm import final_norm
from tfm_ui.lenses.model.output.numbers import Likeliest, by_position, likeliest
from tfm_ui.lenses.model.output.outcome import outcome, probabilities, ranks_of, text_of, tied_config
from tfm_ui.lenses.model.output.panels import blocks
from tfm_ui.lenses.model.output.tied import tied_and_untied
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Note, panels_in
from tfm_ui.state.model_state import ModelState

VIEW = ModelLensState(view="output")
MODELS = [
    ModelState(),
    ModelState(norm="post", text="a b c", seq_len=6, causal=False, activation="relu"),
    ModelState(architecture="decoder", text="hi", seq_len=2, positional="rope", activation="swiglu"),
    ModelState(architecture="encoder-decoder", positional="t5", tokenizer="byte"),
    ModelState(architecture="encoder-decoder", norm="post", target="ja"),
    ModelState(text="", seq_len=3, positional="none"),
]
STATES = [VIEW, ModelLensState(view="output", token=9, temperature=0.1, tied=False, top=20)]
every = pytest.mark.parametrize(("model", "state"), [(model, state) for model in MODELS for state in STATES])
any_model = st.builds(
    ModelState,
    text=st.sampled_from(["", "a", "to be or not to be"]),
    seq_len=st.sampled_from([0, 8]),
    tokenizer=st.sampled_from(tuple(TOKENIZERS)),
    d_model=st.sampled_from([32, 64]),
    num_layers=st.integers(1, 3),
    norm=st.sampled_from(NORMS),
    architecture=st.sampled_from(ARCHITECTURES),
    positional=st.sampled_from(tuple(POSITIONAL)),
    seed=st.integers(0, 2),
)
any_state = st.builds(
    ModelLensState,
    view=st.just("output"),
    attention=st.sampled_from(tuple(ATTENTION)),
    token=st.integers(1, 20),
    temperature=st.sampled_from([0.1, 0.5, 1.0, 1.7, 5.0]),
    tied=st.booleans(),
    top=st.integers(3, 20),
)


def run(model: ModelState, *, tied: bool, layers: int | None = None) -> torch.Tensor:
    """The logits of a model that nothing of the app has built, (position, vocab)."""
    config = replace(model.config, tie_embeddings=tied, num_layers=layers or model.num_layers)
    inputs, mask = inputs_of(model)
    with torch.no_grad():
        return Transformer(config).eval()(*inputs, mask=mask)[0, : read_of(text_of(model))]


def softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The equation, in NumPy's float64."""
    raised = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    return raised / raised.sum(-1, keepdims=True)


# against what we have not written


@every
def test_the_bars_are_the_softmax_of_logits_over_temperature_largest_first(model, state):
    shown, logits = (
        likeliest(model, state),
        run(model, tied=state.tied)[token_of(text_of(model), state)].double().numpy(),
    )
    order = np.argsort(-logits, kind="stable")[: state.top]
    assert shown.ids == order.tolist()
    assert_allclose(shown.logits, logits[order], rtol=1e-5, atol=1e-6)
    assert_allclose(shown.shares, softmax(logits, state.temperature)[order], rtol=1e-4)
    assert_allclose(shown.plain, softmax(logits, 1)[order], rtol=1e-4)


@every
def test_each_positions_row_is_the_argmax_and_the_entropy_of_torchs_own_distribution(model, state):
    shown = by_position(model, state)
    theirs = torch.distributions.Categorical(logits=run(model, tied=state.tied).double() / state.temperature)
    assert torch.equal(shown.ids, theirs.probs.argmax(-1))
    torch.testing.assert_close(shown.shares.amax(-1), theirs.probs.amax(-1), rtol=1e-5, atol=1e-8)
    torch.testing.assert_close(shown.entropies, theirs.entropy(), rtol=1e-5, atol=1e-6)


@every
def test_the_final_norm_takes_mean_and_variance_away_by_the_equation_of_ba_et_al(model, state):
    shown = final_norm(model, state)
    x = shown.out.before.double().numpy()
    if model.norm == "post":
        assert shown.norm is None
        assert "no final norm" in shown.sentence()
        assert_allclose(shown.out.after.numpy(), shown.out.before.numpy(), atol=0)
        return
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + nn.LayerNorm(1).eps)
    assert_allclose(shown.out.after.numpy(), expected, atol=1e-5)  # untrained: gain 1, shift 0
    assert_allclose(shown.lengths[0], np.linalg.norm(x, axis=-1))
    matrix = shown.out.machine.unembedding.weight.detach().double().numpy()
    assert shown.spread_without() == pytest.approx((matrix @ x[shown.token]).std(), rel=1e-4)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_each_layer_reads_out_what_a_model_that_ends_there_says(architecture, norm, tied):
    model = ModelState(architecture=architecture, norm=norm, num_layers=3)
    read = layer_by_layer(model, ModelLensState(view="output", tied=tied)).read
    final = run(model, tied=tied).argmax(-1, keepdim=True)
    assert read.places == ("embedding", "layer 1", "layer 2", "layer 3")
    for layers in (1, 2, 3):
        shorter = run(model, tied=tied, layers=layers)  # weights are drawn by name: its layers are the first ones
        assert read.ids[layers].tolist() == shorter.argmax(-1).tolist()
        shares = nn.functional.softmax(shorter, dim=-1)
        assert_allclose(read.shares[layers], shares.amax(-1), rtol=1e-4)
        assert_allclose(read.final_shares[layers], shares.gather(-1, final)[:, 0], rtol=1e-4)
        places = (-shorter).argsort(-1).argsort(-1).gather(-1, final)[:, 0] + 1
        assert read.final_ranks[layers].tolist() == places.tolist()


@pytest.mark.parametrize(("architecture", "matrices"), [("encoder", 1), ("decoder", 1), ("encoder-decoder", 2)])
def test_untied_models_have_a_matrix_more_for_each_that_was_shared(architecture, matrices):
    model = ModelState(architecture=architecture, tokenizer="byte")
    shown = tied_and_untied(model, VIEW)
    assert shown.saved == matrices * model.config.vocab_size * model.d_model
    bodies = sum(x.numel() for name, x in Transformer(model.config).named_parameters() if "embedding" not in name)
    assert shown.sides["tied"].parameters == bodies + model.config.vocab_size * model.d_model
    assert all(shown.laws().values())


def test_the_logit_of_the_token_itself_is_its_embeddings_dot_product_with_the_final_vector():
    shown = tied_and_untied(ModelState(d_model=128), VIEW)
    side = shown.sides["tied"]
    rows = side.out.machine.stack.embedding.weight.detach()[side.out.ids]
    torch.testing.assert_close((rows * side.out.after).sum(-1), side.logits, rtol=1e-5, atol=1e-5)
    lengths = rows.norm(dim=-1) * side.out.after.norm(dim=-1)
    torch.testing.assert_close(side.cosines, side.logits / lengths, rtol=1e-5, atol=1e-5)


# laws


@given(logits=st.lists(st.floats(-20, 20), min_size=2, max_size=30), low=st.floats(0.1, 5), high=st.floats(0.1, 5))
def test_a_higher_temperature_flattens_and_never_reorders(logits, low, high):
    low, high = sorted((low, high))
    sharp, flat = (probabilities(torch.tensor(logits), temperature) for temperature in (low, high))
    assert float(flat.max()) <= float(sharp.max()) + 1e-12
    assert float(torch.special.entr(flat).sum()) >= float(torch.special.entr(sharp).sum()) - 1e-9
    order = torch.tensor(logits).argsort()
    for shares in (sharp, flat):
        assert bool((shares[order].diff() >= 0).all())


@given(st.lists(st.sampled_from([-1.5, 0.0, 2.0, 3.0]), min_size=1, max_size=8))
def test_ranks_count_what_is_larger(logits):
    ranks = ranks_of(torch.tensor([logits] * len(logits)), torch.arange(len(logits)))
    assert ranks.tolist() == [1 + sum(other > logit for other in logits) for logit in logits]


@given(model=any_model, state=any_state)
def test_everything_that_is_said_holds_of_any_model(model, state):
    panels = panels_in(blocks(model, state))
    assert len(panels) == 6
    for panel in panels:
        assert panel.sentence().endswith(".")
        assert "nan" not in panel.sentence().lower()
        assert [law for law, holds in panel.laws().items() if not holds] == []
        assert not panel.table().isna().to_numpy().any()


@every
def test_recipes_yield_what_is_on_screen(model, state):
    scope: dict = {}
    shown, rows, norm = likeliest(model, state), by_position(model, state), final_norm(model, state)
    exec(shown.recipe(), scope)
    assert scope["ids"].tolist() == shown.ids
    assert torch.equal(scope["shares"], shown.shares)
    exec(rows.recipe(), scope)
    assert torch.equal(scope["ids"], rows.ids)
    assert torch.equal(scope["entropies"], rows.entropies)
    exec(norm.recipe(), scope)
    assert torch.equal(scope["lengths"][0], norm.lengths[0])
    assert len(scope["lengths"]) == (2 if model.norm == "pre" else 1)
    read = AtToken(layer_by_layer(model, state))
    exec(read.recipe(), scope)
    assert_allclose(torch.stack(list(scope["shares"].values())), read.whole.read.final_shares, rtol=1e-6)
    both = tied_and_untied(model, state)
    exec(both.recipe(), scope)
    assert scope["parameters"] == {name: side.parameters for name, side in both.sides.items()}
    for name, side in both.sides.items():
        assert torch.equal(scope["shares"][name], side.shares)


# names, ties, places


def test_ids_of_known_words_have_their_names_and_others_their_number():
    model = ModelState(text="the cat sat")
    (cat,) = encode("cat").ids
    assert name_of(model, cat) == "“cat”"
    assert name_of(model, 0) == "PAD"
    assert name_of(model, 1) == "id 1"  # kept free: no word has it


def test_a_tie_at_the_top_is_named():
    out = outcome(ModelState(), VIEW)
    logits = torch.zeros_like(out.logits)
    assert "(one of 4096 that tie)" in Likeliest(replace(out, logits=logits), 0, 1.0, 5).sentence()
    logits[:, 7] = 1.0
    assert "tie" not in Likeliest(replace(out, logits=logits), 0, 1.0, 5).sentence()


def test_a_position_behind_the_end_is_the_last_and_a_note_says_so():
    model = ModelState(architecture="encoder-decoder", target="ja nein")
    notes = [block.text for block in blocks(model, replace(VIEW, token=9)) if isinstance(block, Note)]
    assert notes == ["The target text ends before position 9, so its last position, 2, is shown."]
    assert likeliest(model, replace(VIEW, token=9)).token == 1
    assert not [block for block in blocks(model, VIEW) if isinstance(block, Note)]


def test_padding_is_not_read_out():
    padded = ModelState(text="a b c", seq_len=6)
    assert len(by_position(padded, VIEW).table()) == 3
    alone = by_position(ModelState(text="a b c"), VIEW)
    torch.testing.assert_close(by_position(padded, VIEW).shares, alone.shares, rtol=1e-5, atol=1e-9)


def test_the_output_matrix_is_the_one_that_the_control_asks_for():
    model = ModelState()
    for tied in (True, False):
        config = tied_config(model, replace(VIEW, tied=tied), tied=tied)
        assert config.tie_embeddings is tied
        machine = outcome(model, replace(VIEW, tied=tied)).machine
        assert (machine.unembedding.weight is machine.stack.embedding.weight) is tied
