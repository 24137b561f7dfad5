"""The law of shifts, PE(pos + k) = M PE(pos): the paper's M_k for waves, the best fit for any other table."""

import math
from dataclasses import dataclass

import pandas as pd
import torch

from tfm_core.positional.maths import frequencies
from tfm_core.study.position_laws import ShiftError, shift_blocks, shift_matrix
from tfm_ui.lenses.positions.schemes import Scheme, Spec, defined, encoding, module_of, schemes, specs_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why import recipe
from tfm_ui.live.cache import cached, never
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

# The roundings of M_k, of PE(pos) and of PE(pos + k), and those of two products and a sum of at most 1.
ROUNDINGS = 5
ALLOWED = ROUNDINGS * 2.0**-24


@cached(heavy=never)
def position_shift(spec: Spec, length: int, shift: int) -> ShiftError | None:
    """What a shift's linear map leaves of the rows that a scheme has; None if no two of them lie so far apart."""
    vectors = encoding(spec, length)[: defined(spec, length)]
    return recipe.shift_left_over(module_of(spec), vectors, shift) if shift < len(vectors) else None


@dataclass(frozen=True)
class Shift(Result):
    """A shift by k positions, of each scheme that adds vectors.

    Attributes:
        state: what was asked for.
        sides: with what the map leaves; None where no pair of positions lies so far apart.
    """

    state: PositionsState
    sides: list[tuple[Scheme, ShiftError | None]]

    @property
    def shift(self) -> int:
        """k, within the length."""
        return self.state.shift_within

    def sentence(self) -> str:
        """The largest error of each side, and what it proves."""
        return " ".join(self._about(scheme, left) for scheme, left in self.sides)

    @property
    def measurable(self) -> bool:
        """Whether any scheme has an error that is not exactly 0: in powers of ten there is no other point to draw."""
        return any(left and left.dimensions and left.largest > 0 for _, left in self.sides)

    def _about(self, scheme: Scheme, left: ShiftError | None) -> str:
        k, rows, width = self.shift, scheme.defined(self.state.length), scheme.width
        if left is None:
            return f"{scheme.title} has {formats.plural(rows, 'row')}, no two of them {k} apart."
        if not k:
            return f"{scheme.title}: a shift by 0 is no shift, which the identity gives to any table."
        places = f"{formats.count(len(left.at))} position{'s' if len(left.at) > 1 else ''}"
        if scheme.has_waves:
            if not left.dimensions:
                return f"{scheme.title}: a width of 1 is a sine without its cosine, which no linear map can shift."
            alone = f" Dimension {width - 1}, a sine without its cosine, is left out." if width % 2 else ""
            return (
                f"{scheme.title}: one matrix shifts {places} by k = {k}; the largest error is "
                f"{formats.tiny(left.largest)} in float32, whose rounding allows {formats.tiny(ALLOWED)}.{alone}"
            )
        if len(left.at) <= width:
            return (
                f"{scheme.title}: {places} and {formats.plural(width, 'dimension')}, so some matrix fits any table "
                f"(largest error {formats.tiny(left.largest)}), and that proves nothing."
            )
        return (
            f"{scheme.title}: the best matrix, by least squares over {places}, leaves errors of up to "
            f"{formats.number(left.largest)}."
        )

    def laws(self) -> dict[str, bool]:
        """What the paper says of waves."""
        return {
            f"{scheme.title}: PE(pos + {self.shift}) = M PE(pos) to float32’s rounding": left.largest <= ALLOWED
            for scheme, left in self.sides
            if left and left.dimensions and scheme.has_waves
        }

    def table(self) -> pd.DataFrame:
        """A row per position."""
        columns = {scheme.title: pd.Series(left.at.numpy()) for scheme, left in self.sides if left}
        return pd.DataFrame(columns).rename_axis("position")

    def recipe(self) -> str:
        """A script that leaves each side's error in `left`."""
        shown = [scheme for scheme, left in self.sides if left]
        rows = {scheme.side: scheme.defined(self.state.length) for scheme in shown}
        return script(recipe.shift_errors, schemes=specs_of(shown), defined=rows, shift=self.shift)


def shift(model: ModelState, state: PositionsState) -> Shift:
    """The shift of A and B, as far as they are added to the embeddings."""
    adds = [scheme for scheme in schemes(model, state) if scheme.has("encode")]
    return Shift(state, [(scheme, position_shift(scheme.spec, state.length, state.shift_within)) for scheme in adds])


@dataclass(frozen=True)
class Matrix(Result):
    """M_k of the scheme of waves, and one of its blocks.

    Attributes:
        scheme: of waves, at least two dimensions wide.
        shift: k.
        pair: the block that is looked at, from 0.
    """

    scheme: Scheme
    shift: int
    pair: int

    @property
    def blocks(self) -> torch.Tensor:
        """The blocks of M_k, float64 (pair, 2, 2)."""
        return shift_blocks(self.scheme.width, self.shift, base=self.scheme.module.base)

    @property
    def matrix(self) -> torch.Tensor:
        """M_k as a whole, float32 (2 pairs, 2 pairs)."""
        return shift_matrix(self.blocks).float()

    @property
    def angles(self) -> torch.Tensor:
        """k theta_i in radians, float64 (pair)."""
        return self.shift * frequencies(self.scheme.width, self.scheme.module.base)[: len(self.blocks)]

    @property
    def formula(self) -> str:
        """The block in LaTeX."""
        (cos, sin), (minus, same) = (
            [formats.number(x).replace("−", "-") for x in row] for row in self.blocks[self.pair]
        )
        return (
            rf"M_k^{{({self.pair})}} = \begin{{pmatrix}} \cos k\theta & \sin k\theta \\ -\sin k\theta & \cos k\theta "
            rf"\end{{pmatrix}} = \begin{{pmatrix}} {cos} & {sin} \\ {minus} & {same} \end{{pmatrix}}"
        )

    def sentence(self) -> str:
        """The block's angle, and how much of the matrix is there."""
        angle, count = self.angles[self.pair].item(), len(self.blocks)
        first = 2 * self.pair
        return (
            f"k = {self.shift} turns pair {self.pair}, dimensions {first} and {first + 1}, by kθ = "
            f"{formats.number(angle)} rad = {formats.number(math.degrees(angle))}°. "
            f"{formats.count(4 * count)} of the {formats.count(4 * count**2)} numbers can differ from 0, and none of "
            "them "
            "depends on the position."
        )

    def laws(self) -> dict[str, bool]:
        """What holds of rotations."""
        blocks = self.blocks
        identity = (blocks @ blocks.mT - torch.eye(2, dtype=torch.float64)).abs().max().item()
        return {"every block turns, and stretches nothing: M Mᵀ = 1": identity < 1e-12}

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        columns = {
            "dimensions": [f"{2 * i}, {2 * i + 1}" for i in range(len(self.blocks))],
            "angle in rad": self.angles.tolist(),
            "cos": self.blocks[:, 0, 0].tolist(),
            "sin": self.blocks[:, 0, 1].tolist(),
        }
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves it in `matrix`."""
        width, base = self.scheme.width, self.scheme.module.base
        return script(recipe.matrix_of_shift, width=width, shift=self.shift, base=base)


def matrix_of(model: ModelState, state: PositionsState) -> Matrix | None:
    """M_k, if A or B adds waves that have a pair."""
    for scheme in schemes(model, state):
        if scheme.has("encode") and scheme.has_waves and scheme.width > 1:
            pair = min(state.pair, scheme.width // 2 - 1)
            return Matrix(scheme, state.shift_within, pair)
    return None
