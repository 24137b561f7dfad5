"""The view "padding": a sentence alone and in its batch; a row without a key, and how its NaN spreads."""

from collections.abc import Sequence
from dataclasses import replace

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.padding.amount import PaddingAmount
from tfm_ui.lenses.masks.padding.beside import Padding, PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.padded import batch_of
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import View, texts_of
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_row import Text


def _running(model: ModelState, state: MasksState) -> str:
    """What is said while the batch is run."""
    return "Running the batch"


def _read(model: ModelState, state: MasksState) -> Sequence[Text]:
    """The sentence on screen, with its padding on the side where it stands."""
    batch = batch_of(model, state)
    source, *target = texts_of(batch.setting.model, state)
    return [replace(source, padded_before=batch.side == "left"), *target]


VIEW = View(
    title="Padding",
    shows=[
        Padding,
        *(Padding.note, EmptyRow.note, *THE_BATCH),
        Columns([[PaddingAmount], [PaddingWeights]], widths=(7, 13)),
        *(EmptyRow, NanSpreads),
    ],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=_read,
    controls=mask_and("layer", "head", more=("pad_side", "row")),
    running=_running,
    never_trained=other_mask,
)
