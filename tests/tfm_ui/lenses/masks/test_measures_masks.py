"""What lessons measure in the Masks lens, beside loops over the mask, and a model that is called by hand."""

from dataclasses import replace

import pytest
import torch

from tfm_core import Transformer, recording
from tfm_core.study.empty_rows import LARGE, instead, minus_a_billion_in_half, minus_infinity
from tfm_ui.lenses.masks.measures import MEASURES
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow
from tfm_ui.lenses.masks.questions import layer_of_all_nan, weight_of_a_large_number
from tfm_ui.lenses.masks.see import See
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState

FREE = ModelState(causal=False)
LINKS = [
    (FREE, MasksState()),
    (FREE, MasksState(mask="cross")),
    (FREE, MasksState(mask="padding and causal")),
    (ModelState(), MasksState(mask="window 3")),
    (FREE, MasksState(mask="", paint="2x9.TAAAACQ", item=1)),
    (ModelState(architecture="encoder-decoder"), MasksState(place="cross")),
    (ModelState(architecture="encoder-decoder"), MasksState(place="decoder", mask="")),
    (replace(FREE, text="🦊", seq_len=2), MasksState(texts="", mask="cross")),
]
EMPTY = [(FREE, "cross"), (ModelState(architecture="decoder", seq_len=11), "cross"), (FREE, "padding")]


def measured(name: str, model: ModelState, state: MasksState) -> float | str:
    return MEASURES[name](model, state)


@pytest.mark.parametrize(("model", "state"), LINKS)
def test_pairs_are_counted_one_by_one(model, state):
    shown = See(model, state)
    rows, columns = shown.names
    mask = shown.obeyed.mask.tolist()
    pairs = [(query, key) for query in range(len(rows)) for key in range(len(columns)) if mask[query][key]]
    across = state.place == "cross" and model.is_encoder_decoder
    assert measured("allowed", model, state) == len(pairs)
    assert measured("ahead", model, state) == (0 if across else sum(key > query for query, key in pairs))
    assert measured("onto_padding", model, state) == sum(columns[key] == "PAD" for _, key in pairs)
    assert measured("empty_rows", model, state) == sum(not any(row) for row in mask)
    assert (measured("queries", model, state), measured("keys", model, state)) == (len(rows), len(columns))


def test_the_batch_of_the_course_has_8_sentences_of_25_tokens():
    texts = "\n".join("a b c"[: 1 + 2 * (at % 3)] for at in range(7))
    model = replace(FREE, seq_len=25)
    state = MasksState(texts=texts)
    assert (measured("sentences_of_batch", model, state), measured("places", model, state)) == (8, 25)
    assert measured("places", FREE, state) == len(FREE.text.split())


def test_padding_that_is_hidden_moves_nothing_and_padding_that_is_not_does():
    assert measured("moved_if_hidden", FREE, MasksState()) < 1e-5
    assert measured("moved_if_not_hidden", FREE, MasksState()) > 0.1


def streams_by_hand(model: ModelState, mask: torch.Tensor) -> list[torch.Tensor]:
    """The residual stream after each layer, with −∞ and softmax, of a mask in place of all that the model hides."""
    edits = {**instead(minus_infinity), "*.mask": lambda automatic: mask.expand_as(automatic)}
    sites = [f"layers.{layer}.feed_forward.residual_after" for layer in range(model.num_layers)]
    with torch.no_grad(), recording(sites, edits) as trace:
        Transformer(model.config).eval()(model.source_tokens.batch, mask=mask)
    return [trace[site][0] for site in sites]


@pytest.mark.parametrize(("model", "mask"), EMPTY[:2])
def test_rows_of_nan_beside_a_model_called_by_hand(model, mask):
    state = MasksState(mask=mask, item=1, texts="")
    model = replace(model, seq_len=11)
    shown = See(model, state)
    counts = [int(x.isnan().any(-1).sum()) for x in streams_by_hand(model, torch.from_numpy(shown.obeyed.mask))]
    assert counts == [measured("empty_rows", model, state), measured("queries", model, state)] == [1, 11]
    assert layer_of_all_nan(model, state) == 2


@pytest.mark.parametrize(("model", "mask"), EMPTY)
def test_a_row_without_a_key_in_three_ways(model, mask):
    state = MasksState(mask=mask)
    keys = measured("keys", model, state)
    assert measured("row_by_softmax", model, state) == "NaN"
    assert EmptyRow(model, state).in_half.isnan().all()
    assert weight_of_a_large_number(model, state) == pytest.approx(1 / keys)


def test_a_billion_is_beyond_half_precision_and_a_row_that_has_a_key_is_not_harmed():
    assert torch.finfo(torch.float16).max == 65_504
    assert torch.tensor(LARGE).half() == -torch.inf
    weights = minus_a_billion_in_half(torch.tensor([1.0, -torch.inf, 2.0]))
    torch.testing.assert_close(weights.float(), torch.tensor([1.0, -torch.inf, 2.0]).softmax(-1), atol=1e-3, rtol=0)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize(
    ("model", "state"),
    [
        (ModelState(text="a", seq_len=2), MasksState(texts="", view="padding")),
        (ModelState(text="", seq_len=2), MasksState(texts="", mask="cross")),
        (ModelState(num_layers=1), MasksState(paint="~h1.1_2.2")),
        (ModelState(architecture="encoder-decoder"), MasksState(place="cross")),
        (ModelState(architecture="encoder-decoder"), MasksState(place="decoder", mask="causal")),
        (ModelState(weights="reverse"), MasksState(mask="")),
    ],
)
def test_each_has_a_value_of_any_model(name, model, state):
    assert isinstance(measured(name, model, state), (int, float, str))
