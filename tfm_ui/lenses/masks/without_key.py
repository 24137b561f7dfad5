"""The view "without_key": a row that the mask leaves no key, in one layer or through the whole model.

The view "padding" shows the same two panels below what padding does to a sentence.
"""

from functools import partial

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.padding.empty_rows import READ_UP_TO, EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.padded import texts_of_batch
from tfm_ui.lenses.masks.state import EMPTY_IN, MasksState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Panel
from tfm_ui.state.model_state import ModelState


def _panel(model: ModelState, state: MasksState) -> Panel:
    """The treatments in one layer, or the whole model with each of them."""
    return EmptyRow(model, state) if state.empty_in == EMPTY_IN[0] else NanSpreads(model, state)


VIEW = View(
    title="Without a key",
    tab="padding",
    shows=[_panel, EmptyRow.note, *THE_BATCH],
    also=[EmptyRow, NanSpreads],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=partial(texts_of_batch, most=READ_UP_TO),
    controls=mask_and("empty_in", "layer", "head", more=("pad_side", "row")),
    never_trained=other_mask,
)
