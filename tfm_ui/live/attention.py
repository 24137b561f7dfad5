"""What the cache keeps of the attention in one pass: a small map and a few numbers for each head.

While the model runs, `summarise` reads each layer's weights, which are then dropped. The exact weights of a head are
computed again from its queries and keys when they are needed (tfm_ui/live/origins.py).
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
from tfm_ui.state.pass_cost import AT_ONCE, EXACT_UP_TO

MASKED = 255  # the byte for masked cells; smaller bytes are weights
POOLED_TO = 128  # beyond that, the map has at most this many cells per side: more than a thumbnail shows

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
        maps: uint8 (head, rows, columns), the largest weight of each block: 0 to 254 as a share of the head's largest.
        largest: float32 (head), the largest weight.
        first, key, second: (head, query), the peaks of each row, see `Peaks`.
        summary: name -> float32 (head), see `SUMMARY`; rows of padding are left out.
    """

    maps: NDArray[np.uint8]
    largest: NDArray[np.float32]
    first: NDArray[np.float32]
    key: NDArray[np.intp]
    second: NDArray[np.float32]
    summary: Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Attention(Heads):
    """All heads of one kind of attention in one pass, with their maps and numbers.

    Attributes:
        layers: the maps and numbers of each layer.
        read: how many of the rows are tokens; the rest is padding.
        block: a cell of the maps stands for block x block weights; 1 means a cell for each weight.
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
    """How many rows and columns of weights a cell of the map stands for."""
    longest = max(queries, keys)
    return 1 if longest <= EXACT_UP_TO else -(-longest // POOLED_TO)  # rounded up


def pooled(visible: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Which cells of a map are not masked: those whose block has at least one visible pair."""
    return F.max_pool2d(torch.from_numpy(visible)[None].float(), block, ceil_mode=True)[0].numpy() > 0


def summarise(weights: Tensor, visible: NDArray[np.bool_], read: int) -> Layer:
    """The maps and numbers of one layer's weights, (1, head, query, key), computed a few heads at a time."""
    queries, keys = weights.shape[-2:]
    block = block_of(queries, keys)
    shown = torch.from_numpy(pooled(visible, block))
    parts = []
    for heads in torch.split(weights[0], max(1, AT_ONCE // (queries * keys))):
        rows = peaks(heads)
        highest = rows.first.amax(-1).clamp_(min=1e-30)  # if all keys are masked, all weights are 0
        pools = F.max_pool2d(heads, block, ceil_mode=True) if block > 1 else heads
        shares = (pools * ((MASKED - 1) / highest)[:, None, None]).round_()
        cells = shares.masked_fill_(~shown, MASKED).to(torch.uint8)
        parts.append((cells, highest, *rows, *(number(heads[:, :read]) for number in SUMMARY.values())))
    maps, largest, first, key, second, *summary = (torch.cat(same).numpy() for same in zip(*parts, strict=True))
    return Layer(maps, largest, first, key, second, dict(zip(SUMMARY, summary, strict=True)))


class Reader:
    """Collects an `Attention` while the model runs: pass `watches` to the recording of one pass.

    Args:
        read: how many of the query rows are tokens.
    """

    def __init__(self, read: int) -> None:
        self._read = read
        self._layers: list[Layer] = []
        self._mask: Tensor | None = None  # of the layer that is running
        self._visible: NDArray[np.bool_] | None = None

    def watches(self, place: str) -> dict[str, Watch]:
        """The sites to watch -> the functions to call; `place` is as in `origins.sites`."""
        return {
            place.format(layer="*", what="mask"): self._remember_mask,
            place.format(layer="*", what="weights"): self._summarise_weights,
        }

    def _remember_mask(self, _: str, mask: Tensor) -> None:
        self._mask = mask

    def _summarise_weights(self, _: str, weights: Tensor) -> None:
        if self._visible is None:
            assert self._mask is not None
            self._visible = self._mask.expand(weights.shape)[0, 0].contiguous().numpy()
        self._layers.append(summarise(weights, self._visible, self._read))

    def attention(self, origins: Sequence[Origin]) -> Attention:
        """The result, with these queries and keys. To be called after the model has run."""
        assert self._visible is not None
        return Attention(origins, self._visible, self._layers, self._read, block_of(*self._visible.shape))
