"""What a mask would save a kernel that skips work. Pure."""

import numpy as np
from numpy.typing import NDArray

from tfm_ui.text import formats

BLOCK = 128  # of FlexAttention, queries and keys, in torch 2.5 and later


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
    pairs, blocks = formats.percent(1 - float(mask.mean())), formats.percent(empty_blocks(mask, size))
    return (
        f"In theory, a kernel that skips single pairs leaves out {pairs} of the multiply-adds of q·kᵀ and weights·v, "
        f"one that skips whole blocks of {size} × {size}, {blocks}. This program skips none."
    )
