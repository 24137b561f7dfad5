"""What turns: pairs of dimensions as clocks, whose hands sliders move along the positions, and their wavelengths."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.positions.panel import EPSILON, OneSide, WavesPanel
from tfm_ui.lenses.positions.schemes import lone_scheme
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.panel import Source
from tfm_ui.pictures.positions.clocks import CLOCKS, Turns, header_of, in_positions, turned_hands
from tfm_ui.text import formats


def hands_of_pairs(*, spec: Mapping[str, Any], query_position: int, key_position: int) -> tuple[Tensor, Tensor]:
    """The hands of the query and of the key, each (pair, 2): cosine and sine."""
    query, key = turned_hands(lone_scheme(**spec), query_position, key_position, spec["d_model"])
    return query, key


class Clocks(OneSide):
    """Two unit vectors per pair of dimensions, turned by one scheme to two positions."""

    places = ("rotate",)
    canvas = CLOCKS

    @property
    def sources(self) -> Sequence[Source]:
        return [*super().sources, type(self.scheme.module).wavelengths]

    @property
    def title(self) -> str:
        return f"{self.scheme.title}, a turn per pair"

    @property
    def how_to_read(self) -> str:
        few = len(self.turns.drawn) < self.turns.pairs
        which_dimensions = "i, i + d/2" if self.turns.in_halves else "2i, 2i + 1"
        which = f" {len(self.turns.drawn)} of the {self.turns.pairs} pairs, evenly chosen." if few else ""
        return (
            f"A circle per pair of dimensions ({which_dimensions}): a query and a key that both pointed right, "
            f"turned by their positions. λ: positions for a full turn.{which}"
        )

    @property
    def shape(self) -> str:
        return formats.plural(self.turns.pairs, "pair")

    @property
    def at(self) -> int:
        """The query's position m."""
        return min(self.state.position, self.state.length - 1)

    @property
    def key_at(self) -> int:
        """The key's position n."""
        return min(self.state.key, self.state.length - 1)

    @cached_property
    def turns(self) -> Turns:
        """The pairs, as they are drawn and told."""
        return Turns(self.scheme.module, self.at, self.key_at, self.state.length, self.scheme.width)

    @property
    def hands(self) -> tuple[Tensor, Tensor]:
        """The query and the key in each pair, each float32 (pair, 2): cosine and sine."""
        return self.turns.hands

    @classmethod
    def empty(cls) -> Content:
        return header_of(PREFIX, pairs=[], count=0, wavelengths=[], query=0, key=0, last=0), np.zeros(0, np.float32)

    def picture(self) -> Content:
        return self.turns.content(PREFIX)

    def sentence(self) -> str:
        return self.turns.sentence()

    def laws(self) -> dict[str, bool]:
        """What holds of rotations. Angles are as large as the positions, and so is their rounding error."""
        rounding = (16 + self.state.length) * EPSILON
        sizes, off = torch.stack(self.hands).norm(dim=-1), self.turns.dots - self.turns.between.cos()
        return {
            "q·k = cos((m − n) θ) in every pair": off.abs().max().item() <= rounding,
            "turning keeps every length": (sizes - 1).abs().max().item() <= 16 * EPSILON,
        }

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        query, key = self.hands
        columns = {
            "dimensions": [f"{first}, {second}" for first, second in self.turns.dimensions],
            "wavelength": self.turns.wavelengths.tolist(),
            f"cos {self.at}θ": query[:, 0].tolist(),
            f"sin {self.at}θ": query[:, 1].tolist(),
            f"cos {self.key_at}θ (key)": key[:, 0].tolist(),
            f"sin {self.key_at}θ (key)": key[:, 1].tolist(),
            "(m − n)θ in rad": self.turns.between.tolist(),
        }
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves both in `query` and `key`, (pair, 2)."""
        places = {"query_position": self.at, "key_position": self.key_at}
        return script(hands_of_pairs, spec=self.scheme.spec.arguments, **places)


class ClocksA(Clocks, side="A"):
    """The clocks of A."""


class ClocksB(Clocks, side="B"):
    """The clocks of B."""


class Wavelengths(WavesPanel):
    """The wavelengths beside the length of the sequence. From its first position to its last are `length` - 1 steps."""

    title = "Wavelengths"
    how_to_read = (
        "After how many positions each pair of dimensions has turned once; the scale is logarithmic. "
        "Below the thin line, waves that are shorter than the sequence. A solid, B dashed."
    )
    key = "position_waves"
    shape = "2π · base^(2i / d)"

    @property
    def sources(self) -> Sequence[Source]:
        return [type(scheme.module).wavelengths for scheme in self.shown]

    def turned(self, lengths: Tensor) -> int:
        """How many of these waves complete a turn within the positions that are shown."""
        return int((lengths <= self.state.length - 1).sum())

    def picture(self) -> Content:
        return self.chart([self.across("length", self.state.length), *self.curves])

    def sentence(self) -> str:
        """How long the waves are, and how many turn at least once."""
        sentences = []
        same = [scheme.side for scheme in self.shown] == ["A", "B"] and torch.equal(*(waves for _, waves in self.sides))
        for scheme, lengths in self.sides[:1] if same else self.sides:
            first, last = (in_positions(length.item()) for length in (lengths[0], lengths[-1]))
            span = first if len(lengths) == 1 else f"{first} to {last}"
            who, turned = "A and B have the same waves" if same else scheme.title, self.turned(lengths)
            sentences.append(
                f"{who}: {formats.plural(len(lengths), 'wave')} of "
                f"{span} positions; from position 0 to {self.state.length - 1}, {formats.count(turned)} "
                f"{'completes' if turned == 1 else 'complete'} a turn."
            )
        others = [scheme for scheme in self.schemes if scheme not in self.shown and scheme.module.enters()]
        return " ".join([*sentences, *(f"{scheme.title} is not made of waves." for scheme in others)])

    def table(self) -> pd.DataFrame:
        """A row per pair of dimensions."""
        columns = {f"wavelength of {scheme.title}": pd.Series(lengths.numpy()) for scheme, lengths in self.sides}
        return pd.DataFrame(columns).rename_axis("pair i")
