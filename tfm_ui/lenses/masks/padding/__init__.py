"""The view "padding": a sentence alone and in its batch; a row without a key, and how its NaN spreads."""

from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead
from tfm_ui.lenses.masks.padding.amount import PaddingAmount
from tfm_ui.lenses.masks.padding.beside import Padding, PaddingWeights
from tfm_ui.lenses.masks.padding.empty_rows import EmptyRow, NanSpreads
from tfm_ui.lenses.masks.padding.padded import texts_of_batch
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Columns
from tfm_ui.state.model_state import ModelState


def _running(model: ModelState, state: MasksState) -> str:
    """What is said while the batch is run."""
    return "Running the batch"


VIEW = View(
    title="Padding",
    exercise="padding-mask",
    shows=[
        Padding,
        *(Padding.note, EmptyRow.note, *THE_BATCH),
        Columns([[PaddingAmount], [PaddingWeights]], widths=(7, 13)),
        *(EmptyRow, NanSpreads),
    ],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=texts_of_batch,
    controls=mask_and("layer", "head", more=("pad_side", "row")),
    running=_running,
    never_trained=other_mask,
)
