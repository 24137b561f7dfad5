"""What a scheme adds to the embeddings: its values by position and dimension, and how chosen dimensions change."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.positional.maths import sinusoidal_encoding
from tfm_ui.lenses.positions.panel import OneSide, SchemesPanel, kept_points
from tfm_ui.lenses.positions.schemes import added_vectors
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part, matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.page import controls
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.panel import Source
from tfm_ui.text import formats

CURVES = 8  # of chosen dimensions, at most: there are this many colours


def added(*, schemes: Mapping[str, Mapping[str, Any]], defined: Mapping[str, int]) -> Mapping[str, Tensor]:
    """Side -> what its scheme adds at each position that it is defined for, (position, dimension)."""
    values = {side: added_vectors(spec, defined[side]) for side, spec in schemes.items()}
    return values


class Encode(OneSide):
    """The vectors of one scheme."""

    places = ("encode",)
    canvas = MAPS
    how_to_read = (
        "What is added to the embedding at each position (row), dimension by dimension (column). Click a cell to mark "
        "its position and to draw its dimension as a curve below, or to take it away."
    )

    @cached_property
    def values(self) -> Tensor:
        """(length, width), NaN where there is no vector."""
        return self.scheme.added(self.state.length)

    @property
    def defined(self) -> int:
        """How many positions the scheme has a vector for."""
        return self.scheme.defined(self.state.length)

    @property
    def top(self) -> float:
        """The value furthest from 0."""
        low, high = self.values[: self.defined].aminmax()
        return max(-low.item(), high.item())

    @property
    def part(self) -> Part:
        """The part of the table that is looked at."""
        return part_of(self.state.part, *self.values.shape)

    @property
    def dims(self) -> list[int]:
        """The dimensions whose curves are drawn, in the order of their colours."""
        return [int(dim) for dim in self.state.dims.split() if int(dim) < self.scheme.width][:CURVES]

    @property
    def shape(self) -> str:
        length, width = self.values.shape
        return f"position × dimension = {formats.count(length)} × {formats.count(width)}"

    def picture(self) -> Content:
        part, dims, at = self.part, self.dims, self.state.position
        columns, (length, width) = part.column_names(), self.values.shape
        cells = f"{formats.plural(length, 'position')} by {formats.plural(width, 'dimension')}"
        return maps.content(
            [Map(name=self.scheme.name, values=pooled(matrix(self.values), part), scale=around_zero(self.top))],
            rows=Axis(part.row_names(), "position", "position"),
            columns=Axis(columns, "dimension", "dimension"),
            about=f"{self.scheme.title}: {cells}, none further from 0 than {formats.number(self.top)}.",
            picked=((at - part.top) // part.block[0], 0) if 0 <= at - part.top < part.rows else None,
            whole_row=True,
            asks=(PREFIX + "position", PREFIX + "dims"),
            places=(
                list(range(part.top, part.top + part.rows, part.block[0])),
                [toggled(dims, int(name)) for name in columns],
            ),
            square=False,
            part=part,
            zooms=PREFIX + "part",
            blank="not defined",
            marks=[
                ((dim - part.left) // part.block[1], colour)
                for colour, dim in enumerate(dims)
                if 0 <= dim - part.left < part.columns
            ],
        )

    def sentence(self) -> str:
        vectors = self.values[: self.defined]
        low, high = (formats.number(end.item()) for end in vectors.aminmax())
        sentences = [f"All {formats.count(vectors.numel())} values lie from {low} to {high}."]
        if self.scheme.is_trained:
            sentences.append(self.where_from("they are", "They were", vectors))
        if (near := likeness(vectors)) is not None:
            sentences.append(
                f"The vectors of neighbours have a cosine of {formats.number(near)} on average{self._beside}."
            )
        if self.defined < len(self.values):
            beyond = len(self.values) - self.defined
            are = "1 position is" if beyond == 1 else f"{formats.count(beyond)} positions are"
            sentences.append(f"From position {self.defined} on, {are} not defined.")
        return " ".join(sentences)

    @property
    def _beside(self) -> str:
        """The cosine that sinusoids of this size have, to compare a trained scheme with."""
        if not self.scheme.is_trained:
            return ""
        waves = likeness(sinusoidal_encoding(self.defined, self.values.shape[1], base=self.state.base))
        return f"; sinusoids of this size have {formats.number(waves or 0)}"

    def laws(self) -> dict[str, bool]:
        """Whether each pair of dimensions of waves is a point on the unit circle: then all vectors are equally long."""
        width = self.values.shape[1]
        if self.scheme.module.wavelengths(width) is None or width < 2:
            return {}
        pairs = self.values[:, : width - width % 2].reshape(len(self.values), -1, 2)
        off = (pairs.square().sum(-1) - 1).abs().max().item()
        count = pairs.shape[1]
        where = "its pair" if count == 1 else f"all {count} pairs"
        return {f"sin² + cos² = 1 in {where}, at most {formats.tiny(off)} off": off < 1e-6}

    def table(self) -> pd.DataFrame:
        """A row per position, a column per dimension."""
        return pd.DataFrame(self.values.numpy(), index=pd.RangeIndex(len(self.values), name="position \\ dimension"))

    def recipe(self) -> str:
        """A script that leaves them in `values`, side -> (position, dimension)."""
        return script(added, **self.in_script())


class EncodeA(Encode, side="A"):
    """The vectors of A."""


class EncodeB(Encode, side="B"):
    """The vectors of B."""


class Curves(SchemesPanel):
    """The chosen dimensions of A and B, as far as these are added to the embeddings."""

    title = "Curves of dimensions"
    how_to_read = "The chosen dimensions, named at their ends, over the positions that the heatmap shows."
    key = "position_curves"
    places = ("encode",)
    canvas = CHART

    @cached_property
    def sides(self) -> list[Encode]:
        """The vectors of each side."""
        return [(EncodeA if scheme.side == "A" else EncodeB)(self.model, self.state) for scheme in self.shown]

    @property
    def sources(self) -> Sequence[Source]:
        return [source for vectors in self.sides for source in vectors.sources]

    def picture(self) -> Content:
        """A chart per scheme, on axes of the same range."""
        top, charts = max(vectors.top for vectors in self.sides), []
        for vectors in self.sides:
            curves, part = [], vectors.part  # the curves show the positions that the heatmap shows
            for colour, dim in enumerate(vectors.dims):
                y = vectors.values[part.top : part.top + part.rows, dim].numpy()
                at = kept_points(y[: max(vectors.defined - part.top, 0)])
                if not np.isfinite(y[-1]):
                    at = np.append(at, len(y) - 1)  # of which there is no value
                curves.append(Line(f"{dim}", (part.top + at).tolist(), y[at].tolist(), f"head {colour + 1}"))
            charts.append(Chart("position", vectors.scheme.title, curves, reach=(-top, top)))
        return lines.content(charts)

    def tools(self) -> None:
        """Draw a box of dimensions. A click in the heatmap sets them too, so it shows what the link holds."""
        key = "_dims"

        def changed() -> None:
            controls.change(PREFIX, dims=st.session_state[key])

        st.session_state[key] = self.state.dims
        st.text_input(f"Dimensions, at most {CURVES}, separated by spaces", key=key, on_change=changed, width=360)

    def sentence(self) -> str:
        """How often the drawn dimensions cross 0 where they are drawn, which tells how fast they are."""
        sentences = []
        for vectors in self.sides:
            dims, part = vectors.dims, vectors.part
            if not dims:
                return "No dimension is chosen: click a column of the heatmap, or write its number."
            rows = slice(part.top, min(part.top + part.rows, vectors.defined))
            crossed = {dim: _crossings(vectors.values[rows, dim].numpy()) for dim in dims}
            most, least = max(crossed, key=crossed.__getitem__), min(crossed, key=crossed.__getitem__)
            fewer = f", dimension {least} {_changes(crossed[least])}" if crossed[most] != crossed[least] else ""
            sentences.append(f"{vectors.scheme.title}: dimension {most} {_changes(crossed[most])}{fewer}.")
        width, drawn = self.sides[0].values.shape[1], self.sides[0].dims
        if left := [dim for dim in self.state.dims.split() if int(dim) not in drawn]:
            sentences.append(
                f"Not drawn: {', '.join(left)}; there are {width}, from 0, and {CURVES} are drawn at most."
            )
        return " ".join(sentences)

    def table(self) -> pd.DataFrame:
        """A row per position, a column per curve."""
        columns = {
            f"{vectors.scheme.title}, dimension {dim}": vectors.values[:, dim].numpy()
            for vectors in self.sides
            for dim in vectors.dims
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(self.state.length, name="position"))

    def recipe(self) -> str:
        """A script that leaves all dimensions in `values`, side -> (position, dimension)."""
        return script(added, **self.in_script())


class CurvesA(Curves, side="A"):
    """The curves of A, where B is not added to the embeddings."""


class CurvesB(Curves, side="B"):
    """The curves of B, where A is not added to the embeddings."""


def likeness(rows: Tensor) -> float | None:
    """The mean cosine between the vectors of neighbouring positions; None of fewer than two vectors or dimensions."""
    if min(rows.shape) < 2:
        return None
    return F.cosine_similarity(rows[:-1], rows[1:], dim=-1).mean().item()


def toggled(dims: Sequence[int], dim: int) -> str:
    """The field of the dimensions with one more, or one fewer; the others keep their places, as far as they can."""
    kept = list(dims)
    if dim in kept:
        kept[kept.index(dim)] = kept[-1]
        kept.pop()
    else:
        kept = [*kept[: CURVES - 1], dim]
    return " ".join(map(str, kept))


def _changes(count: int) -> str:
    often = {1: "once", 2: "twice"}.get(count, f"{formats.count(count)} times")
    return f"changes sign {often}" if count else "never changes sign"


def _crossings(y: NDArray[np.float32]) -> int:
    signs = np.sign(y)
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())
