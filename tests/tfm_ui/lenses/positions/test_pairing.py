"""Which dimensions turn together: drawn as clocks, and weights that were made for one pairing read as the other."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.tfm_ui.lenses.positions.position_toys import left_by
from tfm_core import Transformer, apply_rotary, causal_mask
from tfm_core.positional.schemes import PAIRINGS
from tfm_core.pretrained.offered import OFFERED
from tfm_ui.lenses.positions.pairing import READ_UP_TO, TRY, PairingMaps, PairingNext, aside
from tfm_ui.lenses.positions.questions import read_the_other_way, which_pairs
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.clocks import ClocksA
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.pictures.positions.clocks import clocks_figure
from tfm_ui.state.model_state import ModelState

MODEL, STATE = ModelState(), PositionsState(view="pairing", layer=2, model_head=3)
DECODER = ModelState(architecture="decoder", positional="rope", tokenizer="byte", text="to be or not to be")
ENCODERS = [
    MODEL,
    ModelState(positional="rope", causal=False, seq_len=14),
    ModelState(architecture="encoder-decoder", positional="rope"),
    ModelState(weights="reverse"),
    ModelState(weights="lab-gpt"),
]
smollm2 = pytest.mark.skipif(not OFFERED["smollm2"].is_there, reason="SmolLM2 is not installed")


@pytest.mark.parametrize("pairing", PAIRINGS)
def test_hands_are_what_the_equation_turns(pairing):
    state = PositionsState(a="rope", b="nothing", width=12, pairing=pairing, position=9, key=2)
    panel, width = ClocksA(MODEL, state), 12
    neighbours = pairing == "neighbours"
    dimensions = [(2 * i, 2 * i + 1) if neighbours else (i, i + 6) for i in range(6)]
    unit = torch.zeros(1, width)
    unit[0, [first for first, _ in dimensions]] = 1.0
    for hand, at in zip(panel.hands, (9, 2), strict=True):
        turned = apply_rotary(unit, torch.tensor([at]), neighbours=neighbours)[0]
        torch.testing.assert_close(hand, turned[torch.tensor(dimensions)])
    assert panel.turns.dimensions == dimensions
    assert panel.table()["dimensions"].tolist() == [f"{first}, {second}" for first, second in dimensions]
    assert all(panel.laws().values())
    assert torch.equal(left_by(panel.recipe())["query"], panel.hands[0])


def test_the_other_pairing_alone_adds_words():
    halves, neighbours = (PositionsState(a="rope", b="nothing", pairing=name) for name in PAIRINGS)
    (ours,), (theirs,) = schemes(MODEL, halves), schemes(MODEL, neighbours)
    assert not ours.aside
    assert "pairing" not in ours.spec.arguments
    assert theirs.aside == f"rope turns {PAIRINGS['neighbours']}."
    header, numbers = ClocksA(MODEL, neighbours).picture()
    assert "dimensions" not in ClocksA(MODEL, halves).picture()[0]
    told = clocks_figure(header, numbers).data[0].hovertemplate
    assert "pair 0: dimensions 0 and 1" in told
    for panel in (Pairs, Turned):
        assert all(panel(MODEL, neighbours).laws().values())
        assert panel(MODEL, neighbours).sentence() != panel(MODEL, halves).sentence()
    (sinusoidal,) = schemes(MODEL, replace(neighbours, a="sinusoidal"))
    assert (sinusoidal.aside, sinusoidal.spec.pairing) == ("", "halves")


@pytest.mark.parametrize("model", [*ENCODERS, DECODER])
def test_both_ways_are_what_models_built_by_hand_do(model):
    panel = PairingMaps(model, replace(STATE, layer=1, model_head=1))
    config = panel.model.config
    assert config.positional == "rope"
    left = left_by(panel.recipe())
    for pairing, reading in panel.readings.items():
        machine = Transformer(replace(config, rope_pairing=pairing)).eval()
        stack = machine.encoder if model.is_encoder_decoder else machine.stack
        mask = causal_mask(model.length) if model.masks_the_future else None
        with torch.no_grad():
            expected = stack(panel.model.source_tokens.batch, mask)
        torch.testing.assert_close(reading.output, expected, atol=1e-5, rtol=1e-4)
        drawn = panel.heads[pairing].weights[: panel.read]
        np.testing.assert_allclose(drawn, left["weights"][pairing][: panel.read], atol=1e-6)
    assert all(panel.laws().values())
    is_made_for_neither = not model.is_random
    assert ("and so for neither" in panel.sentence()) == is_made_for_neither
    assert bool(aside(model, STATE)) == (model.positional != "rope")


def test_a_decoder_says_what_comes_next_in_both_ways():
    panel = PairingNext(DECODER, STATE)
    assert panel.is_shown
    for name, shares in panel.shares.items():
        machine = Transformer(replace(DECODER.config, rope_pairing=name)).eval()
        with torch.no_grad():
            expected = machine(DECODER.source_tokens.batch)[0, -1].softmax(-1)
        np.testing.assert_allclose(shares, expected, atol=1e-6)
    assert panel.sentence().startswith("Random weights were made for neither")
    assert read_the_other_way(DECODER, STATE) == panel.sentence()
    assert panel.table().shape == (len(panel.drawn), 2)
    assert all(panel.laws().values())


@pytest.mark.parametrize("model", ENCODERS)
def test_where_nothing_is_said_of_next_tokens_the_picture_is_empty(model):
    assert not PairingNext(model, STATE).is_shown
    header, _ = PairingNext.content(model, STATE)
    assert not header["figure"]["data"]
    first = replace(STATE, layer=1, model_head=1)
    assert read_the_other_way(model, first) == PairingMaps(model, first).sentence()


def test_a_long_text_is_read_to_a_point_and_it_is_said():
    long = replace(DECODER, text="the sea " * 60)
    assert PairingMaps(long, STATE).model.length == min(long.length, READ_UP_TO)
    assert all(stored in which_pairs(DECODER, STATE) for stored in PAIRINGS.values())


@smollm2
@pytest.mark.parametrize(
    ("text", "right", "wrong"), [(TRY[0], " Paris", (" Paris",)), (TRY[1], " and", (" ", " April"))]
)
def test_a_pretrained_model_read_the_other_way_is_wrong_in_silence(text, right, wrong):
    panel = PairingNext(ModelState(weights="smollm2", text=text), STATE)
    pieces = panel.model.tokens_by.pieces
    first, second = (pieces[int(panel.shares[name].argmax())] for name in panel.ways)
    assert panel.ways == ["neighbours", "halves"]
    assert first == right
    assert second in wrong
    assert ("does not tell the two apart" in panel.sentence()) == (first == second)
    assert panel.sentence().startswith("These weights were made for neighbours.")
    assert all(panel.laws().values())
    left = left_by(panel.recipe())["outputs"]["halves"]
    np.testing.assert_allclose(left[-1].softmax(-1), panel.shares["halves"], atol=1e-4)
