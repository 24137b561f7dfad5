"""Waves that do not complete a turn within max_len: beyond it they turn further than at any position before."""

from dataclasses import dataclass

import pandas as pd
from torch import Tensor

from tfm_ui.lenses.positions import maths
from tfm_ui.lenses.positions.beyond.max_len import as_trained
from tfm_ui.lenses.positions.schemes import Scheme, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class UnfinishedWaves(Result):
    """A and B, as far as they are made of waves.

    Attributes:
        state: what was asked for.
        sides: each with the wavelengths of its pairs, float64.
    """

    state: PositionsState
    sides: list[tuple[Scheme, Tensor]]

    def slow(self, waves: Tensor) -> Tensor:
        """Which waves have not completed a turn at the last position within max_len."""
        return waves > self.state.max_len - 1

    def sentence(self) -> str:
        """How many waves have not completed a turn, and how far the slowest turns."""
        said: dict[str, list[str]] = {}
        for scheme, waves in self.sides:
            said.setdefault(self._about(waves), []).append(scheme.title)
        return " ".join(f"{' and '.join(titles)}: {what}" for what, titles in said.items())

    def _about(self, waves: Tensor) -> str:
        count, slow, max_len, length = len(waves), int(self.slow(waves).sum()), self.state.max_len, self.state.length
        kinds = formats.plural(count, "wave")  # an odd width's last sine has one, but no pair
        if not slow:
            all_of = "it" if count == 1 else "each"
            return f"{kinds}, and {all_of} has completed a turn at position {max_len - 1}, the last within max_len."
        have = "has" if slow == 1 else "have"
        share = formats.percent(slow / count)
        which = f"pair {count - 1}" if slow == 1 else f"pairs {count - slow} to {count - 1}"  # the slowest come last
        said = f"of {kinds}, {slow} ({share}, {which}) {have} not completed a turn at position {max_len - 1}"
        if length <= max_len:
            return f"{said}."
        new = (length - 1) * 360 / waves[-1].item()
        old = (max_len - 1) * 360 / waves[-1].item()
        return (
            f"{said}; beyond, they turn further than at any position within max_len: the slowest gets from "
            f"{formats.number(old)}° to {formats.number(new)}° at position {length - 1}."
        )

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        columns = {}
        for scheme, waves in self.sides:
            columns[f"{scheme.title}, wavelength"] = pd.Series(waves.tolist())
            columns[f"{scheme.title}, turns at position {self.state.max_len - 1}"] = pd.Series(
                ((self.state.max_len - 1) / waves).tolist()
            )
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves the wavelengths in `waves`, by side."""
        return script(maths.wavelengths, schemes=specs_of([scheme for scheme, _ in self.sides]))


def unfinished_waves(model: ModelState, state: PositionsState) -> UnfinishedWaves:
    """The wavelengths of A and B, as far as they are made of waves."""
    state = as_trained(model, state)
    return UnfinishedWaves(
        state,
        [
            (scheme, waves)
            for scheme in schemes(model, state)
            if (waves := scheme.module.wavelengths(scheme.width)) is not None
        ],
    )
