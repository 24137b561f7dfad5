"""What the cache keeps of the attention in one pass: who may see whom, and the queries and keys of all heads.

From these, weights are computed again when they are needed (tfm_ui/live/origins.py): of one head exactly, or of all
heads, a few at a time, for a small map and a few numbers of each (`summary`), which take longer than the pass itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.study.analysis import entropy, mean_distance, peaks, weight_on_first, weight_on_previous, weight_on_self
from tfm_ui.live.origins import Heads
from tfm_ui.state.pass_cost import AT_ONCE, EXACT_UP_TO

MASKED = 255  # the byte for masked cells; smaller bytes are weights
PEAKS = torch.float32, torch.int64, torch.float32  # of a row: the largest weight, its key, the next weight
POOLED_TO = 128  # beyond that, the map has at most this many cells per side: more than a thumbnail shows

SUMMARY = {
    "entropy": entropy,
    "distance": mean_distance,
    "self": weight_on_self,
    "prev": weight_on_previous,
    "first": weight_on_first,
}


class HasWeights(Protocol):
    """What the weights of a layer's heads come from: queries and keys, or a file."""

    @property
    def heads(self) -> int:
        """How many heads there are."""
        ...

    def weights(self, visible: Tensor) -> Iterator[Tensor]:
        """The weights of all heads in their order, a few heads at a time, (some heads, query, key)."""
        ...


@dataclass(frozen=True)
class Layer:
    """What is shown of all heads of one layer.

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
class Summary:
    """A map and numbers of all heads of one kind of attention.

    Attributes:
        layers: those of each layer.
    """

    layers: Sequence[Layer]

    @cached_property
    def largest(self) -> NDArray[np.float32]:
        """Each head's largest weight, (layer, head)."""
        return np.stack([layer.largest for layer in self.layers])

    @cached_property
    def first(self) -> NDArray[np.float32]:
        """The largest weight of each row, (layer, head, query)."""
        return np.stack([layer.first for layer in self.layers])


@dataclass(frozen=True)
class Attention(Heads):
    """All heads of one kind of attention in one pass.

    Attributes:
        read: how many of the rows are tokens; the rest is padding.
        tolerance: by how much the sum of a row may differ from 1.
        shares_out_1: whether the rows sum to 1, as softmax makes them.
    """

    read: int
    tolerance: float = field(default=1e-5, kw_only=True)
    shares_out_1: bool = field(default=True, kw_only=True)

    @property
    def block(self) -> int:
        """A cell of the maps stands for block x block weights; 1 means a cell for each weight."""
        return block_of(*self.visible.shape)

    def summary(self) -> Summary:
        """A map and numbers of all heads; not kept, as it takes as long as a pass: ask `passes.summary`."""
        return Summary([summarise(origin, self.visible, self.read) for origin in self.origins])


@dataclass(frozen=True)
class GivenWeights:
    """A layer's weights as they are given.

    Attributes:
        given: float32 (head, query, key).
    """

    given: Tensor

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return len(self.given)

    def weights(self, visible: Tensor) -> Iterator[Tensor]:
        """The weights of all heads, a few heads at a time, (some heads, query, key); all that are not 0 are visible."""
        step = max(1, AT_ONCE // visible.numel())
        for first in range(0, len(self.given), step):
            yield self.given[first : first + step]


@dataclass(frozen=True)
class GivenAttention(Attention):
    """All heads whose weights are given, and no queries or keys, so that there are no scores.

    Attributes:
        layers: each layer's weights.
    """

    layers: Sequence[GivenWeights]

    @property
    def heads(self) -> int:
        """How many heads a layer has."""
        return self.layers[0].heads

    def exact(self, layer: int, head: int) -> NDArray[np.float32]:
        """The weights of one head, (query, key); layer and head from 0."""
        weights: NDArray[np.float32] = self.layers[layer].given[head].numpy()
        return weights

    def rows(self, query: int) -> NDArray[np.float32]:
        """The weights of one query, from 0, in all heads, (layer, head, key)."""
        return np.stack([layer.given[:, query].numpy() for layer in self.layers])

    def summary(self) -> Summary:
        """A map and numbers of all heads."""
        return Summary([summarise(layer, self.visible, self.read) for layer in self.layers])


def of_weights(weights: Tensor, *, is_causal: bool, tolerance: float, shares_out_1: bool) -> GivenAttention:
    """Heads of given weights.

    Args:
        weights: float32 (layer, head, query, key).
        is_causal: whether no query looks ahead.
        tolerance: by how much the sum of a row may differ from 1.
        shares_out_1: whether the rows sum to 1, but those of zeros.
    """
    length = weights.shape[-2]
    visible = torch.ones(weights.shape[-2:], dtype=torch.bool)
    # Whoever sees no key has a row of zeros, and padding may have, in all heads.
    visible = (visible.tril() if is_causal else visible) & (weights.amax((0, 1, 3)) > 0)[:, None]
    layers = [GivenWeights(layer) for layer in weights]
    return GivenAttention((), visible.numpy(), length, layers, tolerance=tolerance, shares_out_1=shares_out_1)


def block_of(queries: int, keys: int) -> int:
    """How many rows and columns of weights a cell of the map stands for."""
    longest = max(queries, keys)
    return 1 if longest <= EXACT_UP_TO else -(-longest // POOLED_TO)  # rounded up


def pooled(visible: NDArray[np.bool_], block: int) -> NDArray[np.bool_]:
    """Which cells of a map are not masked: those whose block has at least one visible pair."""
    return F.max_pool2d(torch.from_numpy(visible)[None].float(), block, ceil_mode=True)[0].numpy() > 0


def _largest_of_blocks(weights: Tensor, block: int) -> Tensor:
    """The largest weight of each block, (..., rows, columns); the last blocks may be smaller."""
    for axis in (-2, -1):  # rows first: what is left for the columns is little
        short = -weights.shape[axis] % block
        padded = F.pad(weights, (0, short) if axis == -1 else (0, 0, 0, short)) if short else weights
        weights = padded.unfold(axis, block, block).amax(-1)
    return weights


def summarise(origin: HasWeights, visible: NDArray[np.bool_], read: int) -> Layer:
    """The map and the numbers of each head of a layer; the weights are computed a few heads at a time.

    Args:
        origin: what the layer's weights come from.
        visible: boolean (query, key), False where masked.
        read: how many of the rows are tokens; the rest is padding, and left out of the summaries.
    """
    block, heads = block_of(*visible.shape), origin.heads
    shown = torch.from_numpy(pooled(visible, block))
    # Made before the weights, among which small ones would keep the memory of freed weights from the next ones.
    maps, largest = torch.empty((heads, *shown.shape), dtype=torch.uint8), torch.empty(heads)
    first, key, second = (torch.empty((heads, len(visible)), dtype=of) for of in PEAKS)
    summary = [torch.empty(heads) for _ in SUMMARY]
    done = 0
    for weights in origin.weights(torch.from_numpy(visible)):
        rows = peaks(weights)
        highest = rows.first.amax(-1).clamp_(min=1e-30)  # if all keys are masked, all weights are 0
        shares = (_largest_of_blocks(weights, block) * ((MASKED - 1) / highest)[:, None, None]).round_()
        part = slice(done, done + len(weights))
        maps[part], largest[part] = shares.masked_fill_(~shown, MASKED), highest
        first[part], key[part], second[part] = rows
        for numbers, number in zip(summary, SUMMARY.values(), strict=True):
            numbers[part] = number(weights[:, :read])
        done = part.stop
    numbers_of = {name: numbers.numpy() for name, numbers in zip(SUMMARY, summary, strict=True)}
    return Layer(maps.numpy(), largest.numpy(), first.numpy(), key.numpy(), second.numpy(), numbers_of)
