"""Curves: how chosen dimensions of an encoding change over the positions."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.encode import CURVES, Encoded, dimensions, encoded, recipe_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

# A curve of up to 512 points, or of steps with up to 512 ends, is sent exactly. A longer one is cut into at most 128
# pieces; of each, the lowest and the highest point are sent.
POINTS = 512
PIECES = 128


@dataclass(frozen=True)
class Curves(Result):
    """The chosen dimensions of A and B.

    Attributes:
        state: what was asked for.
        sides: the schemes that are added to the embeddings.
    """

    state: PositionsState
    sides: list[Encoded]

    def sentence(self) -> str:
        """How often the drawn dimensions cross 0 where they are drawn, which tells how fast they are."""
        said = []
        for side in self.sides:
            dims = self.dimensions_of(side)
            if not dims:
                return "No dimension is chosen: click a column of the heatmap, or write its number."
            part = side.part(self.state.part)
            rows = slice(part.top, min(part.top + part.rows, side.defined))
            crossed = {dim: _crossings(side.values[rows, dim].numpy()) for dim in dims}
            most, least = max(crossed, key=crossed.__getitem__), min(crossed, key=crossed.__getitem__)
            fewer = f", dimension {least} {_changes(crossed[least])}" if crossed[most] != crossed[least] else ""
            said.append(f"{side.scheme.title}: dimension {most} {_changes(crossed[most])}{fewer}.")
        width, drawn = self.sides[0].values.shape[1], self.dimensions_of(self.sides[0])
        if left := [dim for dim in self.state.dims.split() if int(dim) not in drawn]:
            said.append(f"Not drawn: {', '.join(left)}; there are {width}, from 0, and {CURVES} are drawn at most.")
        return " ".join(said)

    def dimensions_of(self, side: Encoded) -> list[int]:
        """The dimensions of a scheme that are drawn."""
        return dimensions(self.state, side.values.shape[1])

    def table(self) -> pd.DataFrame:
        """A row per position, a column per curve."""
        columns = {
            f"{side.scheme.title}, dimension {dim}": side.values[:, dim].numpy()
            for side in self.sides
            for dim in self.dimensions_of(side)
        }
        return pd.DataFrame(columns, index=pd.RangeIndex(self.state.length, name="position"))

    def recipe(self) -> str:
        """A script that leaves all dimensions in `values`, side -> (position, dimension)."""
        return recipe_of(self.sides)


def curves(model: ModelState, state: PositionsState) -> Curves:
    """The curves of A and B, as far as these are added to the embeddings."""
    added = [scheme for scheme in schemes(model, state) if scheme.has("encode")]
    return Curves(state, [encoded(model, state, scheme) for scheme in added])


def kept_points(y: NDArray[np.float32]) -> NDArray[np.intp]:
    """Which points of a curve are sent: all; of a long curve the ends of its steps, or the extremes of each piece."""
    if len(y) <= POINTS:  # none, too
        return np.arange(len(y))
    bends = np.flatnonzero((np.diff(y, prepend=np.nan) != 0) | (np.diff(y, append=np.nan) != 0))
    if len(bends) <= POINTS:
        return bends  # a curve of steps, exactly
    size = -(-len(y) // PIECES)
    whole = len(y) // size * size
    parts = [(0, y[:whole].reshape(-1, size)), (whole, y[None, whole:])]
    extremes = [
        begin + np.arange(len(part)) * size + pick(part, axis=1)
        for begin, part in parts
        if part.size
        for pick in (np.argmin, np.argmax)
    ]
    return np.unique(np.concatenate(extremes))


def _changes(count: int) -> str:
    often = {1: "once", 2: "twice"}.get(count, f"{formats.count(count)} times")
    return f"changes sign {often}" if count else "never changes sign"


def _crossings(y: NDArray[np.float32]) -> int:
    signs = np.sign(y)
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())
