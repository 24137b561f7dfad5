"""What the browser draws of the Masks lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.canvas import Canvas, Content

# name -> how it is drawn, and what from
MASKS: dict[str, tuple[Canvas, Callable[..., Content]]] = {}
