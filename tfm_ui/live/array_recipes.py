"""Recipes for attention weights out of a file, for all lenses that show them: they read the file anew."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_core.study.attention_arrays import read_attention
from tfm_ui.state.arrays import AttentionFile


def of_file(array: AttentionFile) -> Mapping[str, Any]:
    """The file's part of the header."""
    return {"file": array.file, "item": array.item}


def head_weights(*, file: str, item: int, layer: int, head: int) -> Tensor:
    """The weights of one head, (query, key)."""
    attention = read_attention(Path(file).read_bytes(), file)
    weights = attention.weights[layer, item, head]  # (query, key)
    return weights


def layer_mean(*, file: str, item: int, layer: int) -> Tensor:
    """The mean over the heads of a layer, (query, key)."""
    attention = read_attention(Path(file).read_bytes(), file)
    weights = mean_over_heads(attention.weights[layer, item])  # (query, key)
    return weights


def layer_largest(*, file: str, item: int, layer: int) -> Tensor:
    """The largest weight that any head of a layer has there, (query, key)."""
    attention = read_attention(Path(file).read_bytes(), file)
    weights = max_over_heads(attention.weights[layer, item])  # (query, key)
    return weights


def rollout(*, file: str, item: int, layers: int) -> Tensor:
    """The rollout through the first layers, (query, key)."""
    attention = read_attention(Path(file).read_bytes(), file)
    weights = attention_rollout(attention.weights[:layers, item])  # (query, key)
    return weights
