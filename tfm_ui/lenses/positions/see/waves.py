"""Wavelengths: after how many positions each pair of dimensions has turned once."""

from dataclasses import dataclass

import pandas as pd
import torch
from torch import Tensor

from tfm_ui.lenses.positions import maths
from tfm_ui.lenses.positions.schemes import Scheme, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Waves:
    """The wavelengths of one scheme.

    Attributes:
        scheme: that is made of waves.
        lengths: of each pair of dimensions, in positions, float64 (pair).
        turned: how many of the pairs complete a turn within the positions that are shown.
    """

    scheme: Scheme
    lengths: Tensor
    turned: int


@dataclass(frozen=True)
class Wavelengths(Result):
    """A and B, as far as they are made of waves.

    Attributes:
        length: how many positions are shown.
        sides: the waves of each.
        without: the schemes that are not made of waves.
    """

    length: int
    sides: list[Waves]
    without: list[Scheme]

    def sentence(self) -> str:
        """How long they are, and how many turn at least once."""
        said = []
        same = len(self.sides) == 2 and torch.equal(self.sides[0].lengths, self.sides[1].lengths)
        for waves in self.sides[:1] if same else self.sides:
            first, last = (_positions(length.item()) for length in (waves.lengths[0], waves.lengths[-1]))
            span = first if len(waves.lengths) == 1 else f"{first} to {last}"
            who = "A and B have the same waves" if same else waves.scheme.title
            said.append(
                f"{who}: {formats.plural(len(waves.lengths), 'wave')} of "
                f"{span} positions; from position 0 to {self.length - 1}, {formats.count(waves.turned)} "
                f"{'completes' if waves.turned == 1 else 'complete'} a turn."
            )
        said += [f"{scheme.title} is not made of waves." for scheme in self.without if scheme.name != "none"]
        return " ".join(said)

    def table(self) -> pd.DataFrame:
        """A row per pair of dimensions."""
        columns = {f"wavelength of {waves.scheme.title}": pd.Series(waves.lengths.numpy()) for waves in self.sides}
        return pd.DataFrame(columns).rename_axis("pair i")

    def recipe(self) -> str:
        """A script that leaves them in `waves`, side -> (pair)."""
        return script(maths.wavelengths, schemes=specs_of([waves.scheme for waves in self.sides]))


def wavelengths(model: ModelState, state: PositionsState) -> Wavelengths:
    """The wavelengths of A and B. From the first position to the last there are `length` - 1 steps."""
    sides, without = [], []
    for scheme in schemes(model, state):
        lengths = scheme.module.wavelengths(scheme.width)
        if lengths is None:
            without.append(scheme)
        else:
            sides.append(Waves(scheme, lengths, int((lengths <= state.length - 1).sum())))
    return Wavelengths(state.length, sides, without)


def _positions(wavelength: float) -> str:
    return f"{wavelength:.3g}" if wavelength < 1000 else formats.count(round(wavelength))
