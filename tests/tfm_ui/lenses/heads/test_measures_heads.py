"""What lessons measure on the page of Heads, beside what the tokens themselves say."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tfm_core import recording
from tfm_ui.lenses.heads.measures import MEASURES
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.live import passes
from tfm_ui.state import pretrained
from tfm_ui.state.model_state import ModelState

LAB = ModelState(weights="lab-gpt", text="Transformers have revolutionized natural language processing.")
MODELS = [
    LAB,
    ModelState(),
    ModelState(causal=False, text="one", seq_len=4),
    ModelState(architecture="decoder", text="cat", seq_len=4, positional="alibi"),
    ModelState(architecture="encoder-decoder", seq_len=14),
    ModelState(tokenizer="character", text="a b, cd"),
    ModelState(weights="induction"),
]
STATE = HeadsState()


@pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_measure_holds_of_any_model(name, model, kind):
    at = {name: min(2, field["high"]) for name, field in HeadsState.limits(model).items()}
    measured = MEASURES[name](model, HeadsState(kind=kind, **at))
    assert isinstance(measured, int | float | str)
    assert isinstance(measured, str) or np.isfinite(measured)


def test_pieces_within_words_are_counted_by_spaces():
    within = MEASURES["pieces_within_words"]
    words = len(LAB.text.rstrip(".").split())
    assert within(LAB, STATE) == len(LAB.source_tokens.pieces) - 1 - words  # but for the full stop, which is no word
    assert within(replace(LAB, weights="random"), STATE) == 0
    assert within(ModelState(tokenizer="character", text="abc de."), STATE) == 3


@pytest.mark.skipif(not pretrained.is_here("minilm"), reason="all-MiniLM-L6-v2 is not installed")
def test_wordpieces_are_counted_by_their_sign():
    model = replace(LAB, weights="minilm", text="tokenizing antidisestablishmentarianism, and revolutionized ships")
    signs = sum(piece.startswith("##") for piece in model.source_tokens.pieces)
    assert MEASURES["pieces_within_words"](model, STATE) == signs >= 4
    assert MEASURES["last_token"](replace(model, seq_len=5), STATE) == "[SEP]"


@pytest.mark.parametrize("positional", ["sinusoidal", "t5"])
def test_padding_is_counted_and_moves_no_weight(positional):
    model = ModelState(causal=False, positional=positional, text="one two three", seq_len=7)
    assert MEASURES["padding"](model, STATE) == 4
    assert MEASURES["changed_by_padding"](model, STATE) == "no"
    assert MEASURES["padding"](replace(model, seq_len=0), STATE) == 0
    assert MEASURES["moved_by_padding"](replace(model, seq_len=0), STATE) == 0


def test_what_padding_moves_is_the_largest_difference_of_two_passes():
    model = ModelState(causal=False, text="one two three", seq_len=5)
    both = []
    for each in (model, replace(model, seq_len=0)):
        with torch.no_grad(), recording("*.weights") as trace:
            passes.forward(each)
        both.append({site: weights[0, :, :3, :3] for site, weights in trace.items()})
    largest = max(float((both[0][site] - both[1][site]).abs().max()) for site in both[0])
    assert MEASURES["moved_by_padding"](model, STATE) == pytest.approx(largest, abs=1e-6)


def test_the_largest_weight_of_the_last_row():
    with torch.no_grad(), recording("layers.3.self_attention.weights") as trace:
        passes.forward(LAB)
    expected = float(trace["layers.3.self_attention.weights"][0, 2, -1].max())
    assert MEASURES["row_largest"](LAB, HeadsState(layer=4, head=3)) == pytest.approx(expected, abs=1e-6)


def test_the_last_token_is_named():
    assert MEASURES["last_token"](ModelState(text="a dog"), STATE) == "dog"
