"""Whether every position has a vector of its own: the two that are nearest to each other, among all pairs."""

from dataclasses import dataclass

import pandas as pd

from tfm_core.study.closest_rows import Closest, closest
from tfm_ui.lenses.positions.schemes import Scheme, Spec, defined, encoding, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why import recipe
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@cached(heavy=never)
def closest_positions(spec: Spec, length: int) -> Closest:
    """The two positions, of those that the scheme has, whose vectors are nearest to each other."""
    return closest(encoding(spec, length)[: defined(spec, length)])


@dataclass(frozen=True)
class Unique(Result):
    """The two nearest positions of each scheme that adds vectors.

    Attributes:
        state: what was asked for.
        sides: with their two nearest positions.
    """

    state: PositionsState
    sides: list[tuple[Scheme, Closest]]

    def sentence(self) -> str:
        """How near the two nearest positions are, and which these are."""
        return " ".join(self._about(scheme, nearest) for scheme, nearest in self.sides)

    def _about(self, scheme: Scheme, nearest: Closest) -> str:
        rows = scheme.defined(self.state.length)
        few = f" (the {rows} that it has)" if rows < self.state.length else ""
        pairs = "1 pair" if rows == 2 else f"{formats.count(rows * (rows - 1) // 2)} pairs"
        return f"{scheme.title}: of {pairs} of positions{few} {_nearest(nearest, rows)}."

    def laws(self) -> dict[str, bool]:
        """What an encoding must give."""
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
        shown = [scheme for scheme, _ in self.sides]
        rows = {scheme.side: scheme.defined(self.state.length) for scheme in shown}
        return script(recipe.nearest_positions, schemes=specs_of(shown), defined=rows)

    @property
    def falls_far(self) -> bool:
        """Whether the distances differ so much that only a scale of powers shows them all."""
        all_of = [distance for _, nearest in self.sides for distance in nearest.within[1:].tolist()]
        return bool(all_of) and 0 < min(all_of) < 0.01 * max(all_of)


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


def unique(model: ModelState, state: PositionsState) -> Unique:
    """The nearest positions of A and B, as far as they are added to the embeddings."""
    adds = [scheme for scheme in schemes(model, state) if scheme.has("encode")]
    return Unique(state, [(scheme, closest_positions(scheme.spec, state.length)) for scheme in adds])
