"""Whether every position has a vector of its own: the two that are nearest to each other, among all pairs."""

from dataclasses import dataclass

import pandas as pd

from tfm_core.study.closest_rows import Closest
from tfm_ui.lenses.positions.measured import known, nearest, opening
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look


@dataclass(frozen=True)
class Unique:
    """Of each scheme that adds vectors.

    Attributes:
        model, state: what was asked for.
        sides: with their two nearest positions.
    """

    model: ModelState
    state: PositionsState
    sides: list[tuple[Scheme, Closest]]

    @property
    def sentence(self) -> str:
        """How near, and which two."""
        return " ".join(self._about(scheme, found) for scheme, found in self.sides)

    def _about(self, scheme: Scheme, found: Closest) -> str:
        rows = known(scheme, self.state.length)
        few = f" (the {rows} that it has)" if rows < self.state.length else ""
        pairs = "1 pair" if rows == 2 else f"{look.count(rows * (rows - 1) // 2)} pairs"
        return f"{scheme.title}: of {pairs} of positions{few} {_nearest(found, rows)}."

    def laws(self) -> dict[str, bool]:
        """What an encoding must give."""
        return {f"{scheme.title}: no two positions alike": found.distance > 0 for scheme, found in self.sides}

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns = {
            f"{scheme.title}, smallest distance": pd.Series(
                found.within[1:].tolist(), index=range(2, len(found.within) + 1)
            )
            for scheme, found in self.sides
        }
        return pd.DataFrame(columns).rename_axis("positions")

    @property
    def recipe(self) -> str:
        """Lines of Python that leave them in `nearest_A` and `nearest_B`."""
        shown = [scheme for scheme, _ in self.sides]
        lines = opening(self.model, shown, "from tfm_core.study.closest_rows import closest")
        return "\n".join(
            [*lines, *(f"nearest_{s.side} = closest({s.side}.encode({known(s, self.state.length)}))" for s in shown)]
        )

    @property
    def falls_far(self) -> bool:
        """Whether the distances differ so much that only a scale of powers shows them all."""
        all_of = [d for _, found in self.sides for d in found.within[1:].tolist()]
        return bool(all_of) and 0 < min(all_of) < 0.01 * max(all_of)


def _nearest(found: Closest, rows: int) -> str:
    """Which pairs are the nearest: where several tie, none of them is called so."""
    first, second = found.pair
    near, apart = "are equally near, to float32’s rounding: ", f"{look.number(found.distance)} apart"
    if found.ties == 1:
        near = "are "
    if not found.distance:
        near, apart = "have ", "the same vector: a model cannot tell them apart"
    if found.ties == 1:
        return f"the nearest, {first} and {second}, {near}{apart}"
    if found.step is None:
        return f"{look.count(found.ties)} pairs, {first} and {second} among them, {near}{apart}"
    every = "all " if found.ties == rows - found.step else ""
    which = "of neighbours" if found.step == 1 else f"that stand {found.step} apart"
    return f"{every}{look.count(found.ties)} pairs {which} {near}{apart}"


def unique(model: ModelState, state: PositionsState) -> Unique:
    """What is asked for of A and B."""
    adds = [scheme for scheme in schemes(model, state) if scheme.has("encode")]
    return Unique(model, state, [(scheme, nearest(scheme, state.length)) for scheme in adds])
