"""What is claimed of vectors that are added: a shift is a linear map, and every position has a vector of its own.

The law of shifts is PE(pos + k) = M PE(pos): the paper's M_k for waves, the best fit for any other table. Of the
vectors, the two that are nearest to each other are looked for among all pairs.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core import Positional
from tfm_core.positional.maths import frequencies
from tfm_core.study import position_laws
from tfm_core.study.closest_rows import Closest, closest
from tfm_core.study.position_laws import ShiftError, fitted_shift_error, shift_blocks, shift_error, shift_matrix
from tfm_ui.lenses.positions.panel import SchemesPanel, level, line_of
from tfm_ui.lenses.positions.schemes import Scheme, Spec, added_vectors, encoding, lone_scheme, module_of, those
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import script
from tfm_ui.live.tables import matrix as cells_of
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Note, Source
from tfm_ui.text import formats

# The roundings of M_k, of PE(pos) and of PE(pos + k), and those of two products and a sum of at most 1.
ROUNDINGS = 5
ALLOWED = ROUNDINGS * 2.0**-24


def shift_left_over(scheme: Positional, vectors: Tensor, shift: int) -> ShiftError:
    """What a linear map for this shift leaves: the paper's map for waves, else the one that fits best."""
    if "encode" in scheme.waves_at:
        return shift_error(vectors, shift, base=scheme.base)
    return fitted_shift_error(vectors, shift)


def errors_of_shift(
    *, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int], shift: int
) -> Mapping[str, ShiftError]:
    """Side -> what the map leaves at each position."""
    left = {
        side: shift_left_over(lone_scheme(**spec), added_vectors(spec, defined[side]), shift)
        for side, spec in schemes.items()
    }
    return left


def matrix_of_shift(*, width: int, shift: int, base: float) -> Tensor:
    """M_k, (2 pairs, 2 pairs)."""
    blocks = shift_blocks(width, shift, base=base)
    matrix = shift_matrix(blocks)
    return matrix


@cached(heavy=never)
def position_shift(spec: Spec, length: int, shift: int) -> ShiftError | None:
    """What a shift's linear map leaves of the rows that a scheme has; None if no two of them lie so far apart."""
    vectors = encoding(spec, length)[: spec.defined(length)]
    return shift_left_over(module_of(spec), vectors, shift) if shift < len(vectors) else None


def nearest_positions(*, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int]) -> Mapping[str, Closest]:
    """Side -> the two positions whose vectors are nearest to each other."""
    nearest = {side: closest(added_vectors(spec, defined[side])) for side, spec in schemes.items()}
    return nearest


@cached(heavy=never)
def closest_positions(spec: Spec, length: int) -> Closest:
    """The two positions, of those that the scheme has, whose vectors are nearest to each other."""
    return closest(encoding(spec, length)[: spec.defined(length)])


class AddedPanel(SchemesPanel):
    """A panel of the vectors that A and B add to the embeddings."""

    places = ("encode",)
    canvas = CHART

    def instead(self) -> Note:
        return Note(f"Neither A nor B is added to tokens: choose {' or '.join(those('encode'))}.")


class ShiftErrors(AddedPanel):
    """A shift by k positions, of each scheme that adds vectors."""

    title = "PE(pos + k) = M PE(pos)?"
    how_to_read = (
        "x: pos. y, in powers of 10: the largest error of any dimension, M applied to that position; "
        "a gap: none at all. A solid, B dashed."
    )
    sources = (position_laws.shift_error, position_laws.shift_by, position_laws.fitted_shift_error)

    @cached_property
    def sides(self) -> list[tuple[Scheme, ShiftError | None]]:
        """Each with what the map leaves; None where no pair of positions lies so far apart."""
        return [
            (scheme, position_shift(scheme.spec, self.state.length, self.state.shift_within)) for scheme in self.shown
        ]

    @property
    def is_shown(self) -> bool:
        """Whether any scheme has an error that is not exactly 0: in powers of ten there is no other point to draw."""
        return any(left and left.dimensions and left.largest > 0 for _, left in self.sides)

    def instead(self) -> Note:
        return Note(self.sentence()) if self.sides else super().instead()

    def picture(self) -> Content:
        curves = [
            line_of(scheme, range(len(left.at)), left.at.tolist())
            for scheme, left in self.sides
            if left and left.dimensions
        ]
        law = [level("float32’s rounding", ALLOWED, max(len(line.x) for line in curves) - 1)] if self.laws() else []
        heading = f"largest |M PE(pos) − PE(pos + {self.state.shift_within})|"
        return lines.content([Chart("pos", heading, [*curves, *law], y_scale="log10")])

    def sentence(self) -> str:
        """The largest error of each side, and what it proves."""
        return " ".join(self._about(scheme, left) for scheme, left in self.sides)

    def _about(self, scheme: Scheme, left: ShiftError | None) -> str:
        k, rows, width = self.state.shift_within, scheme.defined(self.state.length), scheme.width
        if left is None:
            return f"{scheme.title} has {formats.plural(rows, 'row')}, no two of them {k} apart."
        if not k:
            return f"{scheme.title}: a shift by 0 is no shift, which the identity gives to any table."
        places = f"{formats.count(len(left.at))} position{'s' if len(left.at) > 1 else ''}"
        if scheme.has_waves:
            if not left.dimensions:
                return f"{scheme.title}: a width of 1 is a sine without its cosine, which no linear map can shift."
            alone = f" Dimension {width - 1}, a sine without its cosine, is left out." if width % 2 else ""
            return (
                f"{scheme.title}: one matrix shifts {places} by k = {k}; the largest error is "
                f"{formats.tiny(left.largest)} in float32, whose rounding allows {formats.tiny(ALLOWED)}.{alone}"
            )
        if len(left.at) <= width:
            return (
                f"{scheme.title}: {places} and {formats.plural(width, 'dimension')}, so some matrix fits any table "
                f"(largest error {formats.tiny(left.largest)}), and that proves nothing."
            )
        return (
            f"{scheme.title}: the best matrix, by least squares over {places}, leaves errors of up to "
            f"{formats.number(left.largest)}."
        )

    def laws(self) -> dict[str, bool]:
        law = f"PE(pos + {self.state.shift_within}) = M PE(pos) to float32’s rounding"
        return {
            f"{scheme.title}: {law}": left.largest <= ALLOWED
            for scheme, left in self.sides
            if left and left.dimensions and scheme.has_waves
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns = {scheme.title: pd.Series(left.at.numpy()) for scheme, left in self.sides if left}
        return pd.DataFrame(columns).rename_axis("position")

    def recipe(self) -> str:
        """A script that leaves each side's error in `left`."""
        moved = [scheme for scheme, left in self.sides if left]
        return script(errors_of_shift, **self.in_script(moved), shift=self.state.shift_within)


class ShiftMatrix(SchemesPanel):
    """M_k of the scheme of waves, if A or B adds waves that have a pair, and one of its blocks."""

    title = "A shift is one matrix"
    how_to_read = "M turns each pair of dimensions, a sine and a cosine, by its own angle kθ: 2 × 2 blocks."
    sources = (position_laws.shift_blocks, position_laws.shift_matrix)
    canvas = MAPS

    @cached_property
    def shown(self) -> list[Scheme]:
        waves = [scheme for scheme in self.schemes if scheme.has("encode") and scheme.has_waves and scheme.width > 1]
        return waves[:1]

    def instead(self) -> Note:
        names = " and ".join(those("encode", of_waves=True))
        return Note(f"Only {names} encodings have such a matrix: choose them.")

    @property
    def _sizes(self) -> dict[str, Any]:
        scheme = self.shown[0]
        return {"width": scheme.width, "shift": self.state.shift_within, "base": scheme.module.base}

    @property
    def pair(self) -> int:
        """The block that is looked at, from 0."""
        return min(self.state.pair, self.shown[0].width // 2 - 1)

    @property
    def blocks(self) -> Tensor:
        """The blocks of M_k, float64 (pair, 2, 2)."""
        return shift_blocks(**self._sizes)

    @property
    def matrix(self) -> Tensor:
        """M_k as a whole, float32 (2 pairs, 2 pairs)."""
        return matrix_of_shift(**self._sizes).float()

    @property
    def angles(self) -> Tensor:
        """k theta_i in radians, float64 (pair)."""
        width, shift, base = self._sizes.values()
        angles: Tensor = shift * frequencies(width, base)[: width // 2]
        return angles

    @property
    def shape(self) -> str:
        return f"{2 * len(self.angles)} × {2 * len(self.angles)}"

    def picture(self) -> Content:
        part, corner = part_of(WHOLE, *self.matrix.shape), 2 * self.pair
        name = f"M of k = {self.state.shift_within}"
        return maps.content(
            [Map(name=name, values=pooled(cells_of(self.matrix), part), scale=around_zero(1.0))],
            rows=Axis(part.row_names(), "dimension of PE(pos + k) (row)", "to dimension", counted=True),
            columns=Axis(part.column_names(), "dimension of PE(pos) (column)", "from dimension", counted=True),
            picked=(corner, corner) if part.exact else None,
            part=None if part.exact else part,
        )

    @property
    def formula(self) -> str:
        """The block in LaTeX."""
        (cos, sin), (minus, same) = (
            [formats.number(x).replace("−", "-") for x in row] for row in self.blocks[self.pair]
        )
        return (
            rf"M_k^{{({self.pair})}} = \begin{{pmatrix}} \cos k\theta & \sin k\theta \\ -\sin k\theta & \cos k\theta "
            rf"\end{{pmatrix}} = \begin{{pmatrix}} {cos} & {sin} \\ {minus} & {same} \end{{pmatrix}}"
        )

    def tools(self) -> None:
        st.latex(self.formula)

    def sentence(self) -> str:
        """The block's angle, and how much of the matrix is there."""
        angle, count, first = self.angles[self.pair].item(), len(self.angles), 2 * self.pair
        return (
            f"k = {self.state.shift_within} turns pair {self.pair}, dimensions {first} and {first + 1}, by kθ = "
            f"{formats.number(angle)} rad = {formats.number(math.degrees(angle))}°. "
            f"{formats.count(4 * count)} of the {formats.count(4 * count**2)} numbers can differ from 0, and none of "
            "them depends on the position."
        )

    def laws(self) -> dict[str, bool]:
        """What holds of rotations."""
        identity = (self.blocks @ self.blocks.mT - torch.eye(2, dtype=torch.float64)).abs().max().item()
        return {"every block turns, and stretches nothing: M Mᵀ = 1": identity < 1e-12}

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        blocks = self.blocks
        columns = {
            "dimensions": [f"{2 * i}, {2 * i + 1}" for i in range(len(blocks))],
            "angle in rad": self.angles.tolist(),
            "cos": blocks[:, 0, 0].tolist(),
            "sin": blocks[:, 0, 1].tolist(),
        }
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves it in `matrix`."""
        return script(matrix_of_shift, **self._sizes)


class Unique(AddedPanel):
    """The two nearest positions of each scheme that adds vectors."""

    title = "Can positions be told apart?"
    how_to_read = "x: how many positions. y: the smallest distance between any two of them, all pairs compared."

    @property
    def sources(self) -> Sequence[Source]:
        return [closest, *self.sources_at("encode")]

    @cached_property
    def sides(self) -> list[tuple[Scheme, Closest]]:
        """Each with its two nearest positions."""
        return [(scheme, closest_positions(scheme.spec, self.state.length)) for scheme in self.shown]

    @property
    def falls_far(self) -> bool:
        """Whether the distances differ so much that only a scale of powers shows them all."""
        distances = [distance for _, nearest in self.sides for distance in nearest.within[1:].tolist()]
        return bool(distances) and 0 < min(distances) < 0.01 * max(distances)

    def picture(self) -> Content:
        """The smallest distance among the first positions, over how many there are."""
        chart = Chart(
            "number of positions",
            "smallest distance between two of them",
            [
                line_of(scheme, range(2, len(nearest.within) + 1), nearest.within[1:].tolist())
                for scheme, nearest in self.sides
            ],
            x_scale="log2",
            y_scale="log10" if self.falls_far else "linear",
            reach=() if self.falls_far else (0,),
        )
        return lines.content([chart])

    def sentence(self) -> str:
        """How near the two nearest positions are, and which these are."""
        return " ".join(self._about(scheme, nearest) for scheme, nearest in self.sides)

    def _about(self, scheme: Scheme, nearest: Closest) -> str:
        rows = scheme.defined(self.state.length)
        few = f" (the {rows} that it has)" if rows < self.state.length else ""
        pairs = "1 pair" if rows == 2 else f"{formats.count(rows * (rows - 1) // 2)} pairs"
        return f"{scheme.title}: of {pairs} of positions{few} {_nearest(nearest, rows)}."

    def laws(self) -> dict[str, bool]:
        return {f"{scheme.title}: no two positions alike": nearest.distance > 0 for scheme, nearest in self.sides}

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns = {
            f"{scheme.title}, smallest distance": pd.Series(
                nearest.within[1:].tolist(), index=range(2, len(nearest.within) + 1)
            )
            for scheme, nearest in self.sides
        }
        return pd.DataFrame(columns).rename_axis("positions")

    def recipe(self) -> str:
        """A script that leaves them in `nearest`, by side."""
        return script(nearest_positions, **self.in_script())


def _nearest(nearest: Closest, rows: int) -> str:
    """Which pair is the nearest. Where several are equally near, none of them is called the nearest."""
    first, second = nearest.pair
    near, apart = "are equally near, to float32’s rounding: ", f"{formats.number(nearest.distance)} apart"
    if nearest.ties == 1:
        near = "are "
    if not nearest.distance:
        near, apart = "have ", "the same vector: a model cannot tell them apart"
    if nearest.ties == 1:
        return f"the nearest, {first} and {second}, {near}{apart}"
    if nearest.step is None:
        return f"{formats.count(nearest.ties)} pairs, {first} and {second} among them, {near}{apart}"
    every = "all " if nearest.ties == rows - nearest.step else ""
    which = "of neighbours" if nearest.step == 1 else f"that stand {nearest.step} apart"
    return f"{every}{formats.count(nearest.ties)} pairs {which} {near}{apart}"
