"""What a mask would save a kernel that skips work, and how its pairs grow with the text."""

from dataclasses import dataclass
from math import isqrt

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.passes import LENGTHS
from tfm_ui.lenses.masks.see.terms import terms_of
from tfm_ui.lenses.masks.setting import Setting
from tfm_ui.text import look, units

SOURCES = (compute_masks.kept_by_length,)
BLOCK = 128  # of FlexAttention, queries and keys, in torch 2.5 and later
OWN, STRIDED = "your composition", "strided √n and causal"


def block_size(length: int) -> int:
    """Rows and columns of a block: FlexAttention's 128 for long texts, about an eighth of a shorter one."""
    return min(BLOCK, max(2, 1 << (length // 16).bit_length()))


def empty_blocks(mask: NDArray[np.bool_], size: int) -> float:
    """The share of all pairs that lie in blocks of size x size without a single pair that may attend.

    Args:
        mask: boolean (query, key); the last blocks may be smaller.
        size: rows and columns of a block.
    """
    rows, columns = (np.arange(0, length, size) for length in mask.shape)
    kept = np.add.reduceat(np.add.reduceat(mask, rows, axis=0, dtype=np.int64), columns, axis=1)
    high, wide = (np.diff(np.append(begins, end)) for begins, end in zip((rows, columns), mask.shape, strict=True))
    return float(np.outer(high, wide)[kept == 0].sum() / mask.size)


def about_saved(mask: NDArray[np.bool_]) -> str:
    """What kernels that skip work would leave out, in theory."""
    size = block_size(max(mask.shape))
    pairs, blocks = look.percent(1 - float(mask.mean())), look.percent(empty_blocks(mask, size))
    return (
        f"In theory, a kernel that skips single pairs leaves out {pairs} of the multiply-adds of q·kᵀ and weights·v, "
        f"one that skips whole blocks of {size} × {size}, {blocks}. Ours skips none."
    )


@dataclass(frozen=True)
class Growth:
    """How many pairs are kept at each of LENGTHS.

    Attributes:
        title: the composition.
        own: what it keeps.
        strided: what `strided` keeps with causality, its stride the root of the length, rounded down.
        length: of the text that is shown.
    """

    title: str
    own: list[int]
    strided: list[int]
    length: int

    @property
    def sentence(self) -> str:
        """How fast the last doubling makes it grow."""
        most, last = LENGTHS[-1] ** 2, LENGTHS[-1]
        grown = f"No pair is kept of a text of {LENGTHS[-2]} tokens."
        if self.own[-2]:
            times = units.times(self.own[-1] / self.own[-2])
            grow = "stay as many" if self.own[-1] == self.own[-2] else f"grow to {times} as many"
            grown = (
                f"From {LENGTHS[-2]} to {look.count(last)} tokens the pairs {grow}; with n² it would be 4×, with "
                "n √n 2.83×, with n 2×."
            )
        return (
            f"{grown} Of {look.count(most)} pairs {look.count(self.own[-1])} are kept, "
            f"{look.percent(self.own[-1] / most)}. Strided with its stride at √n = {isqrt(last)}, and causal, keeps "
            f"{look.count(self.strided[-1])}: a stride that stays while the text grows is n² in the end."
        )

    def table(self) -> pd.DataFrame:
        """A row per length."""
        squares, roots = [n * n for n in LENGTHS], [n**1.5 for n in LENGTHS]
        columns = {f"pairs kept, {OWN}": self.own, f"pairs kept, {STRIDED}": self.strided, "n²": squares, "n √n": roots}
        return pd.DataFrame(columns, index=pd.Index(LENGTHS, name="tokens"))


def growth(setting: Setting) -> Growth:
    """Of the setting's composition, without padding and without paint."""
    strided = [
        compute_masks.kept_by_length(f"strided {isqrt(length)}", causal=True)[i] for i, length in enumerate(LENGTHS)
    ]
    own = compute_masks.kept_by_length(setting.composition, causal=setting.causal_anyway)
    return Growth(terms_of(setting).title, own, strided, max(setting.composed.shape))
