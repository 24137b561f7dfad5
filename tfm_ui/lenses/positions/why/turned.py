"""RoPE's claim: the score of a turned query and a turned key depends on how far apart they stand, and on nothing else.

The same two vectors stand beside it with an encoding added to them: of these that is not true.
"""

from dataclasses import dataclass, replace

import pandas as pd
import torch
from torch import Tensor

from tfm_core.study.position_laws import ByDistance, by_distance, drawn_pair, turned_scores
from tfm_ui.lenses.positions.maths import EPSILON
from tfm_ui.lenses.positions.schemes import Scheme, plain_scheme, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why import recipe
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

MOST = 64  # positions of each side: 4,096 pairs are points enough


@dataclass(frozen=True)
class Turned(Result):
    """Scores of one query and one key at many pairs of positions.

    Attributes:
        length: of the sequence.
        scheme: that turns.
        beside: the scheme that adds.
        at: the positions, evenly spaced, so that equal distances come again.
        scores: float32 (m, n), of `scheme`.
        exact: the largest difference between pairs at the same distance, in float64.
        added: float32 (m, n), of `beside`; NaN where it has no row.
    """

    length: int
    scheme: Scheme
    beside: Scheme
    at: Tensor
    scores: Tensor
    exact: float
    added: Tensor

    @property
    def step(self) -> int:
        """The distance between two neighbours of the positions."""
        return int(self.at[1] - self.at[0])

    def by_steps(self, scores: Tensor) -> ByDistance:
        """These scores by distance, in steps."""
        return by_distance(scores, torch.arange(len(self.at)))

    @property
    def distances(self) -> Tensor:
        """n - m of each pair."""
        return self.at[None, :] - self.at[:, None]

    @property
    def named(self) -> str:
        """The name of the scheme that stands beside it: A, B, or neither."""
        return self.beside.title if self.beside.side else self.beside.name

    def sentence(self) -> str:
        """The largest difference between pairs at the same distance, of both."""
        turned, added = self.by_steps(self.scores), self.by_steps(self.added)
        rows = self.beside.defined(self.length)
        far = f" (it has {formats.plural(rows, 'row')})" if rows < self.length else ""
        beside = f"with {self.named} added to the same two, by up to {formats.number(added.spread)}{far}."
        if rows <= self.step:
            beside = f"{self.named} has {formats.plural(rows, 'row')}: of these positions the first alone."
        return (
            f"{formats.count(len(self.at) ** 2)} pairs (m, n), {formats.count(2 * len(self.at) - 1)} distances. "
            f"At the same distance the score of {self.scheme.title} differs by at most {formats.number(turned.spread)} "
            f"in float32 and {formats.tiny(self.exact)} in float64; {beside}"
        )

    @property
    def allowed(self) -> float:
        """How much float32 may change a score: angles are as large as positions, and so is their rounding error."""
        return (16 + self.length) * EPSILON * self.scores.abs().max().item()

    def laws(self) -> dict[str, bool]:
        """One score per distance."""
        return {
            f"{self.scheme.title}: one score per distance, to float32’s rounding": self.by_steps(self.scores).spread
            <= self.allowed
        }

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        count = len(self.at)
        m, n = self.at.repeat_interleave(count), self.at.repeat(count)
        columns = {
            "m": m.numpy(),
            "n": n.numpy(),
            "n − m": (n - m).numpy(),
            f"score, {self.scheme.title}": self.scores.flatten().numpy(),
            f"score, {self.named} added": self.added.flatten().numpy(),
        }
        return pd.DataFrame(columns)

    def recipe(self) -> str:
        """A script that leaves both tables in `scores` and `added`."""
        return script(
            recipe.turned_beside_added,
            rotary=self.scheme.spec.arguments,
            beside=self.beside.spec.arguments,
            defined=self.beside.defined(self.length),
            length=self.length,
            step=self.step,
        )


def turned(model: ModelState, state: PositionsState) -> Turned | None:
    """The scores under the first of A and B that turns queries and keys; None if neither does."""
    sides = schemes(model, state)
    scheme = next((side for side in sides if side.has("rotate")), None)
    if scheme is None:
        return None
    width = scheme.width
    beside = next((side for side in sides if side.has("encode") and side.width == width), None)
    if beside is None:
        beside = plain_scheme(model, replace(state, width=width), "sinusoidal")
    query, key = drawn_pair(width, model.seed)
    step = -(-state.length // MOST)
    at = torch.arange(0, state.length, step)
    base = scheme.module.base
    double = turned_scores(query.double(), key.double(), at, at, base=base)
    rows = beside.added(state.length)[at]
    return Turned(
        state.length,
        scheme,
        beside,
        at,
        turned_scores(query, key, at, at, base=base),
        by_distance(double, torch.arange(len(at))).spread,
        (query + rows) @ (key + rows).mT,
    )
