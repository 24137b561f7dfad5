"""Which positions are alike: a table position x position, and the same by distance, in numbers and words."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.positions.schemes import Scheme, Spec, defined, encoding, module_of, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why import recipe
from tfm_ui.lenses.positions.why.pairs import Pairs, pairs
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import script
from tfm_ui.live.tables import Part
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@cached(heavy=never)
def position_pairs(spec: Spec, length: int, measure: str, head: int) -> Pairs | None:
    """What a scheme says of each pair of positions; see why/pairs.py."""
    scheme = module_of(spec)
    added = encoding(spec, length) if "encode" in scheme.enters() else None
    return pairs(scheme, length, measure, head, spec.seed, added, defined(spec, length))


@cached(heavy=never)
def position_square(spec: Spec, length: int, measure: str, head: int, part: Part) -> NDArray[np.float32] | None:
    """A part of their table, pooled."""
    table = position_pairs(spec, length, measure, head)
    return table.pooled(part) if table else None


def square(state: PositionsState, scheme: Scheme, part: Part) -> NDArray[np.float32] | None:
    """A part of a scheme's table position x position, pooled."""
    return position_square(*_table_of(state, scheme), part)


def _table_of(state: PositionsState, scheme: Scheme) -> tuple[Spec, int, str, int]:
    biased = scheme.has("bias_at")  # what the table does not depend on is not asked for
    return scheme.spec, state.length, "" if biased else state.measure, state.bias_head if biased else 0


@dataclass(frozen=True)
class Similarity(Result):
    """A and B, as far as they depend on positions.

    Attributes:
        state: what was asked for.
        sides: with their tables.
        silent: the schemes that do not depend on positions.
    """

    state: PositionsState
    sides: list[tuple[Scheme, Pairs]]
    silent: list[Scheme]

    @property
    def distances(self) -> range:
        """The distances key - query of all pairs."""
        return range(1 - self.state.length, self.state.length)

    def sentence(self) -> str:
        """What near and far pairs have on each side, and whether the distance alone decides."""
        said = [_about(scheme, table) for scheme, table in self.sides]
        said += [f"{scheme.title} says nothing of positions: all pairs are alike." for scheme in self.silent]
        return " ".join(said)

    def about_measured(self) -> str:
        """How many pairs this rests on."""
        said: dict[str, list[str]] = {}
        for scheme, table in self.sides:
            said.setdefault(_measured(table), []).append(scheme.title)
        if len(said) == 1:
            return f"Measured on {next(iter(said))}."
        return " ".join(f"{titles[0]} is measured on {what}." for what, titles in said.items())

    def laws(self) -> dict[str, bool]:
        """A scheme of waves or of distances must treat equal distances alike."""
        return {
            f"{scheme.title}: equal at equal distance, to float32’s rounding": table.by_distance_alone
            for scheme, table in self.sides
            if not scheme.is_trained or scheme.has("bias_at")
        }

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {
            f"{scheme.title}, {what}": values
            for scheme, table in self.sides
            for what, values in _by_distance(table).items()
        }
        return pd.DataFrame(columns, index=pd.Index(self.distances, name="distance n − m"))

    def recipe(self) -> str:
        """A script that leaves the tables in `pairs` and these by distance in `distances`, both by side."""
        shown = [scheme for scheme, _ in self.sides]
        return script(
            recipe.similarity,
            schemes=specs_of(shown),
            defined={scheme.side: scheme.defined(self.state.length) for scheme in shown},
            measure=self.state.measure,
            head=self.state.bias_head,
        )


@dataclass(frozen=True)
class SimilarityByDistance(Result):
    """The same by distance."""

    similarity: Similarity

    def sentence(self) -> str:
        """What near and far pairs have, and how many pairs this rests on."""
        return f"{self.similarity.sentence()} {self.similarity.about_measured()}".strip()

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        return self.similarity.table()

    def recipe(self) -> str:
        """A script that leaves the tables in `pairs` and these by distance in `distances`, both by side."""
        return self.similarity.recipe()


def similarity(model: ModelState, state: PositionsState) -> Similarity:
    """The tables of A and B."""
    tables = [(scheme, position_pairs(*_table_of(state, scheme))) for scheme in schemes(model, state)]
    return Similarity(
        state,
        [(scheme, table) for scheme, table in tables if table],
        [scheme for scheme, table in tables if not table],
    )


def _by_distance(pairs: Pairs) -> dict[str, NDArray[np.float64]]:
    """What is told of each distance, by its name."""
    if pairs.by_distance_alone:
        return {"all pairs": pairs.by_distance.mean.numpy()}
    return {name: getattr(pairs.by_distance, name).numpy() for name in ("mean", "least", "most")}


def _measured(pairs: Pairs) -> str:
    rows, total = pairs.measured, pairs.defined**2
    there = " that are defined" if pairs.defined < pairs.length else ""
    if rows == pairs.defined:
        return f"all {formats.count(total)} pairs{there}"
    some = f"{formats.count(rows * pairs.defined)} of {formats.count(total)} pairs"
    return f"{some}{there}: every pair of {rows} chosen rows"


def _about(scheme: Scheme, pairs: Pairs) -> str:
    values, zero = pairs.by_distance, pairs.length - 1  # where distance 0 stands
    unit, rows = pairs.unit, pairs.defined

    def at(distance: int) -> str:
        place = zero + distance if scheme.module.bidirectional else zero - distance
        least, mean, most = (formats.number(float(x[place])) for x in (values.least, values.mean, values.most))
        return mean if pairs.by_distance_alone or least == most else f"{least} to {most}"

    sign = "" if scheme.module.bidirectional else "−"  # a decoder's keys stand before its queries
    near = f"{unit} is {at(0)} at n − m = 0, {at(1)} at {sign}1"
    noise = " It is not trained, so this is noise." if scheme.is_trained and not scheme.trained_on else ""
    if pairs.by_distance_alone:
        far = f", {at(rows - 1)} at {sign}{rows - 1}" if rows > 2 else ""
        equal = "are equal" if values.spread == 0 else f"differ by at most {formats.number(values.spread)}"
        return f"{scheme.title}: {near}{far}; pairs with the same n − m {equal}.{noise}"
    alone = " Its last sine has no cosine beside it." if scheme.has_waves and scheme.width % 2 else ""
    return (
        f"{scheme.title}: {near}; pairs with the same n − m differ by up to {formats.number(values.spread)}, so the "
        "distance "
        f"alone does not tell.{noise}{alone}"
    )
