"""Attention Lab in a notebook: look at the attention of any model, live, with the app's own pictures.

    import attention_lab

    # a model of transformers, loaded with attn_implementation="eager"
    outputs = model(**inputs, output_attentions=True)
    picture = attention_lab.heads(outputs.attentions, tokens)
    picture  # at the end of a cell; a click locks a head
    picture.head, picture.weights  # the locked one's place, its weights (query, key)
    picture.to_html()  # a page of its own, which needs no network

Each function gives a widget of anywidget, for Jupyter, VS Code, Colab and marimo. What the reader chooses in a picture
is an attribute of its widget, which Python reads and sets. `tfm_core` is the library on which all of it stands.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tfm_core.version import __version__ as __version__

if TYPE_CHECKING:
    from attention_lab.arc_pictures import Arcs, arcs
    from attention_lab.head_pictures import Heads, heads
    from attention_lab.mask_pictures import Masks, masks
    from attention_lab.picture import Picture
    from attention_lab.position_pictures import AddedPositions, BiasPositions, Positions, TurnedPositions, positions
    from attention_lab.step_pictures import Steps, steps
    from attention_lab.training_pictures import Training, training

# functions
__all__ = ["arcs", "heads", "masks", "positions", "steps", "training"]

# the widgets that they return
__all__ += [
    "AddedPositions",
    "Arcs",
    "BiasPositions",
    "Heads",
    "Masks",
    "Picture",
    "Positions",
    "Steps",
    "Training",
    "TurnedPositions",
]

PLACES = {
    "arc_pictures": ("arcs", "Arcs"),
    "head_pictures": ("heads", "Heads"),
    "mask_pictures": ("masks", "Masks"),
    "picture": ("Picture",),
    "position_pictures": ("positions", "Positions", "AddedPositions", "TurnedPositions", "BiasPositions"),
    "step_pictures": ("steps", "Steps"),
    "training_pictures": ("training", "Training"),
}  # module -> what is promised of it; each module is imported when something of it is asked for
MODULES = {name: module for module, names in PLACES.items() for name in names}


if not TYPE_CHECKING:  # type checkers know the names, and tell of others

    def __getattr__(name: str) -> object:
        """A public name, imported when it is first asked for."""
        if name not in MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        thing = globals()[name] = getattr(import_module(f"{__name__}.{MODULES[name]}"), name)
        return thing

    def __dir__() -> list[str]:
        """All public names, whether they have been imported or not."""
        return sorted({*globals(), *__all__})
