"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from tfm_ui.lenses.masks.conventions import VIEW as CONVENTIONS
from tfm_ui.lenses.masks.leaks import VIEW as LEAKS
from tfm_ui.lenses.masks.padding import VIEW as PADDING
from tfm_ui.lenses.masks.questions import QUESTIONS
from tfm_ui.lenses.masks.see import VIEW as SEE
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="masks",
    title="Masks",
    state=MasksState,
    views={"see": SEE, "leaks": LEAKS, "padding": PADDING, "conventions": CONVENTIONS},
    questions=QUESTIONS,
)
