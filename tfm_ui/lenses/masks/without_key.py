"""The view "without_key": a row that the mask leaves no key, in one layer or through the whole model.

from collections.abc import Mapping

The view "padding" shows the same two panels below what padding does to a sentence.
"""

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.state import EMPTY_IN, MasksState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.model_state import ModelState

PANELS: Mapping[str, type[EmptyRow] | type[NanSpreads]] = dict(zip(EMPTY_IN, (EmptyRow, NanSpreads), strict=True))


def _panel(model: ModelState, state: MasksState) -> Panel:
    """The treatments in one layer, or the whole model with each of them."""
    return PANELS[state.empty_in](model, state)


VIEW = View(
    title="Without a key",
    tab="padding",
    shows=[_panel, EmptyRow.note, *THE_BATCH],
    also=[*PANELS.values()],
    beside=PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("empty_in", "layer", "head", more=("pad_side", "row")),
    never_trained=other_mask,
)
