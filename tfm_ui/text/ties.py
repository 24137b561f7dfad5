"""What a sentence calls the largest, where rounding alone may have told it from others. Arrays and strings alone."""

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_core.study.ties import ROUNDING, ties


def places_of_largest(values: NDArray[np.floating], size: float | None = None) -> list[int]:
    """The places, in the flattened values, of all that tie for the largest.

    Args:
        values: which a pass of the model made; NaN is no value.
        size: of the numbers that they are differences of; by default that of the largest value itself.
    """
    flat = np.ravel(values)
    largest = float(np.nanmax(np.abs(flat), initial=0)) if size is None else size
    places: list[int] = ties(torch.from_numpy(np.ascontiguousarray(flat)), ROUNDING * largest).tolist()
    return places


def one_of_ties(count: int, what: str = "") -> str:
    """ " (one of 3 rows that tie)", behind what is called the largest; "" where there is but one."""
    return f" (one of {count}{' ' * bool(what)}{what} that tie)" if count > 1 else ""
