"""What the browser draws of the Masks lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.canvas import Canvas, Content
from tfm_ui.components.maps import MAPS
from tfm_ui.mask_pictures import conventions

# name -> how it is drawn, and what from
MASKS: dict[str, tuple[Canvas, Callable[..., Content]]] = {
    "masks_ours": (MAPS, conventions.ours),
    "masks_handed": (MAPS, conventions.handed),
    "masks_pasted": (MAPS, conventions.foreign),
}
