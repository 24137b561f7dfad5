"""The panel "Layer by layer": what has moved after each layer."""

from dataclasses import dataclass

import pandas as pd

from tfm_ui.lenses.masks.leaks.measured import Measurement
from tfm_ui.lenses.masks.leaks.plan import CROSSES
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class LayerByLayer(Result):
    """The same measurement after each layer.

    Attributes:
        measured: the measurement.
    """

    measured: Measurement

    @property
    def crosses(self) -> int:
        """How many leaks are marked after each layer, at most."""
        return CROSSES // len(self.measured.moves)

    def sentence(self) -> str:
        """How many pairs have moved after each layer."""
        moves, may_move = self.measured.moves, self.measured.allowed
        counts, allowed = ([formats.count(int(layer.sum())) for layer in layers] for layers in (moves, may_move))
        last, pairs = len(counts), self.measured.leaking.size
        where = f"after layers 1 {'and' if last == 2 else 'to'} {last}" if last > 1 else "after the only layer"
        alike = (moves == may_move).all()
        kept = "exactly those that are allowed to" if alike else f"{_each(allowed)} are allowed to"
        many = self.measured.leaking_behind.sum((1, 2)).max() > self.crosses
        crossed = f" Of the leaks after a layer {formats.count(self.crosses)} at most are crossed out." if many else ""
        said = f"Of {formats.count(pairs)} pair{'s' * (pairs != 1)} {_each(counts)} moved {where}; {kept}.{crossed}"
        return f"{self.measured.of_part} {said}".strip()

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        return self.measured.table()

    def recipe(self) -> str:
        """A script that measures the same."""
        return self.measured.recipe()


def _each(counts: list[str]) -> str:
    """All of them, or the one that they are if they are alike."""
    return formats.listed(counts if len(set(counts)) > 1 else counts[:1])
