"""The view "leaks": change one token, and see which outputs move."""

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.leaks.measured import all_of, plan_of
from tfm_ui.lenses.masks.leaks.moved import Leaks, LeaksDistance, LeaksLayers
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import View
from tfm_ui.state.model_state import ModelState


def running(model: ModelState, state: MasksState) -> str:
    """What is said while it is measured, where that takes a while."""
    if (exact := all_of(model, state)) and exact.is_shown(state.whole):
        return ""
    return "Changing one token after the other" if plan_of(model, state).slow else ""


VIEW = View(
    title="Leak test",
    shows=[Leaks, Leaks.note, *THE_BATCH, LeaksLayers, LeaksDistance],
    beside=PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("promise", more=("tries",)),
    running=running,
    never_trained=other_mask,
)
