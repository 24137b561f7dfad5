"""The view "leaks": change one token, and see which outputs move."""

from tfm_ui.lenses.masks.batch import THE_BATCH, reads_instead
from tfm_ui.lenses.masks.composer import PICTURES, mask_and
from tfm_ui.lenses.masks.leaks.layers import LeaksDistance, LeaksLayers
from tfm_ui.lenses.masks.leaks.measured import all_of, plan_of
from tfm_ui.lenses.masks.leaks.moved_outputs import Leaks
from tfm_ui.lenses.masks.masked_passes import other_mask
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def _not_run(model: ModelState, state: MasksState) -> Note | None:
    """What is not run, if anything."""
    aside = Leaks(model, state).plan.aside
    return Note(aside) if aside else None


def running(model: ModelState, state: MasksState) -> str:
    """What is said while it is measured, where that takes a while."""
    if (exact := all_of(model, state)) and exact.is_shown(state.whole):
        return ""
    return "Changing one token after the other" if plan_of(model, state).slow else ""


VIEW = View(
    title="Leak test",
    shows=[Leaks, _not_run, *THE_BATCH, LeaksLayers, LeaksDistance],
    beside=PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("promise", more=("tries",)),
    running=running,
    never_trained=other_mask,
)
