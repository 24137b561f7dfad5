"""Attention Lab in a notebook: look at the attention of any model, live, with the app's own pictures.

    import attention_lab

    outputs = model(**inputs, output_attentions=True)  # of transformers, loaded with attn_implementation="eager"
    picture = attention_lab.heads(outputs.attentions, tokens)
    picture  # at the end of a cell; a click locks a head
    picture.head, picture.weights  # what is locked: layer and head, and its weights (query, key)
    picture.to_html()  # a page of its own, which needs no network

Each function gives a widget of anywidget, for Jupyter, VS Code, Colab and marimo. `tfm_core` is the library on which
all of it stands.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfm_core.version import __version__ as __version__

if TYPE_CHECKING:
    from attention_lab.arc_pictures import arcs as arcs
    from attention_lab.head_pictures import heads as heads
    from attention_lab.mask_pictures import masks as masks
    from attention_lab.position_pictures import positions as positions
    from attention_lab.step_pictures import steps as steps
    from attention_lab.training_pictures import training as training

PLACES = {
    "heads": "head_pictures",
    "arcs": "arc_pictures",
    "masks": "mask_pictures",
    "steps": "step_pictures",
    "training": "training_pictures",
    "positions": "position_pictures",
}  # what is promised -> the module that has it; each is imported when it is asked for

__all__ = ["arcs", "heads", "masks", "positions", "steps", "training"]


def __getattr__(name: str) -> Any:
    if name in PLACES:
        return getattr(import_module(f"attention_lab.{PLACES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
