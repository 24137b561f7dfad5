"""One pass serves all layers and heads: each layer's queries and keys are kept, and a head is computed when it is seen.

All weights of 8 layers x 16 heads on 1,024 tokens are 537 MB, and nobody looks at more than one head's at once. Queries
and keys are 17 MB at most, and the library's own functions make of them what the model made: to the last digit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional, attention_scores, attention_weights, mask_scores
from tfm_ui.live import windows


@dataclass(frozen=True)
class Origin:
    """What one layer's weights were made of.

    Attributes:
        query, key: (1, head, seq, head_dim); where the positional scheme turns them, turned.
        positional: the scheme that acts in this attention, if one may.
    """

    query: Tensor
    key: Tensor
    positional: Positional | None

    def bias(self, head: int) -> Tensor | None:
        """(query, key), what the positional scheme adds to the scores of a head, if it adds something."""
        if self.positional is None or "bias_at" not in self.positional.enters():
            return None
        keys = self.key.shape[-2]  # of one head, and by distance: all of a long text's pairs take much longer
        with torch.no_grad():
            biases = self.positional.bias_at(torch.arange(1 - keys, keys))
        assert biases is not None
        return windows.by_distance(biases[head].to(self.query))(slice(0, keys), slice(0, keys))

    def scores(self, head: int, *, scale: float | None = None, rows: slice = slice(None)) -> Tensor:
        """What the softmax of a head is taken of, before the mask: (rows, key); `scale` as in `attention_scores`."""
        part = slice(head, head + 1)  # the batch and head axes stay: without them the last digit may be another
        bias = self.bias(head)
        bias = None if bias is None else bias[rows]
        with torch.no_grad():
            return attention_scores(self.query[:, part, rows], self.key[:, part], scale=scale, bias=bias)[0, 0]


@dataclass(frozen=True)
class Heads:
    """All heads of one kind of attention in one pass.

    Attributes:
        origins: what each layer's weights were made of.
        visible: boolean (query, key), False where a mask forbids to look; alike in all layers and heads.
    """

    origins: Sequence[Origin]
    visible: NDArray[np.bool_]

    def exact(self, layer: int, head: int) -> NDArray[np.float32]:
        """The weights of one head, (query, key); layer and head from 0."""
        return self.with_scores(layer, head)[0]

    def scores(self, layer: int, head: int) -> Tensor:
        """What the softmax of this head is taken of, before the mask, (query, key)."""
        return self.origins[layer].scores(head)

    def with_scores(self, layer: int, head: int) -> tuple[NDArray[np.float32], Tensor]:
        """The weights of one head and its scores before the mask, both (query, key)."""
        scores, mask = self.scores(layer, head), torch.from_numpy(self.visible)
        return attention_weights(mask_scores(scores, mask), mask).numpy(), scores


def sites(place: str) -> list[str]:
    """What a recording must keep for `origins`.

    Args:
        place: the recording's name of an attention, with `{layer}` and `{what}` to be put in.
    """
    return [place.format(layer="*", what=what) for what in ("*query", "*key")]


def origins(
    trace: Mapping[str, Tensor], place: str, layers: int, positional: Positional | None, item: int = 0
) -> list[Origin]:
    """What each layer's weights were made of, from a recording of `sites`.

    Args:
        trace: of one pass.
        place: as for `sites`.
        layers: how many there are.
        positional: the scheme that acts in this attention, if one may.
        item: which sequence of the batch.
    """
    kept = dict(trace)

    def turned(layer: int, what: str) -> Tensor:
        plain = place.format(layer=layer, what=what)
        tensor = kept.get(place.format(layer=layer, what=f"rotated_{what}"), kept[plain])
        # Of a batch a copy: a part of it would keep all of it alive.
        return tensor[item : item + 1].clone() if len(tensor) > 1 else tensor

    return [Origin(turned(layer, "query"), turned(layer, "key"), positional) for layer in range(layers)]
