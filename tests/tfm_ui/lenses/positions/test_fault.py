"""The encoding added along the batch: what is shown is what a model built by hand does with it."""

import inspect
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import left_by
from tfm_core import Transformer, causal_mask, padding_mask, sinusoidal_encoding
from tfm_core.study import order
from tfm_ui.lenses.positions import model_runs
from tfm_ui.lenses.positions.fault import READ_UP_TO, FaultAdded, FaultMaps, aside, scheme_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState

MODELS = [
    ModelState(),
    ModelState(causal=False, norm="post", text="a b c", seq_len=5),
    ModelState(architecture="decoder"),
    ModelState(architecture="encoder-decoder", d_model=64),
]


def by_hand(model: ModelState, batch: int, *, wrong: bool) -> torch.Tensor:
    """The outputs of a batch, the stack's parts called one by one."""
    transformer = Transformer(model.config).eval()
    stack = transformer.encoder if model.is_encoder_decoder else transformer.stack
    ids = model.source_tokens.batch.expand(batch, -1)
    pe = stack.positional.encode(1024)
    x = stack.embedding(ids) * model.d_model**0.5
    rows = [[x[b, i] + pe[b if wrong else i] for i in range(model.length)] for b in range(batch)]
    x = torch.stack([torch.stack(row) for row in rows])
    mask = padding_mask(ids)
    if model.looks_back_only and not model.is_encoder_decoder:
        mask = mask & causal_mask(model.length)
    for layer in stack.layers:
        x = layer(x, mask)
    return x if stack.final_norm is None else stack.final_norm(x)


@pytest.mark.parametrize("wrong", [False, True])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scheme", ["sinusoidal", "learned"])
def test_both_ways_are_what_a_model_by_hand_does(model, wrong, scheme):
    model = replace(model, positional=scheme)
    reading = model_runs.reading(model, batch=3, along="batch" if wrong else "sequence")
    with torch.no_grad():
        torch.testing.assert_close(reading.output, by_hand(model, 3, wrong=wrong), atol=1e-5, rtol=1e-4)
        if not wrong:  # it is what the model does by itself
            assert torch.equal(reading.output, model_runs.reading(model, batch=3).output)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("batch", [1, 2, 4])
@pytest.mark.parametrize("item", [1, 4])
def test_laws_hold_where_it_is_right_and_are_broken_where_it_is_wrong(model, batch, item):
    state = PositionsState(batch=batch, item=item)
    shown, sentence = FaultAdded(model, state), FaultAdded(model, state).sentence()
    laws = FaultMaps(model, state).laws() | shown.laws()
    assert len(laws) == (6 if batch > 1 else 4)
    assert all(held == law.startswith("right") for law, held in laws.items())
    right, wrong = shown.effects.values()
    np.testing.assert_array_equal(right.added, sinusoidal_encoding(model.length, model.d_model))
    place = min(item, batch) - 1
    assert (wrong.added == sinusoidal_encoding(4, model.d_model)[place].numpy()).all()
    assert f"get PE({place})" in sentence
    assert ("a batch of one" in sentence) == (batch == 1)


@pytest.mark.parametrize("way", ["sequence", "batch"])
def test_the_functions_on_screen_are_those_that_run(monkeypatch, way):
    ran, model, add = [], ModelState(num_layers=1, seed=4321), model_runs.ALONG[way]  # no other test keeps its pass

    def spy(x, pe):
        ran.append(tuple(x.shape))
        return add(x, pe)

    monkeypatch.setitem(model_runs.ALONG, way, spy)
    model_runs.reading(model, batch=2, along=way)
    assert ran == [(2, 10, 32)] * 2  # of what is shown as added, too


def test_an_encoding_that_is_not_what_it_should_be_would_be_seen():
    panel = FaultAdded(ModelState(), PositionsState())
    panel.pe = panel.pe[::-1]
    assert not any(panel.laws().values())


def test_a_map_that_is_sent_whole_asks_the_server_for_no_part():
    header, _ = FaultMaps.content(ModelState(text="@alice", seq_len=1024), PositionsState())
    assert header["part"]["block"] == (1, 1)
    assert header["part"]["parameter"] == ""


def test_the_code_on_screen_does_what_it_says():
    scope = {"Tensor": torch.Tensor}
    for way in (order.along_sequence, order.along_batch):
        exec(inspect.getsource(way), scope)
    x, pe = torch.zeros(3, 5, 4), sinusoidal_encoding(9, 4)
    assert torch.equal(scope["along_sequence"](x, pe), pe[:5].expand(3, 5, 4))
    assert torch.equal(scope["along_batch"](x, pe), pe[:3, None].expand(3, 5, 4))


@pytest.mark.parametrize(
    ("a", "b", "shown", "said"),
    [
        ("rope", "learned", "learned", ""),
        ("learned", "sinusoidal", "learned", ""),
        ("rope", "nothing", "sinusoidal", "rope is not added"),
        ("alibi", "t5", "sinusoidal", "alibi and t5 are not added"),
    ],
)
def test_the_scheme_is_the_first_that_is_added(a, b, shown, said):
    state = PositionsState(a=a, b=b)
    assert scheme_of(state) == shown
    assert said in aside(ModelState(), state)
    assert bool(aside(ModelState(), state)) == bool(said)


def test_a_long_text_is_cut_and_that_is_said():
    model = ModelState(text="@alice", seq_len=1024)
    assert len(FaultMaps(model, PositionsState()).names) == READ_UP_TO
    assert "Of 1024 places the first 128" in aside(model, PositionsState())


def test_a_single_token_is_said_to_have_no_choice():
    panel = FaultMaps(ModelState(text="🦊", seq_len=2), PositionsState(item=1))
    assert "the two maps are the same" in panel.sentence()
    assert not any("shuffled" in law for law in panel.laws())


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("scheme", ["sinusoidal", "learned"])
def test_the_script_gives_the_numbers_shown(model, scheme):
    result = FaultMaps(model, PositionsState(a=scheme, layer=2, model_head=2))
    scope = left_by(result.recipe())
    for i, effect in enumerate(result.effects.values()):
        np.testing.assert_array_equal(scope["added"][i], effect.added)
        np.testing.assert_allclose(scope["weights"][i], effect.head.weights, atol=2e-6)
        outputs = scope["outputs"][i][:, : result.read]
        assert float((outputs[1] - outputs[0]).abs().max()) == pytest.approx(effect.apart[0], abs=1e-5)


def test_a_batch_of_one_is_not_spared():
    assert "a batch of one is not spared" in FaultAdded(ModelState(), PositionsState(batch=1)).sentence()
    assert "spared" not in FaultAdded(ModelState(), PositionsState()).sentence()


def test_a_sentence_that_is_not_in_the_batch_is_told():
    told = aside(ModelState(), PositionsState(batch=2, item=4))
    assert told == "A batch of 2 has no sentence 4: the last one is shown."
    assert not aside(ModelState(), PositionsState(batch=2, item=2))


def test_the_maps_are_of_what_is_added():
    header, numbers = FaultAdded.content(ModelState(), PositionsState())
    assert numbers.shape == (2, 10, 32)
    np.testing.assert_array_equal(numbers[0], sinusoidal_encoding(10, 32))
    assert header["rows"]["names"][:2] == ["the", "cat"]
    assert (numbers[1] == numbers[1][0]).all()
