"""Finds the largest values including ties, so that no sentence names a single largest one if only rounding decides."""

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core.study.ties import ROUNDING, ties


def places_of_largest(values: NDArray[np.floating], size: float | None = None) -> list[int]:
    """The indices, in the flattened array, of all values that equal the largest one up to rounding.

    Args:
        values: results of a pass; NaN is ignored.
        size: the size of the numbers from which rounding errors come, such as the terms of a difference; by default
            that of the largest value.
    """
    flat = np.ravel(values)
    largest = float(np.nanmax(np.abs(flat), initial=0)) if size is None else size
    places: list[int] = ties(torch.from_numpy(np.ascontiguousarray(flat)), ROUNDING * largest).tolist()
    return places


def one_of_ties(count: int, what: str = "") -> str:
    """ " (one of 3 rows that tie)", to be put after what a sentence calls the largest; "" if there is no tie."""
    return f" (one of {count}{' ' * bool(what)}{what} that tie)" if count > 1 else ""
