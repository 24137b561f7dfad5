"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from tfm_ui.lenses.masks import pictures
from tfm_ui.lenses.masks.conventions import panels as conventions
from tfm_ui.lenses.masks.conventions import pictures as conventions_pictures
from tfm_ui.lenses.masks.leaks import panels as leaks
from tfm_ui.lenses.masks.leaks import pictures as leaks_pictures
from tfm_ui.lenses.masks.padding import empty_row_pictures
from tfm_ui.lenses.masks.padding import panels as padding
from tfm_ui.lenses.masks.padding import pictures as padding_pictures
from tfm_ui.lenses.masks.presets import PRESETS
from tfm_ui.lenses.masks.see import panels as see
from tfm_ui.lenses.masks.see import pictures as see_pictures
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="masks",
    title="Masks",
    state=MasksState,
    views={"see": see.VIEW, "leaks": leaks.VIEW, "padding": padding.VIEW, "conventions": conventions.VIEW},
    presets=PRESETS,
    pictures={
        **pictures.PICTURES,
        **see_pictures.PICTURES,
        **leaks_pictures.PICTURES,
        **padding_pictures.PICTURES,
        **empty_row_pictures.PICTURES,
        **conventions_pictures.PICTURES,
    },
)
