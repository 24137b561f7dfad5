"""Which entries are as large as the largest, or as small as the smallest: of equal ones, rounding alone picks one."""

import torch
from torch import Tensor

EPSILON = torch.finfo(torch.float32).eps  # twice what one rounding may change a number by, as a share of it
ROUNDING = 16 * EPSILON  # share of its size by which a number of a pass may be off: its sums are rounded term by term


def ties(values: Tensor, off: float, *, smallest: bool = False) -> Tensor:
    """The places of all entries that differ from the largest by no more than rounding may make them.

    Args:
        values: of any shape; NaN is no entry.
        off: by how much rounding may change the difference of two entries.
        smallest: whether the smallest is meant.

    Returns:
        Places in the flattened values, int64 (tie,), rising; none where there is no entry.
    """
    flat = (-values if smallest else values).flatten()
    there = flat[~flat.isnan()]
    if not len(there):
        return torch.zeros(0, dtype=torch.int64)
    return (flat >= there.max() - off).nonzero().flatten()
