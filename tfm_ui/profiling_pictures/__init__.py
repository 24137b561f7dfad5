"""What the browser draws of the Profiling lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.canvas import Canvas, Content

# name -> how it is drawn, and what from
PROFILING: dict[str, tuple[Canvas, Callable[..., Content]]] = {}
