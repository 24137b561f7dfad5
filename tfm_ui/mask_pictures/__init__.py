"""What the browser draws of the Masks lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.canvas import Canvas, Content
from tfm_ui.components.lines import LINES
from tfm_ui.components.maps import MAPS
from tfm_ui.mask_pictures import padding, padding_rows

# name -> how it is drawn, and what from
MASKS: dict[str, tuple[Canvas, Callable[..., Content]]] = {
    "masks_padding": (MAPS, padding.masks_padding),
    "masks_padding_weights": (MAPS, padding.masks_padding_weights),
    "masks_padding_amount": (LINES, padding.masks_padding_amount),
    "masks_empty_row": (MAPS, padding_rows.masks_empty_row),
    "masks_nan_spreads": (MAPS, padding_rows.masks_nan_spreads),
}
