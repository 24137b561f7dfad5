"""The weights behind the arcs: a layer's heads or an aggregate of them, and of a long text the largest of each row."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_ui.live import passes
from tfm_ui.live.attention import Attention
from tfm_ui.live.cache import cached
from tfm_ui.state.model_state import ModelState

ALL_UP_TO = 96  # with up to this many keys, all weights are sent to the browser
MASKED = -1.0
LARGEST = 32  # with more keys, only the largest of each row are sent, this many


@dataclass(frozen=True)
class Lines:
    """The weights to be drawn, of each map the largest of each row, falling.

    Attributes:
        keys: uint16 (map, query, kept), where they stand.
        weights: float32 (map, query, kept); MASKED where the query may not look.
        rest: float32 (map, query), what the weights that are not among them sum to.
        error: how far a row's sum is from what it must be, at most; 0 where no law binds it.
    """

    keys: NDArray[np.uint16]
    weights: NDArray[np.float32]
    rest: NDArray[np.float32]
    error: float


def maps(attention: Attention, layer: int, how: str) -> Iterator[NDArray[np.float32]]:
    """The maps, one at a time, float32 (query, key): 16 heads of 1,024 tokens are 67 MB together.

    Args:
        attention: what they are made of.
        layer: from 0; the rollout goes from the first layer to this.
        how: "heads", "mean", "max" or "rollout".
    """

    def heads_of(layer: int) -> torch.Tensor:
        return torch.from_numpy(np.stack(list(maps(attention, layer, "heads"))))

    if how == "heads":
        yield from (attention.exact(layer, head) for head in range(attention.heads))
    elif how == "rollout":
        yield attention_rollout(heads_of(before) for before in range(layer + 1)).numpy()
    else:
        yield {"mean": mean_over_heads, "max": max_over_heads}[how](heads_of(layer)).numpy()


def sums_to_one(how: str) -> bool:
    """Whether the rows that may see something must sum to 1."""
    return how != "max"


def lines_of(maps: Iterable[NDArray[np.float32]], visible: NDArray[np.bool_], how: str) -> Lines:
    """What is drawn of these maps; visible, boolean (query, key): where the mask lets look."""
    count = visible.shape[-1] if visible.shape[-1] <= ALL_UP_TO else LARGEST
    # A rollout's row that may see nothing keeps itself.
    due = np.ones(len(visible)) if how == "rollout" else visible.any(-1)
    keys, weights, rests, error = [], [], [], 0.0
    for whole in maps:
        sums = whole.sum(-1, dtype=np.float64)
        error = max(error, float(np.abs(sums - due).max()) if sums_to_one(how) else 0.0)
        marked = np.where(visible | (whole > 0), whole, np.float32(MASKED))
        values, at = (tensor.numpy() for tensor in torch.from_numpy(marked).topk(count))
        rest = sums - np.maximum(values, 0).sum(-1, dtype=np.float64)
        keys.append(at.astype(np.uint16))
        weights.append(values)
        rests.append(np.maximum(rest, 0).astype(np.float32) * (count < visible.shape[-1]))
    return Lines(np.stack(keys), np.stack(weights), np.stack(rests), error)


@cached()
def lines(model: ModelState, kind: str, layer: int, how: str) -> Lines:
    """The weights to be drawn of one layer of a model.

    Args:
        model: the model, and the texts that it reads.
        kind: as in `Pass.attention`.
        layer: from 0.
        how: "heads", "mean", "max" or "rollout".
    """
    attention = passes.run(model).attention[kind]
    return lines_of(maps(attention, layer, how), attention.visible, how)
