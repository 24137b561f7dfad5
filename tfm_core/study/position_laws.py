"""Why the schemes of positions work: what their papers claim, as functions whose results can be measured.

Tables of positions are (seq, width), a row per position from 0. Waves are those of `sinusoidal_encoding`, with sine and
cosine in neighbouring columns.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.initialization import generator
from tfm_core.positional.maths import frequencies
from tfm_core.positional.schemes import Positional


def shift_blocks(width: int, shift: int, *, base: float = 10000.0) -> Tensor:
    """M_k as its blocks, float64 (pairs, 2, 2): each turns one (sine, cosine) by the angle k / base^(2i / width).

    PE(pos + k) = M_k PE(pos), whatever pos is: "for any fixed offset k, PE(pos+k) can be represented as a linear
    function of PE(pos)", Vaswani et al. 2017, section 3.5; it follows from
    sin(a + b) = cos b sin a + sin b cos a and cos(a + b) = cos b cos a - sin b sin a.

    Args:
        width: of the encoding. An odd one ends in a sine without its cosine, which no linear map can shift: it has no
            block, so there are width // 2 of them.
        shift: k; may be negative.
        base: of the frequencies.
    """
    angles = shift * frequencies(width, base)[: width // 2]
    cos, sin = angles.cos(), angles.sin()
    return torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], -2)


def shift_matrix(blocks: Tensor) -> Tensor:
    """M_k as a whole, (2 pairs, 2 pairs): zeros but for the blocks of `shift_blocks` along the diagonal."""
    pairs = torch.arange(len(blocks))
    matrix = blocks.new_zeros(len(blocks), 2, len(blocks), 2)
    matrix[pairs, :, pairs] = blocks
    return matrix.reshape(2 * len(blocks), 2 * len(blocks))


def shift_by(encoding: Tensor, blocks: Tensor) -> Tensor:
    """M_k times each row, in the table's dtype: (seq, 2 pairs), without an odd width's last sine.

    Args:
        encoding: (seq, width), sines and cosines in neighbouring columns.
        blocks: of `shift_blocks`.
    """
    end = 2 * len(blocks)
    sine, cosine = encoding[:, 0:end:2], encoding[:, 1:end:2]  # each (seq, pair)
    rows = blocks.to(encoding.dtype).unbind(1)  # each (pair, 2)
    return torch.stack([row[:, 0] * sine + row[:, 1] * cosine for row in rows], -1).flatten(1)


@dataclass(frozen=True)
class ShiftError:
    """How far M PE(pos) is from PE(pos + k).

    Attributes:
        at: (seq - k), the largest difference of any dimension, at each pos.
        largest: of them.
        dimensions: how many were compared.
    """

    at: Tensor
    largest: float
    dimensions: int


def shift_error(encoding: Tensor, shift: int, *, base: float = 10000.0) -> ShiftError:
    """M_k of the paper, applied to every position of the table whose pos + k is in it too.

    Args:
        encoding: (seq, width), of `sinusoidal_encoding`.
        shift: k, 0 to seq - 1.
        base: of the frequencies.
    """
    before, after = _pairs_of_rows(encoding, shift)
    moved = shift_by(before, shift_blocks(encoding.shape[1], shift, base=base))
    return _error(moved, after[:, : moved.shape[1]])


def fitted_shift_error(encoding: Tensor, shift: int) -> ShiftError:
    """The same for the linear map that fits best, by least squares: of any table, whatever it holds.

    With no more pairs of positions than dimensions a map fits any table, and proves nothing. The map is fitted in
    float64, and directions that are no more than the rounding of the table's dtype are left out of it. The driver is
    the one by singular values: the default, gelsy, begins with columns that uninitialised memory names (issue 187411
    of pytorch).
    """
    before, after = (rows.double() for rows in _pairs_of_rows(encoding, shift))
    rounding = torch.finfo(encoding.dtype).eps * max(before.shape)
    fit = torch.linalg.lstsq(before, after, rcond=rounding, driver="gelsd").solution
    return _error((before @ fit).to(encoding), after.to(encoding))


def _pairs_of_rows(encoding: Tensor, shift: int) -> tuple[Tensor, Tensor]:
    if not 0 <= shift < len(encoding):
        raise ValueError(f"a shift: expected 0 to {len(encoding) - 1}, within the table, got {shift}")
    return encoding[: len(encoding) - shift], encoding[shift:]


def _error(moved: Tensor, expected: Tensor) -> ShiftError:
    if not moved.shape[1]:
        return ShiftError(moved.new_zeros(len(moved)), 0.0, 0)
    at = (moved - expected).abs().amax(1)
    return ShiftError(at, at.max().item(), moved.shape[1])


def drawn_pair(width: int, seed: int) -> tuple[Tensor, Tensor]:
    """A query and a key of independent standard normal numbers, (width) each: the same ones for every scheme."""
    query, key = (torch.randn(width, generator=generator(seed, f"positions.{name}")) for name in ("query", "key"))
    return query, key


def turned_to_each(scheme: Positional, vector: Tensor, length: int) -> Tensor:
    """A query or a key (width) of one head, turned by a scheme to each of the first positions: (length, width)."""
    turned = scheme.rotate(vector.expand(1, 1, length, -1))
    if turned is None:
        raise ValueError(f"expected a scheme that turns queries and keys, got {type(scheme).__name__}")
    return turned[0, 0]


def turned_scores(scheme: Positional, query: Tensor, key: Tensor, at: Tensor, key_at: Tensor) -> Tensor:
    """The scores of one query and one key, turned to many positions: (m, n). Su et al. 2021 (RoFormer), equation 16.

    Args:
        scheme: one that turns.
        query: (width), of one head.
        key: likewise.
        at: the query's positions m.
        key_at: the key's positions n.
    """
    queries, keys = (turned_to_each(scheme, x, int(p.max()) + 1)[p] for x, p in ((query, at), (key, key_at)))
    return queries @ keys.mT


@dataclass(frozen=True)
class ByDistance:
    """What a table of pairs holds at each distance n - m, all (2 seq - 1), from 1 - seq to seq - 1.

    Attributes:
        mean, least, most: over the pairs; NaN where there is none.
    """

    mean: Tensor
    least: Tensor
    most: Tensor

    @property
    def spread(self) -> float:
        """The largest difference between two pairs at the same distance; 0 for a function of the distance alone."""
        difference = self.most - self.least
        return difference[~difference.isnan()].max().item() if not difference.isnan().all() else 0.0


def by_distance(table: Tensor, at: Tensor) -> ByDistance:
    """Rows of a table position x position, sorted by distance.

    Args:
        table: (row, seq); NaN where there is no value.
        at: the position that each row stands for.
    """
    seq = table.shape[1]
    places = (seq - 1 - at)[:, None] + torch.arange(seq)  # where each cell's distance stands
    moved = table.new_full((len(table), 2 * seq - 1), torch.nan).scatter_(1, places, table)
    there = ~moved.isnan()
    counts = there.sum(0)
    mean = moved.nan_to_num(0).sum(0, dtype=torch.float64) / counts
    least = torch.where(there, moved, torch.inf).amin(0)
    most = torch.where(there, moved, -torch.inf).amax(0)
    return ByDistance(mean, *(x.masked_fill(counts == 0, torch.nan) for x in (least, most)))
