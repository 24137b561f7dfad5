"""Queries and keys of one pass, which the cache keeps in place of the weights; a head's weights come from them.

All weights of 8 layers x 16 heads on 1,024 tokens take 537 MB, and nobody looks at more than one head at a time.
Queries and keys take at most 17 MB, and tfm_core computes the same weights from them, to the last digit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional, attention_scores, attention_weights, mask_scores
from tfm_core.model.attention import for_each_head
from tfm_core.model.scaled_dot_product import weights_alone
from tfm_ui.live import tables
from tfm_ui.state.pass_cost import AT_ONCE


@dataclass(frozen=True)
class Origin:
    """The queries and keys from which one layer's weights were computed.

    Attributes:
        query, key: (1, head, seq, head_dim), after the rotation of a rotary positional scheme; where heads share keys,
            each has them here.
        positional: the positional scheme of this attention; None in cross-attention.
    """

    query: Tensor
    key: Tensor
    positional: Positional | None

    def bias(self, head: int) -> Tensor | None:
        """What the positional scheme adds to the scores of a head, (query, key); None if it adds nothing."""
        biases, keys = self._biases(), self.key.shape[-2]
        return None if biases is None else tables.by_distance(biases[head])(slice(0, keys), slice(0, keys))

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return self.query.shape[1]

    def _biases(self) -> Tensor | None:
        """What is added at each distance, (head, distance), of which the pairs of a head are made."""
        if self.positional is None or "bias_at" not in self.positional.enters():
            return None
        keys = self.key.shape[-2]
        with torch.no_grad():
            biases = self.positional.bias_at(torch.arange(1 - keys, keys))
        assert biases is not None
        return biases.to(self.query)

    def scores(self, head: int, *, scale: float | None = None, rows: slice = slice(None)) -> Tensor:
        """The scores of a head before the mask, (rows, key); `scale` as in `attention_scores`."""
        part = slice(head, head + 1)  # keeps the batch and head axes: without them the last digit may differ
        bias = self.bias(head)
        bias = None if bias is None else bias[rows]
        with torch.no_grad():
            return attention_scores(self.query[:, part, rows], self.key[:, part], scale=scale, bias=bias)[0, 0]

    def weights(self, visible: Tensor) -> Iterator[Tensor]:
        """The weights of all heads in their order, a few heads at a time, (some heads, query, key).

        Args:
            visible: boolean (query, key), False where masked.
        """
        queries, keys = visible.shape
        biases, step = self._biases(), max(1, AT_ONCE // visible.numel())
        for first in range(0, self.query.shape[1], step):
            part = slice(first, first + step)
            bias = None
            if biases is not None:
                pairs = [tables.by_distance(each)(slice(0, queries), slice(0, keys)) for each in biases[part]]
                bias = torch.stack(pairs)[None]
            with torch.no_grad():
                yield weights_alone(self.query[:, part], self.key[:, part], visible, bias=bias)[0]

    def row(self, query: int, visible: Tensor) -> Tensor:
        """The weights of one query in all heads, (head, key).

        Args:
            query: the row, from 0.
            visible: boolean (query, key), False where masked.
        """
        here, biases, bias = slice(query, query + 1), self._biases(), None
        if biases is not None:
            keys = slice(0, self.key.shape[-2])
            bias = torch.stack([tables.by_distance(each)(here, keys) for each in biases])[None]
        with torch.no_grad():
            return weights_alone(self.query[:, :, here], self.key, visible[here], bias=bias)[0, :, 0]


@dataclass(frozen=True)
class Heads:
    """All heads of one kind of attention in one pass.

    Attributes:
        origins: each layer's queries and keys.
        visible: boolean (query, key), False where masked; the same in all layers and heads.
    """

    origins: Sequence[Origin]
    visible: NDArray[np.bool_]

    @property
    def heads(self) -> int:
        """How many heads a layer has."""
        return self.origins[0].heads

    def exact(self, layer: int, head: int) -> NDArray[np.float32]:
        """The exact weights of one head, (query, key); layer and head from 0."""
        return self.with_scores(layer, head)[0]

    def scores(self, layer: int, head: int) -> Tensor:
        """The scores of one head before the mask, (query, key)."""
        return self.origins[layer].scores(head)

    def with_scores(self, layer: int, head: int) -> tuple[NDArray[np.float32], Tensor]:
        """The weights of one head and its scores before the mask, both (query, key)."""
        scores, mask = self.scores(layer, head), torch.from_numpy(self.visible)
        return attention_weights(mask_scores(scores, mask), mask).numpy(), scores

    def rows(self, query: int) -> NDArray[np.float32]:
        """The weights of one query, from 0, in all heads, (layer, head, key): of a long text far less than all."""
        visible = torch.from_numpy(self.visible)
        return np.stack([origin.row(query, visible).numpy() for origin in self.origins])


def sites(place: str) -> list[str]:
    """The sites that a recording must keep for `origins`.

    Args:
        place: the sites of an attention, with `{layer}` and `{what}` as placeholders.
    """
    return [place.format(layer="*", what=what) for what in ("*query", "*key")]


def origins(
    trace: Mapping[str, Tensor], place: str, layers: int, positional: Positional | None, item: int = 0
) -> list[Origin]:
    """Each layer's queries and keys, from a recording of `sites`.

    Args:
        trace: the recording of one pass.
        place: as for `sites`.
        layers: how many layers there are.
        positional: the positional scheme of this attention; None in cross-attention.
        item: which sequence of the batch, from 0.
    """
    kept = dict(trace)

    def turned(layer: int, what: str) -> Tensor:
        plain = place.format(layer=layer, what=what)
        tensor = kept.get(place.format(layer=layer, what=f"rotated_{what}"), kept[plain])
        # A copy, because a view of one sequence would keep the whole batch in memory.
        return tensor[item : item + 1].clone() if len(tensor) > 1 else tensor

    made = []
    for layer in range(layers):
        query = turned(layer, "query")
        made.append(Origin(query, for_each_head(turned(layer, "key"), query.shape[1]), positional))
    return made
