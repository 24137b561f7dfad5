"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from tfm_ui.lenses.masks.conventions.panels import VIEW as CONVENTIONS
from tfm_ui.lenses.masks.conventions.pictures import PICTURES as CONVENTIONS_PICTURES
from tfm_ui.lenses.masks.leaks.panels import VIEW as LEAKS
from tfm_ui.lenses.masks.leaks.pictures import PICTURES as LEAKS_PICTURES
from tfm_ui.lenses.masks.padding.empty_row_pictures import PICTURES as EMPTY_ROW_PICTURES
from tfm_ui.lenses.masks.padding.panels import VIEW as PADDING
from tfm_ui.lenses.masks.padding.pictures import PICTURES as PADDING_PICTURES
from tfm_ui.lenses.masks.pictures import PICTURES as BATCH_PICTURES
from tfm_ui.lenses.masks.questions import QUESTIONS
from tfm_ui.lenses.masks.see.panels import VIEW as SEE
from tfm_ui.lenses.masks.see.pictures import PICTURES as SEE_PICTURES
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="masks",
    title="Masks",
    state=MasksState,
    views={"see": SEE, "leaks": LEAKS, "padding": PADDING, "conventions": CONVENTIONS},
    questions=QUESTIONS,
    pictures={
        **BATCH_PICTURES,
        **SEE_PICTURES,
        **LEAKS_PICTURES,
        **PADDING_PICTURES,
        **EMPTY_ROW_PICTURES,
        **CONVENTIONS_PICTURES,
    },
)
