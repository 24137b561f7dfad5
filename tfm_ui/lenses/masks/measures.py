"""What lessons measure in the Masks lens: the mask of the chosen sentence, its batch, and rows without a key."""

from collections.abc import Callable, Mapping

import torch

from tfm_core.study.empty_rows import LARGE
from tfm_ui.lenses.masks.padding.beside import Padding
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.treated import INFINITE
from tfm_ui.lenses.masks.state import MasksState, padded, sentences, setting
from tfm_ui.state.model_state import ModelState

MINUS_INFINITY = "−∞"


def ahead(model: ModelState, state: MasksState) -> int:
    """How many pairs of the mask let a token look at a later one; 0 in cross-attention, where keys are another text."""
    shown = setting(model, state)
    return 0 if shown.place == "cross" else int(shown.mask.triu(1).sum())


def allowed(model: ModelState, state: MasksState) -> int:
    """How many pairs of the mask may attend."""
    return int(setting(model, state).mask.sum())


def empty_rows(model: ModelState, state: MasksState) -> int:
    """How many rows of the mask have no key."""
    return int((~setting(model, state).mask.any(-1)).sum())


def half_of_a_billion(model: ModelState, state: MasksState) -> str:
    """What −1e9 is in half precision."""
    half = float(torch.tensor(LARGE).half())
    return MINUS_INFINITY if half == -torch.inf else f"{half:g}"


def hidden_tokens(model: ModelState, state: MasksState) -> int:
    """How many keys that are no padding no row may look at."""
    shown = setting(model, state)
    seen = shown.mask.any(0)[: len(shown.keys.pieces)]
    return int((~seen).sum())


def keys(model: ModelState, state: MasksState) -> int:
    """How many columns the mask has."""
    return setting(model, state).mask.shape[1]


def moved_if_hidden(model: ModelState, state: MasksState) -> float:
    """How far an output moves at most, as a share of its length, beside padding that is hidden in the batch."""
    return _largest_move(model, state, "with")


def moved_if_not_hidden(model: ModelState, state: MasksState) -> float:
    """How far an output moves at most, as a share of its length, beside padding that is not hidden in the batch."""
    return _largest_move(model, state, "without")


def _largest_move(model: ModelState, state: MasksState, way: str) -> float:
    beside = Padding(model, state)
    return beside.largest(way) if beside.batch.read else 0.0


def nan_after_first(model: ModelState, state: MasksState) -> int:
    """How many rows are NaN after layer 1 where a row without a key gets −∞ and softmax."""
    return NanSpreads(model, state).nans(INFINITE)[1]


def nan_at_the_end(model: ModelState, state: MasksState) -> int:
    """How many rows are NaN after the last layer where a row without a key gets −∞ and softmax."""
    spread = NanSpreads(model, state)
    return spread.nans(INFINITE)[spread.setting.model.num_layers]


def onto_padding(model: ModelState, state: MasksState) -> int:
    """How many pairs of the mask let a token look at padding."""
    shown = setting(model, state)
    return int(shown.mask[:, len(shown.keys.pieces) :].sum())


def places(model: ModelState, state: MasksState) -> int:
    """How many places each sentence of the batch has, padding included."""
    return padded(model, state).length


def queries(model: ModelState, state: MasksState) -> int:
    """How many rows the mask has."""
    return setting(model, state).mask.shape[0]


def row_by_softmax(model: ModelState, state: MasksState) -> str:
    """What the weights of a row without a key are after −∞ and softmax."""
    return EmptyRow(model, state).weights_said(INFINITE)


def row_in_half(model: ModelState, state: MasksState) -> str:
    """What the weights of a row without a key are where −1e9 is written in half precision."""
    weights = EmptyRow(model, state).in_half
    return "NaN" if weights.isnan().any() else f"{float(weights.max()):.2g}"


def rows(model: ModelState, state: MasksState) -> int:
    """How many rows the pictures of rows without a key have."""
    return len(EmptyRow(model, state).queries)


def sentences_of_batch(model: ModelState, state: MasksState) -> int:
    """How many sentences the batch has."""
    return len(sentences(model, state))


MEASURES: Mapping[str, Callable[[ModelState, MasksState], float | str]] = {
    measure.__name__: measure
    for measure in (
        ahead,
        allowed,
        empty_rows,
        half_of_a_billion,
        hidden_tokens,
        keys,
        moved_if_hidden,
        moved_if_not_hidden,
        nan_after_first,
        nan_at_the_end,
        onto_padding,
        places,
        queries,
        row_by_softmax,
        row_in_half,
        rows,
        sentences_of_batch,
    )
}
