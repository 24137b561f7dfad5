"""Attention weights as other programs hand them over, made up by NumPy, and the model's state that shows them."""

import io

import numpy as np
from numpy.typing import NDArray

from tfm_core.study.attention_arrays import AttentionArray, as_attention
from tfm_ui.state import array_files, arrays
from tfm_ui.state.model_state import ModelState

Weights = NDArray[np.float32]


def softmaxed(*shape: int, causal: bool = False, seed: int = 0) -> Weights:
    """Random weights whose rows sum to 1, up to (layer, batch, head, query, key)."""
    scores = 2 * np.random.default_rng(seed).normal(size=shape)
    if causal:
        scores = np.where(np.tri(shape[-1], dtype=bool), scores, -np.inf)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return (shares / shares.sum(-1, keepdims=True)).astype(np.float32)


def given(weights: Weights | AttentionArray, tokens: list[str] | None = None, *, item: int = 0) -> ModelState:
    """The state whose link names these weights, which are kept in the store."""
    attention = weights if isinstance(weights, AttentionArray) else as_attention(weights, tokens or ())
    return ModelState(weights=arrays.name_of(array_files.keep(attention, "attentions.npy", "Ada"), item))


def npy(values: NDArray[np.generic]) -> bytes:
    """The file that np.save writes."""
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()
