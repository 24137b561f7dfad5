"""What a scheme adds to the scores: its bias by head and distance, and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from tfm_core.study.ties import ties
from tfm_ui.live import tables
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, holding
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.pictures.positions.curves import kept_points
from tfm_ui.text import formats

HEADS = 8  # colours of heads


@dataclass(frozen=True)
class Biases:
    """The bias of one scheme.

    Attributes:
        values: (head, distance), at the distances key - query from 1 - length to length - 1.
        buckets: the bucket of each distance, (distance); None if the scheme has no buckets.
        num_buckets: how many buckets there are.
        origin: where learned numbers come from, in a sentence; "" of numbers that nobody learns.
        alone: whether each head's colours are for its own values, so that no two heads can be compared by them.
    """

    values: Tensor
    buckets: Tensor | None = None
    num_buckets: int = 0
    origin: str = ""
    alone: bool = False

    @property
    def length(self) -> int:
        """How many positions there are."""
        return (self.values.shape[1] + 1) // 2

    @property
    def distance(self) -> Tensor:
        """The distances key - query, from 1 - length to length - 1."""
        return torch.arange(1 - self.length, self.length)

    @property
    def shape(self) -> str:
        """The shape of the matrices, in words and numbers."""
        length = formats.count(self.length)
        return f"head × query × key = {len(self.values)} × {length} × {length}"

    @property
    def scales(self) -> list[Scale]:
        """The scale of each head: one for all, which ends at 0 where no bias is positive, or each its own."""
        low, high = (end.item() for end in self.values.aminmax())
        sizes = self.values.abs().amax(-1).tolist()
        return [holding(low, high).resized(size) if self.alone else holding(low, high) for size in sizes]

    @property
    def names(self) -> list[str]:
        """The name of each head, with its scale where each head has its own."""
        heads = [f"head {i + 1}" for i in range(len(self.values))]
        if not self.alone:
            return heads
        ends = (scale.texts(whole=False) for scale in self.scales)
        return [f"{head}: {low} to {high}" for head, (low, high) in zip(heads, ends, strict=True)]

    def content(self, square: str, *, prefix: str) -> Content:
        """What maps.js draws: a matrix per head, query x key. With more heads, fewer cells of each are sent.

        Args:
            square: the part of the matrices that is looked at, as `windows.part_of` reads it.
            prefix: stands before the name of what a zoom sets: square.
        """
        heads, length = len(self.values), self.length
        side = tables.SIDE if heads <= 4 else 128 if heads <= 16 else 64
        part = part_of(square, length, length, side)
        return maps.content(
            [
                Map(name=name, values=pooled(tables.by_distance(values), part), scale=scale)
                for name, values, scale in zip(self.names, self.values, self.scales, strict=True)
            ],
            rows=Axis(part.row_names(), "query position", "query position", "query"),
            columns=Axis(part.column_names(), "key position", "key position", "key"),
            part=part,
            zooms=f"{prefix}square",
            blank="not defined",
        )

    def sentence(self) -> str:
        """How large the biases are, and where learned ones come from."""
        low, high = (formats.number(end.item()) for end in self.values.aminmax())
        heads = formats.plural(len(self.values), "head")
        sentence = f"What is added to the scores of {heads} goes from {low} to {high}."
        return f"{sentence} {self.origin}" if self.origin else sentence

    def by_distance(self) -> Content:
        """A line per head, and below them the buckets, if there are any."""
        heads = range(len(self.values))
        charts = [self._chart(heads[first : first + HEADS]) for first in range(0, len(heads), HEADS)]
        if self.buckets is not None:
            line = self._line("bucket", self.buckets, "ink")
            charts.append(Chart("distance, key − query", "bucket", [line], reach=(0,)))
        return lines.content(charts, about=self.sentence())

    def _chart(self, heads: Sequence[int]) -> Chart:
        curves = [self._line(f"head {i + 1}", self.values[i], f"head {i % HEADS + 1}") for i in heads]
        which = "" if len(self.values) <= HEADS else f" of heads {heads[0] + 1} to {heads[-1] + 1}"
        return Chart("distance, key − query", f"bias{which}", curves, reach=(0,))

    def _line(self, name: str, values: Tensor, colour: str) -> Line:
        y = values.float().numpy()
        at = kept_points(y)
        return Line(name, self.distance.numpy()[at].tolist(), y[at].tolist(), colour)

    @property
    def slopes(self) -> list[float]:
        """How much each head's bias falls with a step of distance; [] if it does not fall evenly."""
        step = self.values[:, self.length]  # at distance 1
        even = torch.equal(self.values, step[:, None] * self.distance.abs())
        return (-step).tolist() if even and not self.origin else []

    def sentence_by_distance(self) -> str:
        """How the bias depends on the distance."""
        if self.buckets is not None:
            return self._about_buckets(self.buckets)
        if not (slopes := self.slopes):
            return self.sentence()
        if len(slopes) == 1:
            return f"The bias falls by {slopes[0]:.4g} with every step of distance."
        return f"Each head’s bias falls by its slope with every step of distance: {_listed(slopes)}."

    @property
    def shared(self) -> list[tuple[int, int, int]]:
        """The buckets that several distances of one sign share, each with its first and its last distance."""
        if self.buckets is None:
            return []
        runs = groupby(zip(self.distance.tolist(), self.buckets.tolist(), strict=True), key=lambda pair: pair[1])
        spans = [(bucket, [distance for distance, _ in run]) for bucket, run in runs]
        return [(bucket, span[0], span[-1]) for bucket, span in spans if len(span) > 1]

    def _about_buckets(self, buckets: Tensor) -> str:
        """Which distances share a bucket."""
        used, total = len(set(buckets.tolist())), self.num_buckets
        fall = f"{formats.count(len(self.distance))} distances fall into {used} of {total} buckets."
        if not self.shared:
            return f"{fall} No two distances share one: they are too few."
        sizes = torch.tensor([last + 1 - first for _, first, last in self.shared])
        widest = ties(sizes, 0)
        where = [f"{_span(first, last)} share bucket {bucket}" for bucket, first, last in self.shared]
        spans = formats.listed([where[i] for i in widest])
        holds = "The widest holds" if len(widest) == 1 else f"The {len(widest)} widest hold"
        each = "" if len(widest) == 1 else " each"
        return f"{fall} {holds} {formats.count(int(sizes.max()))}{each}: distances {spans}."


def _span(first: int, last: int) -> str:
    """Two distances in words, with the sign − of typography, as in −63 to −46."""
    return f"{first} to {last}".replace("-", "−")


def _listed(slopes: list[float]) -> str:
    if len(slopes) <= 8:
        return ", ".join(f"{slope:.4g}" for slope in slopes)
    ends = (slopes.index(pick(slopes)) for pick in (max, min))
    steepest, gentlest = (f"{slopes[head]:.4g} in head {head + 1}" for head in ends)
    return f"from {steepest}, the steepest, to {gentlest}"
