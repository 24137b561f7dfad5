"""How a fused kernel computes attention: tile by tile, with a running maximum and a running sum for each query.

For each tile of keys, with the scores s of the tile, and the maximum m, the sum l and the output o of the tiles before:

    m' = max(m, max s)      factor = exp(m - m')
    l' = l factor + sum exp(s - m')
    o' = o factor + exp(s - m') value

After the last tile o / l is softmax(scores) value, although no whole row of scores was ever in memory. The running
maximum and sum: Milakov and Gimelshein 2018, algorithm 3; with the output: Dao et al. 2022, "FlashAttention",
algorithm 1.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.masks.basic import check_mask
from tfm_core.model.scaled_dot_product import attention_scores, mask_scores


@dataclass(frozen=True)
class Tile:
    """One step of the computation, and what is held after it.

    Attributes:
        queries, keys: which rows and which columns of the scores the tile has.
        scores: (rows, columns), -inf where a pair may not attend.
        factor: (rows, 1), by which the sum and the output of the tiles before are multiplied.
        maximum: (rows, 1), the largest score so far; -inf while a query has seen nothing.
        total: (rows, 1), the sum of exp(score - maximum) so far.
        output: (rows, value_dim), the sum of exp(score - maximum) value so far; divide it by `total`.

    Examples:
        >>> import torch
        >>> from tfm_core import tiles
        >>> steps = list(tiles(torch.ones(4, 8), torch.ones(6, 8), torch.ones(6, 2), rows=2, columns=3))
        >>> len(steps), steps[0].scores.shape, steps[1].total.flatten().tolist()
        (4, torch.Size([2, 3]), [6.0, 6.0])
    """

    queries: slice
    keys: slice
    scores: Tensor
    factor: Tensor
    maximum: Tensor
    total: Tensor
    output: Tensor

    @property
    def result(self) -> Tensor:
        """The attention over the keys so far, (rows, value_dim): zeros for a query that has seen nothing."""
        return torch.where(self.total > 0, self.output / self.total, 0.0)


def tiles(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    rows: int,
    columns: int,
    scale: float | None = None,
) -> Iterator[Tile]:
    """The steps of one head's attention: for each tile of queries all tiles of keys, from left to right.

    Args:
        query: (query, head_dim).
        key: (key, head_dim).
        value: (key, value_dim).
        mask: boolean, True = may attend, broadcasts to (query, key).
        rows: queries in a tile.
        columns: keys in a tile.
        scale: factor on the dot products, 1 / sqrt(head_dim) by default.

    Raises:
        ValueError: for tensors of other than two axes or lengths that do not fit, a mask that does not, or a tile of
            less than one row or column.

    Examples:
        >>> import torch
        >>> from tfm_core import tiles
        >>> steps = list(tiles(torch.ones(4, 8), torch.ones(6, 8), torch.ones(6, 2), rows=2, columns=3))
        >>> [(step.queries.start, step.keys.start) for step in steps]
        [(0, 0), (0, 3), (2, 0), (2, 3)]
    """
    _check(query, key, value, rows, columns)
    if mask is not None:
        check_mask(mask, (len(query), len(key)))
        mask = mask.expand(len(query), len(key))
    for top in range(0, len(query), rows):
        queries = slice(top, min(top + rows, len(query)))
        maximum = query.new_full((queries.stop - top, 1), -math.inf)
        total = query.new_zeros(maximum.shape)
        output = query.new_zeros(len(maximum), value.shape[-1])
        for left in range(0, len(key), columns):
            keys = slice(left, min(left + columns, len(key)))
            scores = attention_scores(query[queries], key[keys], scale=scale)
            scores = mask_scores(scores, None if mask is None else mask[queries, keys])
            larger = torch.maximum(maximum, scores.amax(-1, keepdim=True))
            # A query that has seen nothing has the maximum -inf, and -inf - -inf is NaN: then subtract 0 instead.
            subtracted = larger.masked_fill(larger == -math.inf, 0.0)
            factor, powers = (maximum - subtracted).exp(), (scores - subtracted).exp()
            maximum, total = larger, total * factor + powers.sum(-1, keepdim=True)
            output = output * factor + powers @ value[keys]
            yield Tile(queries, keys, scores, factor, maximum, total, output)


def tiled_attention(steps: Iterable[Tile]) -> Tensor:
    """The attention that these `tiles` end in, (query, value_dim): that of F.scaled_dot_product_attention.

    Examples:
        >>> import torch
        >>> from tfm_core import scaled_dot_product_attention, tiled_attention, tiles
        >>> query, key, value = torch.randn(3, 6, 4, generator=torch.Generator().manual_seed(0))
        >>> tiled = tiled_attention(tiles(query, key, value, rows=2, columns=3))
        >>> torch.allclose(tiled, scaled_dot_product_attention(query, key, value)[0], atol=1e-5)
        True
    """
    last = {step.queries.start: step for step in steps}  # of each tile of queries the last step stays
    return torch.cat([step.result for step in last.values()])


def _check(query: Tensor, key: Tensor, value: Tensor, rows: int, columns: int) -> None:
    shapes = tuple(query.shape), tuple(key.shape), tuple(value.shape)
    fits = all(x.dim() == 2 and len(x) for x in (query, key, value))
    if not fits or query.shape[1] != key.shape[1] or len(key) != len(value):
        raise ValueError(
            "expected query (query, head_dim), key (key, head_dim) and value (key, value_dim) with at least one row; "
            f"got {', '.join(map(str, shapes))}"
        )
    if rows < 1 or columns < 1:
        raise ValueError(f"expected tiles of at least one row and one column, got {rows} and {columns}")
