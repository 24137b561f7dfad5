"""The view "leaks": change one token, and see which outputs move."""

from collections.abc import Sequence

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.leaks.measured import all_of, measured_of, plan_of
from tfm_ui.lenses.masks.leaks.moved import Leaks, LeaksDistance, LeaksLayers
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import View, texts_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text


def running(model: ModelState, state: MasksState) -> str:
    """What is said while it is measured, where that takes a while."""
    if (exact := all_of(model, state)) and exact.is_shown(state.whole):
        return ""
    return "Changing one token after the other" if plan_of(model, state).slow else ""


def _read(model: ModelState, state: MasksState) -> Sequence[Text]:
    """The sentence on screen, as far as there is time for it."""
    measured, _, _ = measured_of(model, state)
    return texts_of(measured.model, state)


VIEW = View(
    title="Leak test",
    exercise="causal-mask",
    shows=[Leaks, Leaks.note, *THE_BATCH, LeaksLayers, LeaksDistance],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=_read,
    controls=mask_and("promise", more=("tries",)),
    running=running,
    never_trained=other_mask,
)
