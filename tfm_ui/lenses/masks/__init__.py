"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from tfm_ui.lenses.masks.controls import mask_and
from tfm_ui.lenses.masks.conventions import panels as conventions
from tfm_ui.lenses.masks.conventions.layout import layout
from tfm_ui.lenses.masks.conventions.pictures import PICTURES as OF_CONVENTIONS
from tfm_ui.lenses.masks.leaks import panels as leaks
from tfm_ui.lenses.masks.leaks.pictures import PICTURES as OF_LEAKS
from tfm_ui.lenses.masks.padding import panels as padding
from tfm_ui.lenses.masks.padding.empty_row_pictures import PICTURES as OF_EMPTY_ROWS
from tfm_ui.lenses.masks.padding.pictures import PICTURES as OF_PADDING
from tfm_ui.lenses.masks.pictures import PICTURES
from tfm_ui.lenses.masks.presets import PRESETS
from tfm_ui.lenses.masks.see import panels as see
from tfm_ui.lenses.masks.see.pictures import PICTURES as OF_SEE
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import Lens, View

LENS = Lens(
    name="masks",
    title="Masks",
    state=MasksState,
    views={
        "see": View(blocks=see.blocks, controls=mask_and("layer", "head")),
        "leaks": View(blocks=leaks.blocks, controls=mask_and("promise", "tries"), running=leaks.running),
        "padding": View(
            blocks=padding.blocks, controls=mask_and("layer", "head", "pad_side", "row"), running=padding.running
        ),
        "conventions": View(blocks=conventions.blocks, layout=layout, running=conventions.running),
    },
    presets=PRESETS,
    pictures=PICTURES | OF_SEE | OF_LEAKS | OF_PADDING | OF_EMPTY_ROWS | OF_CONVENTIONS,
)
