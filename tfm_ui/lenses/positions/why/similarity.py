"""Which positions are alike: a table position x position, and the same by distance, in numbers and words."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.lenses.positions.measured import head_of, known, opening, pairs, turns
from tfm_ui.lenses.positions.pairs import MEASURES, Pairs
from tfm_ui.lenses.positions.schemes import Scheme, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look


@dataclass(frozen=True)
class Similarity:
    """A and B, as far as they say something of positions.

    Attributes:
        model, state: what was asked for.
        sides: with their tables.
        silent: schemes that say nothing.
    """

    model: ModelState
    state: PositionsState
    sides: list[tuple[Scheme, Pairs]]
    silent: list[Scheme]

    @property
    def distances(self) -> range:
        """Of all pairs: key - query."""
        return range(1 - self.state.length, self.state.length)

    @property
    def sentence(self) -> str:
        """Of each side, what near and far pairs have, and whether the distance alone decides."""
        said = [_about(scheme, found) for scheme, found in self.sides]
        said += [f"{scheme.title} says nothing of positions: all pairs are alike." for scheme in self.silent]
        return " ".join(said)

    @property
    def measured(self) -> str:
        """How many pairs this rests on."""
        said: dict[str, list[str]] = {}
        for scheme, found in self.sides:
            said.setdefault(_measured(found), []).append(scheme.title)
        if len(said) == 1:
            return f"Measured on {next(iter(said))}."
        return " ".join(f"{titles[0]} is measured on {what}." for what, titles in said.items())

    def laws(self) -> dict[str, bool]:
        """A scheme of waves or of distances must treat equal distances alike."""
        return {
            f"{scheme.title}: equal at equal distance, to float32’s rounding": found.by_distance_alone
            for scheme, found in self.sides
            if not scheme.is_trained or scheme.has("bias_at")
        }

    def table(self) -> pd.DataFrame:
        """A row per distance."""
        columns = {
            f"{scheme.title}, {what}": values.numpy()
            for scheme, pairs in self.sides
            for what, values in (
                [("all pairs", pairs.found.mean)]
                if pairs.by_distance_alone
                else [("mean", pairs.found.mean), ("least", pairs.found.least), ("most", pairs.found.most)]
            )
        }
        return pd.DataFrame(columns, index=pd.Index(self.distances, name="distance n − m"))

    @property
    def recipe(self) -> str:
        """Lines of Python that leave each side's table in `pairs_A`, by distance in `distances_A`; B's likewise."""
        length, distance = self.state.length, self.state.measure != MEASURES[0]
        lines = opening(self.model, [s for s, _ in self.sides], "from tfm_core.study.position_laws import by_distance")
        for scheme, _ in self.sides:
            name = scheme.side
            if scheme.has("bias_at"):
                lines.append(f"pairs_{name} = {name}.bias({length}, {length})[{head_of(self.state)}]  # (query, key)")
                continue
            if scheme.has("encode"):
                lines.append(f"rows = others = {name}.encode({known(scheme, length)})  # (position, d_model)")
            else:
                lines += turns(self.model, scheme, length)
            ends = "torch.cdist(rows.double(), others.double())" if distance else "rows @ others.mT"
            lines.append(f"pairs_{name} = {ends}  # (m, n)")
        lines += [
            f"distances_{s.side} = by_distance(pairs_{s.side}, torch.arange(len(pairs_{s.side})))"
            for s, _ in self.sides
        ]
        return "\n".join(lines)


def similarity(model: ModelState, state: PositionsState) -> Similarity:
    """What is asked for of A and B."""
    found = [(scheme, pairs(state, scheme)) for scheme in schemes(model, state)]
    return Similarity(
        model,
        state,
        [(scheme, table) for scheme, table in found if table],
        [scheme for scheme, table in found if not table],
    )


def _measured(pairs: Pairs) -> str:
    rows, known = pairs.measured, pairs.known
    there = " that are defined" if known < pairs.length else ""
    if rows == known:
        return f"all {look.count(known**2)} pairs{there}"
    return f"{look.count(rows * known)} of {look.count(known**2)} pairs{there}: every pair of {rows} chosen rows"


def _about(scheme: Scheme, pairs: Pairs) -> str:
    found, zero = pairs.found, pairs.length - 1  # where distance 0 stands
    unit, rows = pairs.unit, pairs.known

    def at(distance: int) -> str:
        place = zero + distance if scheme.module.bidirectional else zero - distance
        least, mean, most = (look.number(float(x[place])) for x in (found.least, found.mean, found.most))
        return mean if pairs.by_distance_alone or least == most else f"{least} to {most}"

    sign = "" if scheme.module.bidirectional else "−"  # a decoder's keys stand before its queries
    near = f"{unit} is {at(0)} at distance 0, {at(1)} at {sign}1"
    noise = " It is not trained, so this is noise." if scheme.is_trained else ""
    if pairs.by_distance_alone:
        far = f", {at(rows - 1)} at {sign}{rows - 1}" if rows > 2 else ""
        equal = "are equal" if found.spread == 0 else f"differ by at most {look.number(found.spread)}"
        return f"{scheme.title}: {near}{far}; pairs of one distance {equal}.{noise}"
    alone = " Its last sine has no cosine beside it." if scheme.has_waves and scheme.width % 2 else ""
    return (
        f"{scheme.title}: {near}; pairs of one distance differ by up to {look.number(found.spread)}, so the distance "
        f"alone does not tell.{noise}{alone}"
    )
