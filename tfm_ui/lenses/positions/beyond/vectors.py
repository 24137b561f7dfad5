"""Positions past max_len: what vectors are there, and how they compare.

max_len stands for the longest text that a model would be trained on, whatever the scheme, though only a learned table
ends there; where the model's weights are trained, it is the length that they were trained on. The vectors are those of
the schemes alone, whatever the weights.
"""

from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.positions.beyond import recipe
from tfm_ui.lenses.positions.beyond.max_len import UNDEFINED, as_trained, last_within, where
from tfm_ui.lenses.positions.maths import EPSILON
from tfm_ui.lenses.positions.schemes import Scheme, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Vectors:
    """What a scheme makes of the vector at each position, all (length); NaN where it is not defined.

    Attributes:
        scheme: which.
        norm: the length of PE(pos), or of the drawn query turned to pos.
        alike: the dot product with the last position within max_len, PE(pos)·PE(last); None of what is turned, whose
            products depend on distances alone: no position is new to them.
    """

    scheme: Scheme
    norm: Tensor
    alike: Tensor | None


@dataclass(frozen=True)
class Beyond(Result):
    """A and B, as far as they make vectors.

    Attributes:
        state: what was asked for.
        sides: what they make.
    """

    state: PositionsState
    sides: list[Vectors]

    @property
    def last(self) -> int:
        """The last position within max_len, of those on screen."""
        return last_within(self.state)

    def sentence(self) -> str:
        """What vectors each side has beyond max_len."""
        return " ".join(self._about(side) for side in self.sides)

    def _about(self, side: Vectors) -> str:
        title, length, rows = side.scheme.title, self.state.length, side.scheme.defined(self.state.length)
        if rows < length:
            return (
                f"{title}: {_positions(rows, length - 1)} not defined. The table has {formats.plural(rows, 'row')}, "
                "and a "
                "model with it refuses longer texts."
            )
        low, high = (formats.number(x(side.norm).item()) for x in (torch.min, torch.max))
        norms = f"norms are all {low}" if low == high else f"norms lie between {low} and {high}"
        if rows <= self.state.max_len:
            return f"{title}: {norms}."
        if side.alike is None:
            return f"{title}: {norms}, beyond max_len too, because turning a vector keeps its length."
        inside, outside = side.alike[: self.last], side.alike[self.last + 1 :]
        return (
            f"{title}: {norms}, beyond max_len too; with position {self.last} those before it have a dot product of "
            f"{_span(inside)}, those beyond of {_span(outside)}."
        )

    @property
    def undefined(self) -> str:
        """The sides that have no vectors beyond."""
        return " and ".join(side.scheme.title for side in self.sides if side.norm.isnan().any())

    def laws(self) -> dict[str, bool]:
        """What holds of rotations, and of waves that come in pairs."""
        kept = {}
        for side in self.sides:
            low, high = side.norm.min().item(), side.norm.max().item()
            equal = high - low <= 16 * EPSILON * high
            if side.scheme.has("rotate"):
                kept[f"{side.scheme.title}: turning keeps every length"] = equal
            elif side.scheme.has_waves and not side.scheme.width % 2:
                root = (side.scheme.width / 2) ** 0.5
                kept[f"{side.scheme.title}: every norm is √(d_model / 2) = {root:.4g}"] = equal and (
                    abs(high - root) <= 16 * EPSILON * root
                )
        return kept

    def table(self) -> pd.DataFrame:
        """A row per position, with words where there is no number."""
        columns = {}
        for side in self.sides:
            columns[f"{side.scheme.title}, norm"] = _words(side.norm)
            if side.alike is not None:
                columns[f"{side.scheme.title}, with position {self.last}"] = _words(side.alike)
        return pd.DataFrame({"max_len": where(self.state), **columns}).rename_axis("position")

    def recipe(self) -> str:
        """A script that leaves each side's numbers in `norm` and `alike`."""
        shown = [side.scheme for side in self.sides]
        rows = {scheme.side: scheme.defined(self.state.length) for scheme in shown}
        return script(recipe.vectors, schemes=specs_of(shown), defined=rows, last=self.last)


def _positions(first: int, last: int) -> str:
    return f"position {first} is" if first == last else f"positions {first} to {last} are"


def _span(values: Tensor) -> str:
    if not len(values):
        return "nothing to compare"
    low, high = (formats.number(x(values).item()) for x in (torch.min, torch.max))
    return low if low == high else f"{low} to {high}"


def _words(values: Tensor) -> list[float] | list[str]:
    numbers: list[float] = values.tolist()
    return [UNDEFINED if x != x else repr(x) for x in numbers] if values.isnan().any() else numbers


def beyond(model: ModelState, state: PositionsState) -> Beyond:
    """The vectors of A and B, as far as they have any."""
    state = as_trained(model, state)
    last, sides = last_within(state), []
    for scheme in schemes(model, state):
        if vectors := scheme.compared(state.length):
            first, second = vectors
            alike = first @ second[last] if scheme.has("encode") else None
            sides.append(Vectors(scheme, first.norm(dim=1), alike))
    return Beyond(state, sides)
