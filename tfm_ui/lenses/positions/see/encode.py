"""What a scheme adds to the embeddings: its values by position and dimension, and how chosen dimensions change."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st
from torch import Tensor

from tfm_ui.lenses.positions.panel import OneSide, SchemesPanel
from tfm_ui.lenses.positions.schemes import added_vectors
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part
from tfm_ui.live.windows import part_of
from tfm_ui.page import controls
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.maps import MAPS
from tfm_ui.pictures.panel import Source
from tfm_ui.pictures.positions.added import CURVES, Added
from tfm_ui.text import formats


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
    def added(self) -> Added:
        """The vectors, as they are drawn and told."""
        values, defined, origin = self.scheme.added(self.state.length), self.scheme.defined(self.state.length), ""
        if self.scheme.is_trained:
            origin = self.where_from("they are", "They were", values[:defined])
        return Added(self.scheme.name, self.scheme.title, values, defined, self.state.base, origin)

    @property
    def values(self) -> Tensor:
        """(length, width), NaN where there is no vector."""
        return self.added.values

    @property
    def defined(self) -> int:
        """How many positions the scheme has a vector for."""
        return self.added.defined

    @property
    def part(self) -> Part:
        """The part of the table that is looked at."""
        return part_of(self.state.part, *self.values.shape)

    @property
    def dims(self) -> list[int]:
        """The dimensions whose curves are drawn, in the order of their colours."""
        return self.added.dims(self.state.dims)

    @property
    def shape(self) -> str:
        return self.added.shape

    def picture(self) -> Content:
        return self.added.content(self.part, self.dims, self.state.position, prefix=PREFIX)

    def sentence(self) -> str:
        return self.added.sentence()

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
        top = max(vectors.added.top for vectors in self.sides)
        return lines.content([vectors.added.chart(vectors.part, vectors.dims, top) for vectors in self.sides])

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
            if not vectors.dims:
                return "No dimension is chosen: click a column of the heatmap, or write its number."
            sentences.append(vectors.added.crossing(vectors.part, vectors.dims))
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
