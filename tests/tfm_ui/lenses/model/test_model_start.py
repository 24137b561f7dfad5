"""The loss before training: of torch's own modules with the same weights' spread, and what follows from d_model."""

import math
import statistics

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tfm_ui.lenses.model.any_link import left_by
from tfm_core import Transformer
from tfm_ui.lenses.model import LENS
from tfm_ui.lenses.model.measures import MEASURES
from tfm_ui.lenses.model.output.start import FEW_SPREADS, READ, OutputStart
from tfm_ui.lenses.model.state import START_SIZES, ModelLensState
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.model_state import ModelState

LARGE = ModelLensState(view="output", start_size=START_SIZES[1])
PRINTED = 257.6  # as the course has it


def by_torch(seed: int, d: int, words: int, layers: int, tokens: int) -> float:
    """The first loss of a small GPT of torch.nn with tied embeddings that are drawn as nn.Embedding draws them."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        embedding, norm = nn.Embedding(words, d), nn.LayerNorm(d)
        layer = nn.TransformerEncoderLayer(d, 8, 4 * d, batch_first=True, norm_first=True)
        stack = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()
        ids = torch.randint(0, words, (1, tokens + 1))
    with torch.no_grad():
        mask = nn.Transformer.generate_square_subsequent_mask(tokens)
        x = norm(stack(embedding(ids[:, :-1]) * math.sqrt(d), mask=mask))
        return float(F.cross_entropy(x[0] @ embedding.weight.T, ids[0, 1:]))


@pytest.mark.parametrize("tied", [True, False])
def test_each_loss_is_that_of_a_model_whose_table_is_multiplied(tied: bool) -> None:
    """The weights are changed in place here, and the loss is written out."""
    model = ModelState(text="the cat sat on the mat", architecture="decoder", num_layers=2)
    panel = OutputStart(model, ModelLensState(view="output"))
    config = panel.of_start
    for spread in (0.02, 1):
        made = Transformer(type(config)(**{**config.__dict__, "tie_embeddings": tied})).eval()
        with torch.no_grad():
            made.stack.embedding.weight.mul_(spread / panel.usual)
            logits = made(model.source_tokens.batch)[0]
        assert made.stack.embedding.weight.std().item() == pytest.approx(spread, rel=0.02)
        ids = model.source_tokens.ids
        losses = [
            -float(logits[at].double().log_softmax(0)[ids[at + 1]]) for at in range(len(model.source_tokens.pieces) - 1)
        ]
        assert panel.at(spread, "tied" if tied else "untied") == pytest.approx(statistics.mean(losses), rel=1e-4)
    assert left_by(panel)["losses"] == pytest.approx(panel.by_spread["tied"], rel=1e-5)


def test_a_standard_deviation_of_1_begins_near_d_model_and_a_small_one_near_ln_v() -> None:
    """What the course prints lies among what torch's own modules begin with, over seeds."""
    panel = OutputStart(ModelState(), LARGE)
    theirs = [by_torch(seed, 256, 50_000, 4, 32) for seed in range(4)]
    mean, spread = statistics.mean(theirs), statistics.stdev(theirs)
    assert abs(mean - 256) < 8
    assert abs(PRINTED - mean) < 3 * max(spread, 2)
    assert abs(panel.at(1) - mean) < 4 * max(spread, 3)
    assert panel.evenly == pytest.approx(math.log(50_000))
    assert panel.at(0.02) < 1.05 * panel.evenly < panel.at(1) / 20
    assert panel.at(1, "untied") < 1.1 * panel.evenly
    assert f"{panel.at(1):.1f}" in panel.sentence()
    assert len(panel.draws) == 3
    assert panel.draws[0] == pytest.approx(panel.at(1), rel=1e-4)


def test_of_a_long_text_and_in_a_large_model_few_tokens_are_read_at_few_points() -> None:
    """What is on screen is the loss of a text that ends there."""
    words = [f"w{number}" for number in range(300)]
    state = ModelLensState(view="output")
    long, short = (
        OutputStart(ModelState(text=" ".join(text), architecture="decoder", num_layers=8, num_heads=8), state)
        for text in (words, words[:READ])
    )
    assert long.model.is_heavy
    assert not short.model.is_heavy
    assert {*FEW_SPREADS} <= {*long.spreads} < {*short.spreads}
    assert len(long.draws) < len(short.draws)
    for spread in long.spreads:
        assert long.at(spread) == pytest.approx(short.at(spread), rel=1e-4)
    assert f"the first {READ} tokens of the text" in long.how_to_read
    assert "first" not in short.how_to_read


def test_what_lessons_measure_is_what_is_on_screen() -> None:
    """Tied or not, as the switch says."""
    for tied in (True, False):
        state = ModelLensState(view="output", tied=tied, spread=0.05)
        panel, side = OutputStart(ModelState(), state), "tied" if tied else "untied"
        assert MEASURES["untrained_loss"](ModelState(), state) == panel.at(panel.usual, side)
        assert MEASURES["untrained_loss_if_wide"](ModelState(), state) == panel.at(1, side)
        assert MEASURES["untrained_loss_with_spread"](ModelState(), state) == panel.at(0.05, side)


def test_a_text_without_a_next_token_and_trained_weights_have_none() -> None:
    """The panel says why, or is not there."""
    assert "no next token" in OutputStart(ModelState(text="a"), ModelLensState(view="output")).sentence()
    panels = panels_in(LENS.blocks(ModelState(weights="reverse"), ModelLensState(view="output")))
    assert not any(isinstance(panel, OutputStart) and panel.is_shown for panel in panels)
