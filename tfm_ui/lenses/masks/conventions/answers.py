"""The answers to the questions of the view "conventions"."""

from tfm_ui.lenses.masks.conventions.chosen import Handed
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def slip(model: ModelState, state: MasksState) -> str:
    """What the usual mistake does."""
    handed = Handed(model, state)
    giving = [name for name, call in handed.verified.items() if call.slipped_nan]
    nans = f" Of all calls, the mistake gives NaN in {formats.listed(giving)}." if giving else ""
    return f"{handed.slip() or 'This call was not made here.'}{nans}"


def can_it_be_said(model: ModelState, state: MasksState) -> str:
    """Whether the chosen convention can say the mask."""
    return Handed(model, state).about()


def cells_lost(model: ModelState, state: MasksState) -> int:
    """How many cells the chosen convention cannot say."""
    return int(Handed(model, state).lost.sum())
