"""The view "output": beside NumPy's and torch's own arithmetic, and beside models that really end after each layer.

Its pictures hold the numbers of its tables, and its questions take for granted what is so.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from torch import nn

from tests.tfm_ui.pictures.charts import drawn, ends, lines, names
from tests.tfm_ui.pictures.scale_checks import floats
from tfm_core import NORMS, Transformer
from tfm_core import encode as tokens_of
from tfm_ui.lenses.model.machine import inputs_of
from tfm_ui.lenses.model.naming import name_of
from tfm_ui.lenses.model.output import VIEW, knob
from tfm_ui.lenses.model.output import questions as answers
from tfm_ui.lenses.model.output.last_modules import OutputNorm, OutputTied
from tfm_ui.lenses.model.output.lens import OutputAt, OutputLens
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.output.outcome import OutputPanel, probabilities, ranks_of
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState

STATE = ModelLensState(view="output")
MODELS = [
    ModelState(),
    ModelState(norm="post", text="a b c", seq_len=6, causal=False, activation="relu"),
    ModelState(architecture="decoder", text="hi", seq_len=2, positional="rope", activation="swiglu"),
    ModelState(architecture="encoder-decoder", positional="t5", tokenizer="byte"),
    ModelState(architecture="encoder-decoder", norm="post", target="ja"),
    ModelState(text="", seq_len=3, positional="none"),
]
OTHERS = [
    ModelState(norm="post", text="a", causal=False),
    ModelState(architecture="encoder-decoder", tokenizer="byte", target="ja"),
]
STATES = [STATE, ModelLensState(view="output", token=9, temperature=0.1, tied=False, top=20)]
every = pytest.mark.parametrize(("model", "state"), [(model, state) for model in MODELS for state in STATES])
every_kind = pytest.mark.parametrize("model", [MODELS[0], *OTHERS])
asked = {
    question.name: (ModelState(**question.model), ModelLensState(**question.controls)) for question in answers.QUESTIONS
}


def run(shown: OutputPanel, layers: int | None = None) -> torch.Tensor:
    """The logits of a model that nothing of the app has built, (position, vocab)."""
    config = replace(shown.model.config, tie_embeddings=shown.state.tied, num_layers=layers or shown.model.num_layers)
    inputs, mask = inputs_of(shown.model)
    with torch.no_grad():
        return Transformer(config).eval()(*inputs, mask=mask)[0, : shown.read]


def softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    """The equation, in NumPy's float64."""
    raised = np.exp((logits - logits.max(-1, keepdims=True)) / temperature)
    return raised / raised.sum(-1, keepdims=True)


# against what we have not written


@every
def test_the_bars_are_the_softmax_of_logits_over_temperature_largest_first(model, state):
    panel = Output(model, state)
    logits = run(panel)[panel.token].double().numpy()
    order = np.argsort(-logits, kind="stable")[: state.top]
    assert panel.listed == order.tolist()
    assert_allclose(panel.scores, logits[order], rtol=1e-5, atol=1e-6)
    assert_allclose(panel.shares, softmax(logits, state.temperature)[order], rtol=1e-4)
    assert_allclose(panel.plain, softmax(logits, 1)[order], rtol=1e-4)


@every
def test_each_positions_row_is_the_argmax_and_the_entropy_of_torchs_own_distribution(model, state):
    panel = OutputPositions(model, state)
    theirs = torch.distributions.Categorical(logits=run(panel).double() / state.temperature)
    assert torch.equal(panel.likeliest, theirs.probs.argmax(-1))
    torch.testing.assert_close(panel.shares, theirs.probs.amax(-1), rtol=1e-5, atol=1e-8)
    torch.testing.assert_close(panel.entropies, theirs.entropy(), rtol=1e-5, atol=1e-6)


@every
def test_the_final_norm_takes_mean_and_variance_away_by_the_equation_of_ba_et_al(model, state):
    panel = OutputNorm(model, state)
    x, after = (vectors.double().numpy() for vectors in (panel.vectors[0], panel.vectors[-1]))
    if model.norm == "post":
        assert panel.norm is None
        assert "no final norm" in panel.sentence()
        assert_allclose(after, x, atol=0)
        return
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + nn.LayerNorm(1).eps)
    assert_allclose(after, expected, atol=1e-5)  # untrained: gain 1, shift 0
    assert_allclose(panel.moments[2][0], np.linalg.norm(x, axis=-1))
    matrix = panel.modules.unembedding.weight.detach().double().numpy()
    assert panel.spread_without() == pytest.approx((matrix @ x[panel.token]).std(), rel=1e-4)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ["encoder", "decoder"])
def test_each_layer_reads_out_what_a_model_that_ends_there_says(architecture, norm, tied):
    panel = OutputLens(ModelState(architecture=architecture, norm=norm, num_layers=3), replace(STATE, tied=tied))
    read, final = panel.outs, run(panel).argmax(-1, keepdim=True)
    assert read.places == ("embedding", "layer 1", "layer 2", "layer 3")
    for layers in (1, 2, 3):
        shorter = run(panel, layers)  # weights are drawn by name: its layers are the first ones
        assert read.ids[layers].tolist() == shorter.argmax(-1).tolist()
        shares = nn.functional.softmax(shorter, dim=-1)
        assert_allclose(read.shares[layers], shares.amax(-1), rtol=1e-4)
        assert_allclose(read.final_shares[layers], shares.gather(-1, final)[:, 0], rtol=1e-4)
        places = (-shorter).argsort(-1).argsort(-1).gather(-1, final)[:, 0] + 1
        assert read.final_ranks[layers].tolist() == places.tolist()


@pytest.mark.parametrize(("architecture", "matrices"), [("encoder", 1), ("decoder", 1), ("encoder-decoder", 2)])
def test_untied_models_have_a_matrix_more_for_each_that_was_shared(architecture, matrices):
    model = ModelState(architecture=architecture, tokenizer="byte")
    panel = OutputTied(model, STATE)
    assert panel.saved == matrices * model.config.vocab_size * model.d_model
    bodies = sum(x.numel() for name, x in Transformer(model.config).named_parameters() if "embedding" not in name)
    assert panel.parameters == bodies + model.config.vocab_size * model.d_model
    assert all(panel.laws().values())


def test_the_logit_of_the_token_itself_is_its_embeddings_dot_product_with_the_final_vector():
    panel = OutputTied(ModelState(d_model=128), STATE)
    (logits, _), final = panel.itself, panel.vectors[-1]
    rows = panel.modules.stack.embedding.weight.detach()[panel.ids]
    torch.testing.assert_close((rows * final).sum(-1), logits, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(panel.cosines, logits / (rows.norm(dim=-1) * final.norm(dim=-1)), rtol=1e-5, atol=1e-5)


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


# names, ties, places


def test_ids_of_known_words_have_their_names_and_others_their_number():
    model = ModelState(text="the cat sat")
    (cat,) = tokens_of("cat").ids
    assert name_of(model, cat) == "“cat”"
    assert name_of(model, 0) == "PAD"
    assert name_of(model, 1) == "id 1"  # kept free: no word has it


def test_a_tie_at_the_top_is_named():
    shown, other = Output(ModelState(), STATE), Output(ModelState(), STATE)
    shown.logits = torch.zeros_like(shown.logits)
    assert "(one of 4096 that tie)" in shown.sentence()
    other.logits = shown.logits.clone()
    other.logits[:, 7] = 1.0
    assert "tie" not in other.sentence()


def test_a_position_behind_the_end_is_the_last_and_a_note_says_so():
    model, behind = ModelState(architecture="encoder-decoder", target="ja nein"), replace(STATE, token=9)
    notes = [block.text for block in VIEW.shown(model, behind) if isinstance(block, Note)]
    assert notes == ["The target text ends before position 9, so its last position, 2, is shown."]
    assert Output(model, behind).token == 1
    assert not [block for block in VIEW.shown(model, STATE) if isinstance(block, Note)]


def test_padding_is_not_read_out():
    padded, alone = (OutputPositions(ModelState(text="a b c", seq_len=length), STATE) for length in (6, 0))
    assert len(padded.table()) == 3
    torch.testing.assert_close(padded.shares, alone.shares, rtol=1e-5, atol=1e-9)
    torch.testing.assert_close(padded.entropies, alone.entropies, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("tied", [True, False])
def test_the_output_matrix_is_the_one_that_the_control_asks_for(tied):
    panel = Output(ModelState(), replace(STATE, tied=tied))
    assert panel.config.tie_embeddings is tied
    assert (panel.modules.unembedding.weight is panel.modules.stack.embedding.weight) is tied


# pictures


@every_kind
@pytest.mark.parametrize("temperature", [0.1, 1.0, 5.0])
def test_bars_are_the_probabilities_and_their_texts_the_way_to_them(model, temperature):
    panel = Output(model, replace(STATE, temperature=temperature, top=5))
    header, _ = panel.picture()
    expected = [panel.shares] if temperature == 1 else [panel.shares, panel.plain]
    assert_allclose(drawn(header), np.concatenate(expected))
    assert names(header) == panel.called
    divided = "" if temperature == 1 else f" / {temperature:g}"
    assert all(f"{divided} → " in text for text in ends(header)[:: len(expected)])


@every_kind
def test_the_maps_cells_are_the_tables_and_a_click_chooses_the_position(model):
    shown, at = OutputLens(model, STATE), OutputAt(model, STATE)
    header, numbers = shown.picture()
    table = shown.table()["probability of the final token"].to_numpy()
    assert_allclose(floats(numbers.tobytes()), 100 * table.reshape(len(shown.names), -1).T.ravel(), rtol=1e-6)
    assert header["asks"] == ("model_layer", "model_token")
    assert header["places"][1] == list(range(1, len(shown.names) + 1))
    assert_allclose(drawn(at.picture()[0]), at.shares.ravel())


@every_kind
def test_lines_are_lengths_and_probabilities_of_each_position(model):
    norm, both = OutputNorm(model, STATE), OutputTied(model, STATE)
    by_name = lines(norm.picture()[0])
    assert list(by_name["after the last layer"][1]) == pytest.approx(norm.moments[2][0].tolist())
    assert ("after the final norm" in by_name) is (model.norm == "pre")
    by_name = lines(both.picture()[0])
    for name, side in both.sides.items():
        assert list(by_name[name][1]) == pytest.approx(side.itself[1].tolist())


def test_the_slider_holds_the_temperature():
    header, _ = knob(ModelState(), replace(STATE, temperature=0.3))
    (slider,) = header["knobs"]
    assert (slider["parameter"], slider["value"]) == ("model_temperature", 0.3)


# what the questions take for granted


def test_random_weights_prefer_a_token_by_many_even_shares():
    model, state = asked["The likeliest token"]
    panel = Output(model, state)
    assert panel.vocab == 4096
    assert panel.times_even > 5
    assert f"{round(panel.times_even, 1):g}× an even share" in answers.how_sure(model, state)


def test_a_low_temperature_keeps_the_order_and_lowers_the_entropy():
    model, state = asked["A low temperature"]
    panel = Output(model, state)
    assert answers.order_changes(model, state) == "no"
    assert panel.shares[0] > 10 * panel.plain[0]
    assert "wider" in answers.what_temperature_does(model, state)
    assert "narrower" in answers.what_temperature_does(model, replace(state, temperature=2.0))
    assert "divided by 1" in answers.what_temperature_does(model, replace(state, temperature=1.0))


def test_tied_random_models_repeat_the_word_and_untied_ones_do_not():
    model, state = asked["The same word again"]
    panel = OutputTied(model, state)
    assert model.length / 2 < panel.first
    assert panel.sides["untied"].first < 2
    assert float(panel.cosines.min()) > 0
    assert "at 0 untied" in answers.why_it_repeats(model, state)


def test_the_layers_of_the_question_disagree_with_the_end():
    model, state = asked["After each layer"]
    panel = OutputLens(model, state)
    assert panel.agreeing[-1] == len(panel.names) > panel.agreeing[0]
    assert len(panel.outs.places) == 7
    assert "0 after" in answers.which_layer_decides(model, state)
