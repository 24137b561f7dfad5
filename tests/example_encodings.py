"""Positional encodings for `tests/test_a_new_encoding.py`: one for each place, and two that enter at two places."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core import Positional, apply_rotary, sinusoidal_encoding
from tfm_core.positional.schemes import About, Table


class Ramp(Positional):
    """Numbers that grow with the position, added to the embeddings: fixed, and no waves."""

    about = About(
        kind="absolute",
        beyond="defined: the ramp goes on",
        depends_on=("d_model",),
        used_by=("nobody",),
        source="this test",
        called="the ramp",
    )

    def encode(self, seq_len: int, start: int = 0) -> Tensor:
        return torch.outer(torch.arange(start, start + seq_len) / 64, torch.linspace(-1, 1, self.d_model + 1)[1:])


class Slowed(Positional):
    """Queries and keys turned as if positions were a quarter apart. Chen et al. 2023 (Position Interpolation)."""

    about = About(
        kind="relative",
        beyond="defined: four times as far as without",
        depends_on=("d_model", "base"),
        used_by=("nobody",),
        source="Chen et al. 2023",
        called="slowed RoPE",
    )
    waves_at = ("rotate",)
    equations = (apply_rotary,)

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        return apply_rotary(x, torch.arange(start, start + x.shape[-2], device=x.device) / 4, base=self.base)

    def wavelengths(self, width: int) -> Tensor | None:
        every_position = super().wavelengths(width)
        return None if every_position is None else 4 * every_position

    @staticmethod
    def check(*, d_model: int, num_heads: int) -> None:
        if d_model // num_heads % 2:
            raise ValueError(f"expected an even d_model / num_heads, got {d_model} / {num_heads}")


class Logarithm(Positional):
    """Scores fall by the logarithm of the distance: fixed, and no slope. Chi et al. 2022 (KERPLE)."""

    about = About(
        kind="relative",
        beyond="defined: far keys are told apart less and less",
        depends_on=("num_heads",),
        used_by=("nobody",),
        source="Chi et al. 2022",
        called="the logarithm",
    )

    def bias_at(self, distance: Tensor) -> Tensor:
        return -distance.abs().add(1).log().expand(self.num_heads, *distance.shape)


class TableAndBias(Positional):
    """A trained vector per position, added, and a trained slope per head: two places, two tables."""

    about = About(
        kind="absolute and relative",
        beyond="not defined: the table ends at max_len",
        depends_on=("d_model", "num_heads", "max_len"),
        used_by=("nobody",),
        source="this test",
        called="the table with slopes",
    )
    tables: ClassVar = {
        "rows": Table("encode", ("max_len", "d_model"), std=0.5),
        "steps": Table("bias_at", ("num_heads",), std=0.1),
    }
    rows: nn.Parameter
    steps: nn.Parameter

    def encode(self, seq_len: int, start: int = 0) -> Tensor:
        if start + seq_len > self.max_len:
            raise ValueError(f"expected at most max_len={self.max_len} tokens, got {start + seq_len}")
        return F.embedding(torch.arange(start, start + seq_len, device=self.rows.device), self.rows)

    def bias_at(self, distance: Tensor) -> Tensor:
        return self.steps.view(-1, *[1] * distance.dim()) * distance.to(self.steps)


class AddedAndTurned(Positional):
    """The same waves twice, added to the embeddings and turning queries and keys: two places, no table."""

    about = About(
        kind="absolute and relative",
        beyond="defined: waves go on",
        depends_on=("d_model", "base"),
        used_by=("nobody",),
        source="this test",
        called="waves twice",
    )
    waves_at = ("encode", "rotate")
    equations = (sinusoidal_encoding, apply_rotary)
    check = Slowed.check

    def encode(self, seq_len: int, start: int = 0) -> Tensor:
        return sinusoidal_encoding(seq_len, self.d_model, base=self.base, start=start)

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        return apply_rotary(x, torch.arange(start, start + x.shape[-2], device=x.device), base=self.base)


ENCODINGS: dict[str, type[Positional]] = {
    "ramp": Ramp,
    "slowed": Slowed,
    "logarithm": Logarithm,
    "table-bias": TableAndBias,
    "added-turned": AddedAndTurned,
}
