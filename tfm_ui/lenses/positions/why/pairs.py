"""Which positions are alike: what a scheme says of each pair of positions, as a table and by distance."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional
from tfm_core.study import position_laws
from tfm_core.study.position_laws import ByDistance, by_distance
from tfm_ui.lenses.positions.panel import EPSILON, SchemesPanel, colour_of, line_of
from tfm_ui.lenses.positions.schemes import Scheme, Spec, compared, compared_vectors, lone_scheme, module_of
from tfm_ui.lenses.positions.state import MEASURES, PREFIX
from tfm_ui.live import tables
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part, Table
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, around_zero, holding
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.positions.clocks import spaced
from tfm_ui.text import formats

CELLS = 2**18  # that are measured: of larger tables evenly chosen rows, the first and the last among them


@dataclass(frozen=True)
class PairTable:
    """The table position x position of one scheme."""

    unit: str
    """What its values are."""
    length: int
    """How many positions."""
    defined: int
    """For how many of them the scheme has a value; of all others the table has none."""
    cells: Table
    """Rows and columns -> values."""
    signed: bool
    """Whether they may lie on either side of 0."""
    by_distance: ByDistance
    """The values by distance, of the rows that were measured."""
    measured: int
    """How many rows these are, of those that are defined."""
    rounding: float
    """What float32 leaves of equal values, as a share of the largest."""

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value that were measured; 0 and 0 if there is none."""
        least, most = self.by_distance.least, self.by_distance.most
        there = ~least.isnan()
        return (least[there].min().item(), most[there].max().item()) if there.any() else (0.0, 0.0)

    @property
    def top(self) -> float:
        """The largest absolute value, 0 if there is none."""
        return max(map(abs, self.ends))

    @property
    def by_distance_alone(self) -> bool:
        """Whether all pairs at the same distance that were measured are equal, to float32's rounding."""
        return self.by_distance.spread <= self.rounding * self.top

    def pooled(self, part: Part) -> NDArray[np.float32]:
        """The values to show. Where all pairs at the same distance are equal, they are computed from the distances."""
        if part.exact or not self.by_distance_alone or self.by_distance.mean.isnan().any():
            return pooled(self.cells, part)
        return pooled(tables.by_distance(self.by_distance.mean.float()), part)

    def scale(self, cells: NDArray[np.float32]) -> Scale:
        """The scale that holds what was measured and the cells on screen: of a large table not all is measured."""
        low, high = self.ends
        there = cells[~np.isnan(cells)]
        low, high = float(there.min(initial=low)), float(there.max(initial=high))
        return around_zero(max(-low, high)) if self.signed else holding(low, high)


def between(first: Tensor, second: Tensor, measure: str) -> Tensor:
    """The dot product or the distance of each pair of rows of two tables, (m, n).

    Distances are computed in float64: small ones are differences of large sums, and what is left of equal ones is
    rounding.
    """
    if measure != "distance":
        return first @ second.mT
    first, second = first.double(), second.double()
    sums = first.square().sum(1)[:, None] + second.square().sum(1)
    squares = sums - 2 * first @ second.mT
    return torch.where(squares < 1e-14 * sums, 0, squares).sqrt().float()


def pair_values(scheme: Positional, rows: int, measure: str, head: int, seed: int) -> Tensor:
    """What a scheme says of each pair of positions: its bias (query, key), or how alike vectors are (m, n)."""
    bias = scheme.bias(rows, rows)
    if bias is not None:
        return bias[head]
    first, second = compared_vectors(scheme, rows, seed)
    return between(first, second, measure)


def likeness(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], measure: str, head: int
) -> tuple[Mapping[str, Tensor], Mapping[str, ByDistance]]:
    """Side -> its table position x position, of the positions that it is defined for; and the same by distance."""
    pairs = {
        side: pair_values(lone_scheme(**spec), defined[side], measure, head, spec["seed"])
        for side, spec in schemes.items()
    }
    distances = {side: by_distance(table, torch.arange(len(table))) for side, table in pairs.items()}
    return pairs, distances


@cached(heavy=never)
def pair_table(spec: Spec, length: int, measure: str, head: int) -> PairTable:
    """The table of a scheme that says something of positions, of which only the cells that are asked for are computed.

    Args:
        spec: how the scheme is made.
        length: how many positions.
        measure: one of `MEASURES`; a bias is shown as it is.
        head: of the bias, from 0.
    """
    scheme, defined = module_of(spec), spec.defined(length)
    at, rounding = spaced(defined, CELLS // length), 16 * EPSILON
    bias = scheme.bias_at(torch.arange(1 - length, length))
    if bias is not None:
        values = bias[head].float().contiguous()
        rows = torch.stack([values[length - 1 - i : 2 * length - 1 - i] for i in at.tolist()])
        unit, signed = f"bias of head {head + 1}", bool((values > 0).any())
        measured = by_distance(rows, at)
        return PairTable(unit, length, defined, tables.by_distance(values), signed, measured, len(at), rounding)
    first, second = compared(spec, length)
    units = "PE(m)·PE(n)", "‖PE(m) − PE(n)‖"
    if "encode" not in scheme.enters():
        units = "Rₘq·Rₙk", "‖Rₘq − Rₙk‖"
        rounding = (16 + length) * EPSILON  # the angles' own: they are as large as the positions

    def cells(rows: slice, columns: slice) -> Tensor:
        return between(first[rows], second[columns], measure)

    unit, measured = units[MEASURES.index(measure)], by_distance(between(first[at], second, measure), at)
    return PairTable(unit, length, defined, cells, measure == MEASURES[0], measured, len(at), rounding)


@cached(heavy=never)
def pooled_pairs(spec: Spec, length: int, measure: str, head: int, part: Part) -> NDArray[np.float32]:
    """A part of the table of a scheme, pooled."""
    return pair_table(spec, length, measure, head).pooled(part)


class Pairs(SchemesPanel):
    """The tables of A and B, as far as they depend on positions."""

    title = "Position × position"
    sources = (pair_table, position_laws.by_distance)
    canvas = MAPS

    @property
    def how_to_read(self) -> str:
        return "Each cell: two positions, m and n. Equal colour along a diagonal: equal at equal distance."

    @property
    def shape(self) -> str:
        return f"{self.state.length} × {self.state.length}"

    def instead(self) -> Note:
        return Note(f"{Pairs.sentence(self)} Choose another A or B to compare positions.")

    def _asked(self, scheme: Scheme) -> tuple[Spec, int, str, int]:
        biased, state = scheme.has("bias_at"), self.state  # what the table does not depend on is not asked for
        return scheme.spec, state.length, "" if biased else state.measure, state.bias_head if biased else 0

    @cached_property
    def sides(self) -> list[tuple[Scheme, PairTable]]:
        """A and B with their tables."""
        return [(scheme, pair_table(*self._asked(scheme))) for scheme in self.shown]

    @property
    def distances(self) -> range:
        """The distances key - query of all pairs."""
        return range(1 - self.state.length, self.state.length)

    def picture(self) -> Content:
        part = part_of(self.state.square, self.state.length, self.state.length)
        squares = [pooled_pairs(*self._asked(scheme), part) for scheme in self.shown]
        turns = any(not scheme.has("encode") for scheme in self.shown)
        roles = ("query", "key") if turns else ("ink", "ink")
        return maps.content(
            [
                Map(name=f"{scheme.title}, {table.unit}", values=cells, scale=table.scale(cells))
                for (scheme, table), cells in zip(self.sides, squares, strict=True)
            ],
            rows=Axis(part.row_names(), "position m (row)", "position m", roles[0]),
            columns=Axis(part.column_names(), "position n (column)", "position n", roles[1]),
            part=part,
            zooms=f"{PREFIX}square",
            blank="not defined",
        )

    def sentence(self) -> str:
        """What near and far pairs have on each side, and whether the distance alone decides."""
        silent = [scheme for scheme in self.schemes if scheme not in self.shown]
        sentences = [_about(scheme, table) for scheme, table in self.sides]
        return " ".join(
            [*sentences, *(f"{scheme.title} says nothing of positions: all pairs are alike." for scheme in silent)]
        )

    def laws(self) -> dict[str, bool]:
        """A scheme of waves or of distances must treat equal distances alike; other vectors that are added need not."""
        return {
            f"{scheme.title}: equal at equal distance, to float32’s rounding": table.by_distance_alone
            for scheme, table in self.sides
            if scheme.has_waves or not scheme.has("encode")
        }

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {
            f"{scheme.title}, {what}": values
            for scheme, table in self.sides
            for what, values in _by_distance(table).items()
        }
        return pd.DataFrame(columns, index=pd.Index(self.distances, name="distance n − m"))

    def recipe(self) -> str:
        """A script that leaves the tables in `pairs` and these by distance in `distances`, both by side."""
        return script(likeness, **self.in_script(), measure=self.state.measure, head=self.state.bias_head)


class Distances(Pairs):
    """The same by distance."""

    title = "By distance"
    shape = ""
    canvas = CHART

    @property
    def how_to_read(self) -> str:
        """The axes: vectors that are added are compared with each other, a turned query with another key."""
        compared = {
            "encode": "how alike the vectors are that are added",
            "rotate": "a drawn query turned to m beside a drawn key turned to n",
            "bias_at": "the bias that is added to scores",
        }
        what = (words for place, words in compared.items() if any(scheme.has(place) for scheme in self.shown))
        return (
            f"x: n − m, how far n stands after m; negative: before it. y: {'; '.join(what)}. A solid, B "
            "dashed; thin: the least and the most, where pairs at the same distance differ."
        )

    def picture(self) -> Content:
        """How alike positions are, by distance; sides of one unit share a chart."""
        x, charts = list(self.distances), dict[str, list[Line]]()
        for scheme, table in self.sides:
            curves = charts.setdefault(table.unit, [])
            values, alone = table.by_distance, table.by_distance_alone
            curves.append(line_of(scheme, x, values.mean.tolist(), scheme.title if alone else f"{scheme.title}, mean"))
            if not alone:
                for what, ends in (("least", values.least), ("most", values.most)):
                    curves.append(Line(f"{scheme.title}, {what}", x, ends.tolist(), colour_of(scheme.side), "thin"))
        return lines.content(
            [Chart("distance n − m", unit, curves, reach=(0,)) for unit, curves in charts.items()],
            about=super().sentence(),
            gap="not defined",
        )

    def about_measured(self) -> str:
        """How many pairs this rests on."""
        titles: dict[str, list[str]] = {}
        for scheme, table in self.sides:
            titles.setdefault(_measured(table), []).append(scheme.title)
        if len(titles) == 1:
            return f"Measured on {next(iter(titles))}."
        return " ".join(f"{first} is measured on {what}." for what, (first, *_) in titles.items())

    def sentence(self) -> str:
        """What near and far pairs have, and how many pairs this rests on."""
        return f"{super().sentence()} {self.about_measured()}".strip()

    def laws(self) -> dict[str, bool]:
        return {}


def _by_distance(table: PairTable) -> dict[str, NDArray[np.float64]]:
    """What is told of each distance, by its name."""
    if table.by_distance_alone:
        return {"all pairs": table.by_distance.mean.numpy()}
    return {name: getattr(table.by_distance, name).numpy() for name in ("mean", "least", "most")}


def _measured(table: PairTable) -> str:
    rows, total = table.measured, table.defined**2
    there = " that are defined" if table.defined < table.length else ""
    if rows == table.defined:
        return f"all {formats.count(total)} pairs{there}"
    some = f"{formats.count(rows * table.defined)} of {formats.count(total)} pairs"
    return f"{some}{there}: every pair of {rows} chosen rows"


def _about(scheme: Scheme, table: PairTable) -> str:
    values, zero = table.by_distance, table.length - 1  # where distance 0 stands
    unit, rows = table.unit, table.defined

    def at(distance: int) -> str:
        place = zero + distance if scheme.module.bidirectional else zero - distance
        least, mean, most = (formats.number(float(x[place])) for x in (values.least, values.mean, values.most))
        return mean if table.by_distance_alone or least == most else f"{least} to {most}"

    sign = "" if scheme.module.bidirectional else "−"  # a decoder's keys stand before its queries
    near = f"{unit} is {at(0)} at n − m = 0, {at(1)} at {sign}1"
    noise = " It is not trained, so this is noise." if scheme.is_trained and not scheme.trained_on else ""
    if table.by_distance_alone:
        far = f", {at(rows - 1)} at {sign}{rows - 1}" if rows > 2 else ""
        equal = "are equal" if values.spread == 0 else f"differ by at most {formats.number(values.spread)}"
        return f"{scheme.title}: {near}{far}; pairs with the same n − m {equal}.{noise}"
    alone = " Its last sine has no cosine beside it." if scheme.has_waves and scheme.width % 2 else ""
    return (
        f"{scheme.title}: {near}; pairs with the same n − m differ by up to {formats.number(values.spread)}, so the "
        f"distance alone does not tell.{noise}{alone}"
    )
