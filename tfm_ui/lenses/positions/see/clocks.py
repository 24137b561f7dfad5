"""Pairs of dimensions as clocks: a query and a key, each turned by its position."""

import math
from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from tfm_core.positional.maths import frequencies
from tfm_ui.lenses.positions.maths import EPSILON, spaced, turned
from tfm_ui.lenses.positions.schemes import Scheme
from tfm_ui.lenses.positions.see import recipe
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

MOST = 32  # clocks that are drawn


@dataclass(frozen=True)
class Clocks(Result):
    """Two unit vectors per pair of dimensions, turned by the library to two positions.

    Attributes:
        scheme: that turns.
        length: of the sequence.
        at: the query's position m.
        key_at: the key's position n.
        query: float32 (pair, 2), cosine and sine.
        key: likewise.
    """

    scheme: Scheme
    length: int
    at: int
    key_at: int
    query: Tensor
    key: Tensor

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.query)

    @property
    def shown(self) -> Tensor:
        """The pairs that are drawn, evenly chosen."""
        return spaced(self.pairs, MOST)

    @property
    def between(self) -> Tensor:
        """The angle between query and key, (m - n) theta_i, in radians, float64 (pair)."""
        return (self.at - self.key_at) * frequencies(self.scheme.width, self.scheme.module.base)

    @property
    def wavelengths(self) -> Tensor:
        """The number of positions in which each pair turns once, float64 (pair)."""
        wavelengths = self.scheme.module.wavelengths(self.scheme.width)
        assert wavelengths is not None
        return wavelengths

    @property
    def dots(self) -> Tensor:
        """The dot product of query and key within each pair, (pair)."""
        return (self.query * self.key).sum(1)

    def sentence(self) -> str:
        """How far apart the two stand, in the fastest and in the slowest pair."""
        m, n, last = self.at, self.key_at, self.pairs - 1
        apart = str(m - n).replace("-", "−")
        first, slow = (formats.number(self.between[i].item() / (2 * math.pi)) for i in (0, last))
        angles = f"{first} turns in pair 0" + (f", {slow} in pair {last}" if last else "")
        return (
            f"Query at m = {m}, key at n = {n}, m − n = {apart}: between the two lie "
            f"{angles}. Equal vectors so turned have a dot product of {formats.number(self.dots.sum().item())} of "
            f"{self.pairs}; moving both by as much leaves it as it is."
        )

    def laws(self) -> dict[str, bool]:
        """What holds of rotations. Angles are as large as the positions, and so is their rounding error."""
        rounding = (16 + self.length) * EPSILON
        sizes = torch.stack([self.query, self.key]).norm(dim=-1)
        return {
            "q·k = cos((m − n) θ) in every pair": (self.dots - self.between.cos()).abs().max().item() <= rounding,
            "turning keeps every length": (sizes - 1).abs().max().item() <= 16 * EPSILON,
        }

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        half = self.pairs
        columns = {
            "dimensions": [f"{i}, {i + half}" for i in range(half)],
            "wavelength": self.wavelengths.tolist(),
            f"cos {self.at}θ": self.query[:, 0].tolist(),
            f"sin {self.at}θ": self.query[:, 1].tolist(),
            f"cos {self.key_at}θ (key)": self.key[:, 0].tolist(),
            f"sin {self.key_at}θ (key)": self.key[:, 1].tolist(),
            "(m − n)θ in rad": self.between.tolist(),
        }
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves both in `query` and `key`, (pair, 2)."""
        return script(
            recipe.clocks,
            width=self.scheme.width,
            base=self.scheme.module.base,
            query_position=self.at,
            key_position=self.key_at,
        )


def clocks(state: PositionsState, scheme: Scheme) -> Clocks:
    """The clocks of a scheme that turns queries and keys."""
    at, key_at = (min(position, state.length - 1) for position in (state.position, state.key))
    half = scheme.width // 2
    unit = torch.cat([torch.ones(half), torch.zeros(half)])
    rows = turned(scheme.module, unit, max(at, key_at) + 1)[[at, key_at]]  # (2, width): pairs are (i, i + width/2)
    query, key = rows.reshape(2, 2, half).mT
    return Clocks(scheme, state.length, at, key_at, query, key)
