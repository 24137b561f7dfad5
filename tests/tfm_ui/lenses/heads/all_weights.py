"""The heads of a model as the lens shows them, and the weights of all of them in one array."""

import numpy as np

from tfm_ui.lenses.heads.panels import Head, Heads, HeadsPanel
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState


def heads_of(model: ModelState, kind: str = "encoder", **state: object) -> Heads:
    """All heads of one kind of attention."""
    return Heads(model, HeadsState(kind=kind, **state))


def head_of(model: ModelState, kind: str, layer: int, head: int) -> Head:
    """One head, large; layer and head from 0."""
    return Head(model, HeadsState(kind=kind, layer=layer + 1, head=head + 1))


def weights_of(heads: HeadsPanel) -> np.ndarray:
    """(layer, head, query, key)."""
    weights = np.array([heads.attention.exact(*place) for place in heads.places])
    return weights.reshape(*heads.kept.largest.shape, *weights.shape[1:])
