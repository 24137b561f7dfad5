"""Whether the rows of a table can be told apart: the pairs that are nearest to each other, among all."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.study.ties import EPSILON, ties

CHUNK = 256  # rows that are compared at a time
FIRST_DIMENSIONS = 64  # dimensions that are compared first: where they differ enough, the others need not be looked at


@dataclass(frozen=True)
class Closest:
    """Which two rows of a table are nearest to each other.

    Attributes:
        distance: Euclidean, between these two.
        pair: which; of several that tie, the one that rounding made the nearest.
        within: float64 (seq), the smallest distance among the first rows, up to and with each; infinity at the first.
        ties: how many pairs are as near, to float32's rounding; 1 where it is this pair alone.
        step: how many rows apart the two of each such pair stand, if all stand alike; None if not.
    """

    distance: float
    pair: tuple[int, int]
    within: Tensor
    ties: int
    step: int | None


def closest(table: Tensor) -> Closest:
    """The smallest Euclidean distance between any two rows: all pairs are compared, in float64.

    Pairs tie where rounding alone tells them apart. A number of float32 is wrong by half an epsilon of it, so a row is
    by half an epsilon of its norm, and the difference of two distances by that of four rows.

    Args:
        table: float32 (seq, width), seq at least 2.

    Raises:
        ValueError: for a table of one row.
    """
    if len(table) < 2:
        raise ValueError(f"closest: expected 2 rows or more, got {len(table)}")
    rows = table.double()
    near = (rows[1:] - rows[:-1]).square().sum(1).cummin(0).values  # of neighbours alone: the smallest is no larger
    bounds = torch.cat([near[:1], near])  # of the first rows, up to and with each
    lowest = rows.new_full((len(rows),), torch.inf)
    for i, _, squared in _nearer(rows, bounds):
        lowest.scatter_reduce_(0, i, squared, "amin")
    running = lowest.cummin(0)
    second = int(running.indices[-1])
    # Differences of large sums hide small distances: the pairs that count are subtracted row by row.
    exact = (rows[second] - rows[:second]).square().sum(1)
    first = int(exact.argmin())
    distance = math.sqrt(exact[first].item())
    within = running.values.clamp(min=distance**2).sqrt()
    within[second:] = distance
    off = 2 * EPSILON * rows.norm(dim=1).max().item()
    count, step = _tied(rows, distance, off)
    return Closest(distance, (first, second), within, count, step)


def _tied(rows: Tensor, distance: float, off: float) -> tuple[int, int | None]:
    """How many pairs are so near, and how far apart the two of each stand, if that is one number."""
    count, steps = 0, list[int]()
    for i, j, squared in _nearer(rows, rows.new_full((len(rows),), (distance + off) ** 2)):
        at = ties(torch.cat([squared.sqrt(), squared.new_tensor([distance])]), off, smallest=True)
        there = at[at < len(i)]
        count += len(there)
        if len(there):
            steps += [int(end) for end in (i - j)[there].aminmax()]
    return max(count, 1), steps[0] if len(set(steps)) == 1 else None


def _nearer(rows: Tensor, bounds: Tensor) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """The pairs whose squared distance may be within the bound of their chunk: rows i, rows j before them, and it.

    Most pairs of a wide table are settled by a few dimensions: they alone make them differ by more. The others are
    compared whole.
    """
    squares, few = rows.square().sum(1), rows[:, :FIRST_DIMENSIONS].float()
    few_squares = few.square().sum(1)
    slack = 1e-5 * few_squares.max().item()  # float32 may be wrong by as much
    for top in range(0, len(rows), CHUNK):
        end = min(top + CHUNK, len(rows))
        bound = bounds[top].item() + slack
        if rows.shape[1] > FIRST_DIMENSIONS:
            i, j = (_before(few, few_squares, top, end) <= bound).nonzero(as_tuple=True)
            if len(i) < 0.02 * (end - top) * end:  # worth picking them out
                yield top + i, j, (rows[top + i] - rows[j]).square().sum(1)
                continue
        squared = _before(rows, squares, top, end)
        i, j = (squared <= bound).nonzero(as_tuple=True)
        yield top + i, j, squared[i, j].clamp(min=0)


def _before(rows: Tensor, squares: Tensor, top: int, end: int) -> Tensor:
    """Squared distances of these rows to each of those before them, (end - top, end); infinity for all others."""
    squared = torch.addmm(squares[:end], rows[top:end], rows[:end].mT, alpha=-2).add_(squares[top:end, None])
    squared[:, top:].masked_fill_(torch.ones(end - top, end - top, dtype=torch.bool).triu(), torch.inf)
    return squared
