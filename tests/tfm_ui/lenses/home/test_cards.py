"""Home has a card for each lens; its picture shows the sidebar's model, or a run that comes with the app."""

import base64

import numpy as np
import pytest
import torch
from torch import nn

from tests.tfm_ui.pictures.charts import bars, ends, lines, names
from tfm_core import Transformer, run_store
from tfm_ui.lenses import lens, lenses
from tfm_ui.lenses.home import LENS, ROWS, SIDE_BY_SIDE
from tfm_ui.lenses.home.cards import (
    CARDS,
    CORNER,
    LEARNED,
    LENGTHS,
    WRITTEN,
    flops,
    home_clinic,
    home_generate,
    home_model,
    home_profiling,
    home_training,
)
from tfm_ui.lenses.training.runs import config_of
from tfm_ui.lenses.training.state import TrainingState
from tfm_ui.live import passes
from tfm_ui.live.writing import why_not_write
from tfm_ui.pictures.panel import Columns
from tfm_ui.state import lab_gpt
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_labels import named

STATE = LensState()
LAB = ModelState(**lab_gpt.ON_PROSE)


def test_each_lens_has_a_card_and_each_card_a_question_a_picture_and_a_page_to_lead_to():
    others = {each.name for each in lenses()} - {"home"}
    assert {*CARDS} == others
    assert {*LENS.pictures} == {"home_next", *(f"home_{name}" for name in CARDS)}
    assert all(card.asks.endswith(("?", ".")) and "?" in card.asks for card in CARDS.values())
    assert all(card.title == lens(name).title for name, card in CARDS.items())
    assert all(isinstance(row, Columns) and len(row.columns) == SIDE_BY_SIDE for row in ROWS)
    assert sum(len(row.columns) for row in ROWS) == len(CARDS)


def test_no_card_asks_a_finger_to_hover():
    assert not [card.asks for card in CARDS.values() if "hover" in card.asks.lower()]


def test_the_card_of_training_shows_the_run_on_which_that_lens_opens_whatever_the_sidebar_says():
    assert config_of(TrainingState()) == LEARNED
    run = run_store().find(LEARNED)
    headers = [home_training(ModelState(**model), STATE)[0] for model in ({}, {"weights": "lab-gpt"}, {"seed": 3})]
    assert headers[0] == headers[1] == headers[2]
    line = headers[0]["figure"]["data"][0]
    x, y = (np.frombuffer(base64.b64decode(line[axis]["bdata"]), line[axis]["dtype"]) for axis in "xy")
    assert [*zip(x, y, strict=True)] == [(point.step, pytest.approx(point.accuracy)) for point in run.points]
    for said in (LEARNED.task, "not the model in the sidebar", formats.percent(run.last.accuracy)):
        assert said in headers[0]["about"]
    assert f"“{LEARNED.task}”" in CARDS["training"].asks


@pytest.mark.parametrize("model", [ModelState(), LAB, ModelState(architecture="encoder-decoder", positional="t5")])
def test_the_parts_of_the_model_are_all_of_its_parameters(model):
    header, _ = home_model(model, STATE)
    total = passes.parameters(model.config)
    assert formats.count(total) in header["about"]
    (shares,) = bars(header).values()
    assert shares.sum() == pytest.approx(1)
    assert sum(int(end.split()[0].replace(",", "")) for end in ends(header)) == total


@pytest.mark.parametrize(
    "model", [LAB, ModelState(architecture="decoder", tokenizer="byte", text="to be", positional="rope")]
)
def test_the_card_of_generate_writes_what_whole_passes_find_likeliest(model):
    header, _ = home_generate(model, STATE)
    ids, written = list(model.source_tokens.ids), []
    machine = Transformer(model.config).eval()
    for _ in range(WRITTEN):
        with torch.no_grad():
            shares = machine(torch.tensor([ids]))[0, -1].double().softmax(-1)
        ids.append(int(shares.argmax()))
        written.append((f"“{named(model.tokens_by.pieces[ids[-1]])}”", float(shares.max())))
    assert names(header) == [name for name, _ in written]
    (drawn,) = bars(header).values()
    np.testing.assert_allclose(drawn, [share for _, share in written], rtol=1e-4)
    assert header["figure"]["layout"]["xaxis"]["range"] == [0, 1]  # each is a share of a whole of its own


@pytest.mark.parametrize("model", [ModelState(), ModelState(weights="induction"), ModelState(architecture="decoder")])
def test_a_model_that_writes_nothing_has_a_reason_in_place_of_bars(model):
    header, _ = home_generate(model, STATE)
    assert bool(header["about"] == why_not_write(model)) == bool(why_not_write(model))
    assert CARDS["generate"].why_not(model) == why_not_write(model)


@pytest.mark.parametrize("model", [ModelState(), ModelState(causal=False, text="a b", seq_len=5), LAB])
def test_the_card_of_the_clinic_shows_what_two_calls_of_pytorch_take_for_the_same_mask(model):
    header, numbers = home_clinic(model, STATE)
    count = min(CORNER, model.length)
    sdpa, mha = np.asarray(numbers, np.float32).reshape(2, count, count) == 1
    assert [each["words"] for each in header["maps"]] == [("False", "True")] * 2
    x = torch.randn(1, count, 8, generator=torch.Generator().manual_seed(3))
    attention = nn.MultiheadAttention(8, 1, batch_first=True, bias=False).eval()
    with torch.no_grad():
        theirs, _ = attention(x, x, x, attn_mask=torch.tensor(mha))
        query, key, value = (x @ part.T for part in attention.in_proj_weight.chunk(3))
        ours = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=torch.tensor(sdpa))
        torch.testing.assert_close(ours @ attention.out_proj.weight.T, theirs)
    visible = np.tri(count, dtype=bool) if model.looks_back_only else np.ones((count, count), bool)
    read = len(model.source_tokens.pieces)
    visible[:, read:] = False
    np.testing.assert_array_equal(sdpa, visible)


@pytest.mark.parametrize("model", [ModelState(), LAB])
def test_the_cost_of_a_text_is_that_of_its_products(model):
    """Pairs: scores and weighted sums. Each token: four projections, a feed-forward network, and the output."""
    header, _ = home_profiling(model, STATE)
    d, layers, hidden, vocab = model.d_model, model.num_layers, model.hidden, model.config.vocab_size
    lengths = [length for length in LENGTHS if length <= model.most_tokens]
    for length in lengths:
        pairs, others = flops(model, length)
        assert pairs == layers * 2 * (2 * length * length * d)
        assert others == layers * (4 * 2 * length * d * d + 2 * 2 * length * d * hidden) + 2 * length * d * vocab
    drawn = lines(header)
    for name, number in (("pairs", 0), ("each token alone", 1)):
        np.testing.assert_allclose(drawn[name][1], [flops(model, length)[number] / 1e6 for length in lengths])
