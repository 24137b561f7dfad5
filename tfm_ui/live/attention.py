"""What is kept of the attention of one pass: a small map per head, numbers per head, and what makes any head exact.

Each layer's weights are read as the model passes them (`summarise`) and let go; a head's are computed anew from its
queries and keys (tfm_ui/live/origins.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.model.recording import Watch
from tfm_core.study.analysis import entropy, mean_distance, peaks, weight_on_first, weight_on_previous, weight_on_self
from tfm_ui.live.origins import Heads, Origin

MASKED = 255  # the byte that is no weight
EXACT_UP_TO = 256  # tokens up to which the map has a byte per cell
POOLED_TO = 128  # beyond, its cells per side at most: more than a thumbnail shows
AT_ONCE = 2**22  # numbers summarised at a time: what the processor's cache holds

SUMMARY = {
    "entropy": entropy,
    "distance": mean_distance,
    "self": weight_on_self,
    "prev": weight_on_previous,
    "first": weight_on_first,
}


@dataclass(frozen=True)
class Layer:
    """One layer of an `Attention`.

    Attributes:
        maps: uint8 (head, rows, columns): 0 to 254 is a share of the head's largest weight; the largest of each block.
        largest: float32 (head), the largest weight.
        first, key, second: of each row (head, query), see `Peaks`.
        summary: name -> float32 (head), see `SUMMARY`; over rows that are no padding.
    """

    maps: NDArray[np.uint8]
    largest: NDArray[np.float32]
    first: NDArray[np.float32]
    key: NDArray[np.intp]
    second: NDArray[np.float32]
    summary: Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Attention(Heads):
    """All heads of one kind of attention in one pass, and what is kept of each.

    Attributes:
        layers: what is kept of each layer.
        read: how many of the rows are tokens; the rest is padding.
        block: a cell of the maps stands for block x block weights; 1 if each has its own.
    """

    layers: Sequence[Layer]
    read: int
    block: int

    @cached_property
    def largest(self) -> NDArray[np.float32]:
        """Each head's largest weight, (layer, head)."""
        return np.stack([layer.largest for layer in self.layers])

    @cached_property
    def first(self) -> NDArray[np.float32]:
        """The largest weight of each row, (layer, head, query)."""
        return np.stack([layer.first for layer in self.layers])


def block_of(queries: int, keys: int) -> int:
    """How many weights a side of a map's cell stands for."""
    longest = max(queries, keys)
    return 1 if longest <= EXACT_UP_TO else -(-longest // POOLED_TO)  # rounded up


def pooled(visible: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Which cells of a map hold a weight: those with any visible pair in their block."""
    return F.max_pool2d(torch.from_numpy(visible)[None].float(), block, ceil_mode=True)[0].numpy() > 0


def summarise(weights: Tensor, visible: NDArray[np.bool_], read: int) -> Layer:
    """Take from one layer's weights, (1, head, query, key), what is kept of them; a few heads at a time."""
    queries, keys = weights.shape[-2:]
    block = block_of(queries, keys)
    shown = torch.from_numpy(pooled(visible, block))
    parts = []
    for heads in torch.split(weights[0], max(1, AT_ONCE // (queries * keys))):
        rows = peaks(heads)
        highest = rows.first.amax(-1).clamp_(min=1e-30)  # a head that may see nothing has zeros alone
        pools = F.max_pool2d(heads, block, ceil_mode=True) if block > 1 else heads
        shares = (pools * ((MASKED - 1) / highest)[:, None, None]).round_()
        cells = shares.masked_fill_(~shown, MASKED).to(torch.uint8)
        parts.append((cells, highest, *rows, *(number(heads[:, :read]) for number in SUMMARY.values())))
    maps, largest, first, key, second, *summary = (torch.cat(same).numpy() for same in zip(*parts, strict=True))
    return Layer(maps, largest, first, key, second, dict(zip(SUMMARY, summary, strict=True)))


class Reader:
    """Makes an `Attention` out of what passes by: hand `watches` to the recording of one pass.

    Args:
        read: how many of the query rows are tokens.
    """

    def __init__(self, read: int) -> None:
        self._read = read
        self._layers: list[Layer] = []
        self._mask: Tensor | None = None  # of the layer that the model is in
        self._visible: NDArray[np.bool_] | None = None

    def watches(self, place: str) -> dict[str, Watch]:
        """Sites to watch; `place` names an attention, with `{layer}` and `{what}` to be put in."""
        return {
            place.format(layer="*", what="mask"): self._hold,
            place.format(layer="*", what="weights"): self._take,
        }

    def _hold(self, _: str, mask: Tensor) -> None:
        self._mask = mask

    def _take(self, _: str, weights: Tensor) -> None:
        if self._visible is None:
            assert self._mask is not None
            self._visible = self._mask.expand(weights.shape)[0, 0].contiguous().numpy()
        self._layers.append(summarise(weights, self._visible, self._read))

    def attention(self, origins: Sequence[Origin]) -> Attention:
        """What was seen, of weights that were made of these; only after the model has run."""
        assert self._visible is not None
        return Attention(origins, self._visible, self._layers, self._read, block_of(*self._visible.shape))


def bytes_needed(heads: int, queries: int, keys: int, *, bias: bool) -> int:
    """The most memory that a pass needs at a time, beside its model: for one layer's scores and what they become.

    Args:
        heads: of that layer.
        queries: its rows.
        keys: its columns.
        bias: whether the positional scheme adds one to the scores.
    """
    matrices = 3 if bias else 2
    return 4 * (matrices * heads * queries * keys + 3 * AT_ONCE)
