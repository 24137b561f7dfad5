"""What the browser draws of the Masks lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.lenses.masks.batch import BATCH
from tfm_ui.lenses.masks.composer import COMPOSER
from tfm_ui.lenses.masks.conventions import pictures as conventions
from tfm_ui.lenses.masks.leaks import pictures as leaks
from tfm_ui.lenses.masks.padding import pictures as padding
from tfm_ui.lenses.masks.padding import row_pictures as padding_rows
from tfm_ui.lenses.masks.see import pictures as see
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.lines import LINES
from tfm_ui.pictures.maps import MAPS

# name -> how it is drawn, and what from
MASKS: dict[str, tuple[Canvas, Callable[..., Content]]] = {
    "masks_batch": (BATCH, see.masks_batch),
    "masks_composer": (COMPOSER, see.masks_composer),
    "masks_see": (MAPS, see.masks_see),
    "masks_growth": (LINES, see.masks_growth),
    "masks_leaks": (MAPS, leaks.leaks),
    "masks_leaks_layers": (MAPS, leaks.leaks_layers),
    "masks_leaks_distance": (LINES, leaks.leaks_distance),
    "masks_padding": (MAPS, padding.masks_padding),
    "masks_padding_weights": (MAPS, padding.masks_padding_weights),
    "masks_padding_amount": (LINES, padding.masks_padding_amount),
    "masks_empty_row": (MAPS, padding_rows.masks_empty_row),
    "masks_nan_spreads": (MAPS, padding_rows.masks_nan_spreads),
    "masks_ours": (MAPS, conventions.ours),
    "masks_handed": (MAPS, conventions.handed),
    "masks_pasted": (MAPS, conventions.foreign),
}
