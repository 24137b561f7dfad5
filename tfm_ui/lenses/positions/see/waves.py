"""Curves and wavelengths: how the dimensions of an encoding go over the positions, and how long their waves are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.see.encode import CURVES, Encoded, dimensions, encoded
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

POINTS = 512  # of a curve that all travel; beyond, the lowest and the highest of each of so many pieces:
PIECES = 128


@dataclass(frozen=True)
class Waves:
    """The wavelengths of one scheme.

    Attributes:
        scheme: that is made of waves.
        lengths: of each pair of dimensions, in positions, float64 (pair).
        turned: how many of the pairs complete a turn within the positions that are shown.
    """

    scheme: Scheme
    lengths: Tensor
    turned: int


def waves(model: ModelState, state: PositionsState) -> list[Waves]:
    """Of each scheme that is made of some; the last position is `length` - 1 steps from the first."""
    found = []
    for scheme in schemes(model, state):
        lengths = scheme.module.wavelengths(scheme.width)
        if lengths is not None:
            found.append(Waves(scheme, lengths, int((lengths <= state.length - 1).sum())))
    return found


def about_waves(model: ModelState, state: PositionsState) -> str:
    """How long they are, and how many turn at least once."""
    said, found = [], waves(model, state)
    same = len(found) == 2 and torch.equal(found[0].lengths, found[1].lengths)
    for one in found[:1] if same else found:
        first, last = (_positions(length.item()) for length in (one.lengths[0], one.lengths[-1]))
        span = first if len(one.lengths) == 1 else f"{first} to {last}"
        who = "A and B have the same waves" if same else one.scheme.title
        said.append(
            f"{who}: {look.plural(len(one.lengths), 'wave')} of "
            f"{span} positions; from position 0 to {state.length - 1}, {look.count(one.turned)} "
            f"{'completes' if one.turned == 1 else 'complete'} a turn."
        )
    others = [scheme for scheme in schemes(model, state) if scheme.module.wavelengths(scheme.width) is None]
    said += [f"{scheme.title} is not made of waves." for scheme in others if scheme.name != "none"]
    return " ".join(said)


def _positions(wavelength: float) -> str:
    return f"{wavelength:.3g}" if wavelength < 1000 else look.count(round(wavelength))


def waves_table(model: ModelState, state: PositionsState) -> pd.DataFrame:
    """A row per pair of dimensions."""
    columns = {f"wavelength of {one.scheme.title}": pd.Series(one.lengths.numpy()) for one in waves(model, state)}
    return pd.DataFrame(columns).rename_axis("pair i")


def curves(model: ModelState, state: PositionsState) -> list[Encoded]:
    """The schemes that have curves."""
    return [encoded(model, state, scheme) for scheme in schemes(model, state) if scheme.has("encode")]


def ends(y: NDArray[np.float32]) -> NDArray[np.intp]:
    """Which points of a curve travel: all; of a long one the ends of its steps, or where each part has its ends."""
    if len(y) <= POINTS:  # none, too
        return np.arange(len(y))
    bends = np.flatnonzero((np.diff(y, prepend=np.nan) != 0) | (np.diff(y, append=np.nan) != 0))
    if len(bends) <= POINTS:
        return bends  # a curve of steps, exactly
    size = -(-len(y) // PIECES)
    whole = len(y) // size * size
    parts = [(0, y[:whole].reshape(-1, size)), (whole, y[None, whole:])]
    found = [
        begin + np.arange(len(part)) * size + pick(part, axis=1)
        for begin, part in parts
        if part.size
        for pick in (np.argmin, np.argmax)
    ]
    return np.unique(np.concatenate(found))


def about_curves(seen: Sequence[Encoded], state: PositionsState) -> str:
    """How often the drawn dimensions cross 0 where they are drawn, which tells how fast they are."""
    said = []
    for one in seen:
        dims = dimensions(state, one.values.shape[1])
        if not dims:
            return "No dimension is chosen: click a column of the heatmap, or write its number."
        part = one.part(state.part)
        seen_rows = slice(part.top, min(part.top + part.rows, one.known))
        crossed = {dim: _crossings(one.values[seen_rows, dim].numpy()) for dim in dims}
        most, least = max(crossed, key=crossed.__getitem__), min(crossed, key=crossed.__getitem__)
        fewer = f", dimension {least} {_changes(crossed[least])}" if crossed[most] != crossed[least] else ""
        said.append(f"{one.scheme.title}: dimension {most} {_changes(crossed[most])}{fewer}.")
    width = seen[0].values.shape[1]
    if left := [dim for dim in state.dims.split() if int(dim) not in dimensions(state, width)]:
        said.append(f"Not drawn: {', '.join(left)}; there are {width}, from 0, and {CURVES} are drawn at most.")
    return " ".join(said)


def _changes(count: int) -> str:
    often = {1: "once", 2: "twice"}.get(count, f"{look.count(count)} times")
    return f"changes sign {often}" if count else "never changes sign"


def _crossings(y: NDArray[np.float32]) -> int:
    signs = np.sign(y)
    signs = signs[signs != 0]
    return int((signs[1:] != signs[:-1]).sum())


def curves_table(seen: Sequence[Encoded], state: PositionsState) -> pd.DataFrame:
    """A row per position, a column per curve."""
    columns = {
        f"{one.scheme.title}, dimension {dim}": one.values[:, dim].numpy()
        for one in seen
        for dim in dimensions(state, one.values.shape[1])
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(state.length, name="position"))
