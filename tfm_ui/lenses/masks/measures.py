"""What lessons measure in the Masks lens: the mask of the chosen sentence, its batch, and rows without a key."""

from collections.abc import Callable, Mapping

from tfm_ui.lenses.masks.padding.beside import Padding
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow
from tfm_ui.lenses.masks.padding.treated import INFINITE
from tfm_ui.lenses.masks.state import MasksState, padded, sentences, setting
from tfm_ui.state.model_state import ModelState


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


def sentences_of_batch(model: ModelState, state: MasksState) -> int:
    """How many sentences the batch has."""
    return len(sentences(model, state))


MEASURES: Mapping[str, Callable[[ModelState, MasksState], float | str]] = {
    measure.__name__: measure
    for measure in (
        ahead,
        allowed,
        empty_rows,
        keys,
        moved_if_hidden,
        moved_if_not_hidden,
        onto_padding,
        places,
        queries,
        row_by_softmax,
        sentences_of_batch,
    )
}
