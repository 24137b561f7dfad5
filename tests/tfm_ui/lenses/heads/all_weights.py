"""The weights of all heads in one array."""

import numpy as np

from tfm_ui.lenses.heads.numbers import AllHeads


def weights_of(heads: AllHeads) -> np.ndarray:
    """(layer, head, query, key)."""
    layers, per_layer = heads.kept.largest.shape
    return np.array([[heads.head(layer, head).weights for head in range(per_layer)] for layer in range(layers)])
