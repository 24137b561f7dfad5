"""What a scheme adds to the embeddings: its values by position and dimension, and how chosen dimensions change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.positional.maths import sinusoidal_encoding
from tfm_ui.live.tables import Part, matrix
from tfm_ui.live.windows import pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.pictures.positions.curves import kept_points
from tfm_ui.text import formats

CURVES = 8  # of chosen dimensions, at most: there are this many colours


@dataclass(frozen=True)
class Added:
    """The vectors of one scheme.

    Attributes:
        name: of the scheme.
        title: what stands above its picture.
        values: (position, dimension), NaN where there is no vector.
        defined: how many positions have a vector.
        base: of the sinusoids with which learned vectors are compared.
        origin: where learned vectors come from, in a sentence; "" of vectors that nobody learns.
    """

    name: str
    title: str
    values: Tensor
    defined: int
    base: float
    origin: str = ""

    @cached_property
    def top(self) -> float:
        """The value furthest from 0."""
        low, high = self.values[: self.defined].aminmax()
        return max(-low.item(), high.item())

    @property
    def shape(self) -> str:
        """The shape of the values, in words and numbers."""
        length, width = self.values.shape
        return f"position × dimension = {formats.count(length)} × {formats.count(width)}"

    def dims(self, chosen: str) -> list[int]:
        """The dimensions whose curves are drawn, in the order of their colours, out of numbers between spaces."""
        return [int(dim) for dim in chosen.split() if int(dim) < self.values.shape[1]][:CURVES]

    def content(self, part: Part, dims: Sequence[int], at: int, *, prefix: str) -> Content:
        """What maps.js draws: a heatmap, with marks at dimensions that have curves.

        Args:
            part: of the table that is looked at.
            dims: the dimensions with curves, in the order of their colours.
            at: the marked position, from 0.
            prefix: stands before the names of what the picture sets: position, dims and part.
        """
        columns, (length, width) = part.column_names(), self.values.shape
        cells = f"{formats.plural(length, 'position')} by {formats.plural(width, 'dimension')}"
        return maps.content(
            [Map(name=self.name, values=pooled(matrix(self.values), part), scale=around_zero(self.top))],
            rows=Axis(part.row_names(), "position", "position"),
            columns=Axis(columns, "dimension", "dimension"),
            about=f"{self.title}: {cells}, none further from 0 than {formats.number(self.top)}.",
            picked=((at - part.top) // part.block[0], 0) if 0 <= at - part.top < part.rows else None,
            whole_row=True,
            asks=(f"{prefix}position", f"{prefix}dims"),
            places=(
                list(range(part.top, part.top + part.rows, part.block[0])),
                [toggled(dims, int(name)) for name in columns],
            ),
            square=False,
            part=part,
            zooms=f"{prefix}part",
            blank="not defined",
            marks=[
                ((dim - part.left) // part.block[1], colour)
                for colour, dim in enumerate(dims)
                if 0 <= dim - part.left < part.columns
            ],
        )

    def sentence(self) -> str:
        """How large the vectors are, where they come from, and how alike neighbours are."""
        vectors = self.values[: self.defined]
        low, high = (formats.number(end.item()) for end in vectors.aminmax())
        sentences = [f"All {formats.count(vectors.numel())} values lie from {low} to {high}."]
        if self.origin:
            sentences.append(self.origin)
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
        """The cosine that sinusoids of this size have, to compare a learned scheme with."""
        if not self.origin:
            return ""
        waves = likeness(sinusoidal_encoding(self.defined, self.values.shape[1], base=self.base))
        return f"; sinusoids of this size have {formats.number(waves or 0)}"

    def chart(self, part: Part, dims: Sequence[int], top: float) -> Chart:
        """The chosen dimensions over the positions that the heatmap shows.

        Args:
            part: of the table that is looked at.
            dims: the dimensions, in the order of their colours.
            top: the end of the axis of values.
        """
        curves = []
        for colour, dim in enumerate(dims):
            y = self.values[part.top : part.top + part.rows, dim].numpy()
            at = kept_points(y[: max(self.defined - part.top, 0)])
            if not np.isfinite(y[-1]):
                at = np.append(at, len(y) - 1)  # of which there is no value
            curves.append(Line(f"{dim}", (part.top + at).tolist(), y[at].tolist(), f"head {colour + 1}"))
        return Chart("position", self.title, curves, reach=(-top, top))

    def crossing(self, part: Part, dims: Sequence[int]) -> str:
        """How often the chosen dimensions cross 0 where they are drawn, which tells how fast they are."""
        rows = slice(part.top, min(part.top + part.rows, self.defined))
        crossed = {dim: _crossings(self.values[rows, dim].numpy()) for dim in dims}
        most, least = max(crossed, key=crossed.__getitem__), min(crossed, key=crossed.__getitem__)
        fewer = f", dimension {least} {_changes(crossed[least])}" if crossed[most] != crossed[least] else ""
        return f"{self.title}: dimension {most} {_changes(crossed[most])}{fewer}."


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
