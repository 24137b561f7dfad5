"""Tables larger than a screen: a part of a table, pooled to as many cells as a screen can show. Pure functions."""

from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.live.tables import SIDE, ByDistance, Extreme, Part, Table, furthest
from tfm_ui.state.lists import Vectors, vectors

AT_ONCE = 2**21  # how many numbers are pooled at a time
WHOLE = "0,0,0,0"


def field(label: str, most: int) -> Vectors:
    """The control for a part, "top,left,rows,columns" in the link; 0 rows or columns mean all that follow."""
    return Vectors(label, ((0, most),) * 4)


def part_of(value: str, height: int, width: int, side: int = SIDE) -> Part:
    """The part that a control's value means in a table of this size; a part outside the table means the whole."""
    top, left, rows, columns = (round(number) for number in vectors(value)[0])
    if top >= height:
        top = rows = 0
    if left >= width:
        left = columns = 0
    return Part(top, left, min(rows or height, height - top), min(columns or width, width - left), height, width, side)


def pooled(table: Table, part: Part) -> NDArray[np.float32]:
    """The value furthest from 0 in each block of the part, with its sign; NaN where the block has no value."""
    down, over = part.block
    if isinstance(table, ByDistance):
        return table.pooled(part).float().numpy()
    columns = slice(part.left, part.left + part.columns)
    step = max(1, AT_ONCE // (part.columns * down)) * down
    end = part.top + part.rows
    chunks = [table(slice(top, min(top + step, end)), columns).float() for top in range(part.top, end, step)]
    if part.exact:
        return torch.cat(chunks).numpy()
    return torch.cat([furthest(chunk, partial(_in_blocks, down=down, over=over)) for chunk in chunks]).numpy()


def _in_blocks(values: Tensor, extreme: Extreme, down: int, over: int) -> Tensor:
    """The extreme of each block of down x over cells; the last blocks may be smaller. Rows first, as that is faster."""
    for size in (down, over):
        whole = len(values) // size * size
        blocks = extreme(values[:whole].reshape(-1, size, values.shape[1]), 1) if whole else values[:0]
        rest = extreme(values[whole:], 0)[None] if whole < len(values) else values[:0]
        values = torch.cat([blocks, rest]).T
    return values
