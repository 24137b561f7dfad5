"""Positions past max_len: what vectors are there, and how they compare.

max_len stands for the longest text that a model would be trained on, whatever the scheme, though only a learned table
ends there. No model here is trained: nothing that is said depends on training.
"""

from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from tfm_core.study.position_laws import drawn_pair
from tfm_ui.lenses.positions.measured import known, opening, turns, vectors
from tfm_ui.lenses.positions.pairs import EPSILON, turned
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

UNDEFINED = "not defined"


@dataclass(frozen=True)
class Vectors:
    """What a scheme makes of the vector at each position, all (length); NaN where it is not defined.

    Attributes:
        scheme: which.
        norm: the length of PE(pos), or of the drawn query turned to pos.
        alike: the dot product with the last position within max_len: PE(pos)·PE(last), or the score of the turned
            query and of the drawn key turned to it.
    """

    scheme: Scheme
    norm: Tensor
    alike: Tensor


@dataclass(frozen=True)
class Beyond:
    """A and B, as far as they make vectors.

    Attributes:
        model, state: what was asked for.
        sides: what they make.
    """

    model: ModelState
    state: PositionsState
    sides: list[Vectors]

    @property
    def last(self) -> int:
        """The last position within max_len, of those on screen."""
        return last_within(self.state)

    @property
    def sentence(self) -> str:
        """Of each side, what is there beyond."""
        return " ".join(self._about(side) for side in self.sides)

    def _about(self, side: Vectors) -> str:
        title, length, rows = side.scheme.title, self.state.length, known(side.scheme, self.state.length)
        if rows < length:
            return (
                f"{title}: {_positions(rows, length - 1)} not defined. The table has {look.plural(rows, 'row')}, and a "
                "model with it refuses longer texts."
            )
        low, high = (look.number(x(side.norm).item()) for x in (torch.min, torch.max))
        norms = f"norms are all {low}" if low == high else f"norms lie between {low} and {high}"
        if rows <= self.state.max_len:
            return f"{title}: {norms}."
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
        """Of turns, and of waves in pairs."""
        found = {}
        for side in self.sides:
            low, high = side.norm.min().item(), side.norm.max().item()
            equal = high - low <= 16 * EPSILON * high
            if side.scheme.has("rotate"):
                found[f"{side.scheme.title}: turning keeps every length"] = equal
            elif side.scheme.has_waves and not side.scheme.width % 2:
                root = (side.scheme.width / 2) ** 0.5
                found[f"{side.scheme.title}: every norm is √(d_model / 2) = {root:.4g}"] = equal and (
                    abs(high - root) <= 16 * EPSILON * root
                )
        return found

    def table(self) -> pd.DataFrame:
        """A row per position, with words where there is no number."""
        columns = {}
        for side in self.sides:
            columns[f"{side.scheme.title}, norm"] = _words(side.norm)
            columns[f"{side.scheme.title}, with position {self.last}"] = _words(side.alike)
        return pd.DataFrame({"max_len": where(self.state), **columns}).rename_axis("position")

    @property
    def recipe(self) -> str:
        """Lines of Python that leave each side's numbers in `norm_A` and `alike_A`."""
        lines = opening(self.model, [side.scheme for side in self.sides])
        for scheme in (side.scheme for side in self.sides):
            name, rows = scheme.side, known(scheme, self.state.length)
            if scheme.has("encode"):
                lines += [f"rows = others = {name}.encode({rows})  # (position, d_model)"]
            else:
                lines += turns(self.model, scheme, rows)
            lines.append(f"norm_{name}, alike_{name} = rows.norm(dim=1), rows @ others[{self.last}]")
        return "\n".join(lines)


def _positions(first: int, last: int) -> str:
    return f"position {first} is" if first == last else f"positions {first} to {last} are"


def _span(values: Tensor) -> str:
    if not len(values):
        return "nothing to compare"
    low, high = (look.number(x(values).item()) for x in (torch.min, torch.max))
    return low if low == high else f"{low} to {high}"


def _words(values: Tensor) -> list[float] | list[str]:
    found: list[float] = values.tolist()
    return [UNDEFINED if x != x else repr(x) for x in found] if values.isnan().any() else found


def where(state: PositionsState) -> list[str]:
    """Of each position, or distance, whether it lies within max_len."""
    return ["within" if i < state.max_len else "beyond" for i in range(state.length)]


def last_within(state: PositionsState) -> int:
    """The last position within max_len, of those on screen."""
    return min(state.max_len, state.length) - 1


def beyond_range(state: PositionsState, undefined: str = "") -> dict[str, tuple[float, float]]:
    """The part of an axis of positions, or of distances, past max_len, by its name.

    Args:
        state: of the lens.
        undefined: what has no values there.
    """
    name = f"beyond max_len: {undefined} {UNDEFINED}" if undefined else "beyond max_len"
    return {name: (state.max_len - 0.5, state.length - 1)} if state.length > state.max_len else {}


def beyond(model: ModelState, state: PositionsState) -> Beyond:
    """What is asked for of A and B."""
    last, found = last_within(state), []
    for scheme in schemes(model, state):
        if scheme.has("encode"):
            rows = others = vectors(scheme, state.length)
        elif scheme.has("rotate"):
            rows, others = (turned(scheme.module, x, state.length) for x in drawn_pair(scheme.width, model.seed))
        else:
            continue
        found.append(Vectors(scheme, rows.norm(dim=1), rows @ others[last]))
    return Beyond(model, state, found)
