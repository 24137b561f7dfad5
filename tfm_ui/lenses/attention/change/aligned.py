"""What A and B hold for each token, beside each other, wherever the two read it. Arrays alone.

The places of a text's tokens are numbers from 0, and -1 for a token that is dropped.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Places = NDArray[np.intp]  # of one text: where each of its tokens stands
Positions = Mapping[str, Places]  # of each text, by its name, "source" or "target"
NOTHING = 1e-6  # what moves less than this, as a share, has not moved but for rounding


def in_either(places: Sequence[Places]) -> Places:
    """The tokens that stand somewhere in A or in B, from 0."""
    return np.flatnonzero((np.stack(places) >= 0).any(0))


def by_token(
    weights: NDArray[np.float32], visible: NDArray[np.bool_], queries: Places, keys: Places
) -> tuple[NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_]]:
    """Weights, visibility, and whether both tokens are there, (query, key) in the order of the written text."""
    there = (queries >= 0)[:, None] & (keys >= 0)
    pick = np.ix_(queries, keys)
    return np.where(there, weights[pick], np.float32(0)), visible[pick] & there, there


def distances(a: Tensor, b: Tensor, in_a: Places, in_b: Places) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """||b - a|| and ||a|| of each token's vectors, 0 where it is not in both."""
    both = torch.from_numpy((in_a >= 0) & (in_b >= 0))
    old, new = a[torch.from_numpy(in_a)], b[torch.from_numpy(in_b)]
    return ((new - old).norm(dim=-1) * both).numpy(), (old.norm(dim=-1) * both).numpy()
