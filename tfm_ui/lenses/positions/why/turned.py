"""What turning claims: the score of a turned query and a turned key depends on how far apart they stand, and on nothing
else.

The same two vectors stand beside it with an encoding added to them: of these that is not true.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from tfm_core.study.position_laws import ByDistance, by_distance, drawn_pair, turned_scores
from tfm_ui.lenses.positions.panel import EPSILON, SchemesPanel, colour_of
from tfm_ui.lenses.positions.schemes import Scheme, added_vectors, first_scheme, lone_scheme, those
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Note, Source
from tfm_ui.text import formats

MOST = 64  # positions of each side: 4,096 pairs are points enough


def with_added(query: Tensor, key: Tensor, rows: Tensor) -> Tensor:
    """The scores of a query and a key to which the vectors of positions are added, (m, n)."""
    return (query + rows) @ (key + rows).mT


def turned_beside_added(
    *, rotary: Mapping[str, Any], beside: Mapping[str, Any], defined: int, length: int, step: int
) -> tuple[Tensor, Tensor]:
    """The scores of a query and a key at many pairs of positions (m, n): both turned, and with vectors added."""
    scheme = lone_scheme(**rotary)
    query, key = drawn_pair(scheme.d_model, rotary["seed"])
    at = torch.arange(0, length, step)
    scores = turned_scores(scheme, query, key, at, at)
    rows = added_vectors(beside, defined)[at[at < defined]]
    added = with_added(query, key, rows)
    return scores, added


class Turned(SchemesPanel):
    """Scores of one query and one key at many pairs of positions, under the first of A and B that turns them."""

    title = "One score per distance"
    how_to_read = (
        "One query and one key of standard normal numbers, at many positions m and n: a point per "
        "pair. First, both turned by their positions; then, an encoding added to both."
    )
    places = ("rotate",)
    canvas = CHART

    @property
    def sources(self) -> Sequence[Source]:
        return [turned_scores, *self.sources_at("rotate"), by_distance]

    def instead(self) -> Note:
        return Note(f"Only {' or '.join(those('rotate'))} turns queries and keys: choose it as A or B.")

    @property
    def scheme(self) -> Scheme:
        """The scheme that turns."""
        return self.shown[0]

    @cached_property
    def beside(self) -> Scheme:
        """The scheme that adds vectors of the same width: A, B, or neither."""
        width = self.scheme.width
        fitting = [scheme for scheme in self.schemes if scheme.has("encode") and scheme.width == width]
        return fitting[0] if fitting else first_scheme(self.model, replace(self.state, width=width), "encode")

    @property
    def named(self) -> str:
        """The name of the scheme that stands beside it."""
        return self.beside.title if self.beside.side else self.beside.called

    @property
    def step(self) -> int:
        """The distance between two neighbours of the positions."""
        return -(-self.state.length // MOST)

    @property
    def at(self) -> Tensor:
        """The positions, evenly spaced, so that equal distances come again."""
        return torch.arange(0, self.state.length, self.step)

    @cached_property
    def _drawn(self) -> tuple[Tensor, Tensor]:
        return drawn_pair(self.scheme.width, self.model.seed)

    def _turned(self, query: Tensor, key: Tensor) -> Tensor:
        return turned_scores(self.scheme.module, query, key, self.at, self.at)

    @cached_property
    def scores(self) -> Tensor:
        """The scores of the scheme that turns, float32 (m, n)."""
        return self._turned(*self._drawn)

    @cached_property
    def exact(self) -> float:
        """The largest difference between pairs at the same distance, in float64."""
        query, key = self._drawn
        return self.by_steps(self._turned(query.double(), key.double())).spread

    @cached_property
    def added(self) -> Tensor:
        """The scores with the other scheme's vectors added, float32 (m, n); NaN where it has no row."""
        return with_added(*self._drawn, self.beside.added(self.state.length)[self.at])

    def by_steps(self, scores: Tensor) -> ByDistance:
        """These scores by distance, in steps."""
        return by_distance(scores, torch.arange(len(self.at)))

    @property
    def shape(self) -> str:
        return f"{len(self.at)} × {len(self.at)} pairs"

    def picture(self) -> Content:
        """The scores of all pairs over their distance: turned, and with an encoding added."""
        x = (self.at[None, :] - self.at[:, None]).flatten()  # n - m of each pair

        def points(name: str, heading: str, scores: Tensor, side: str) -> Chart:
            there = ~scores.flatten().isnan()
            dots = Line(name, x[there].tolist(), scores.flatten()[there].tolist(), colour_of(side), "dots")
            return Chart("distance n − m", heading, [dots])

        return lines.content(
            [
                points(self.scheme.title, "Rₘq·Rₙk", self.scores, self.scheme.side),
                points(self.named, "(q + PE(m))·(k + PE(n))", self.added, self.beside.side),
            ]
        )

    def sentence(self) -> str:
        """The largest difference between pairs at the same distance, of both."""
        turned, added = self.by_steps(self.scores), self.by_steps(self.added)
        rows = self.beside.defined(self.state.length)
        far = f" (it has {formats.plural(rows, 'row')})" if rows < self.state.length else ""
        beside = f"with {self.named} added to the same two, by up to {formats.number(added.spread)}{far}."
        if rows <= self.step:
            beside = f"{self.named} has {formats.plural(rows, 'row')}: of these positions the first alone."
        return (
            f"{formats.count(len(self.at) ** 2)} pairs (m, n), {formats.count(2 * len(self.at) - 1)} distances. "
            f"At the same distance the score of {self.scheme.title} differs by at most {formats.number(turned.spread)} "
            f"in float32 and {formats.tiny(self.exact)} in float64; {beside}"
        )

    def laws(self) -> dict[str, bool]:
        """One score per distance. Angles are as large as positions, and so is their rounding error."""
        allowed = (16 + self.state.length) * EPSILON * self.scores.abs().max().item()
        law = f"{self.scheme.title}: one score per distance, to float32’s rounding"
        return {law: self.by_steps(self.scores).spread <= allowed}

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
            turned_beside_added,
            rotary=self.scheme.spec.arguments,
            beside=self.beside.spec.arguments,
            defined=self.beside.defined(self.state.length),
            length=self.state.length,
            step=self.step,
        )
