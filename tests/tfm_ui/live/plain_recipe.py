"""Recipes of a file that does not import torch."""

from typing import Any

import numpy as np


def twice(*, mask: Any) -> Any:
    """The double of it."""
    doubled = mask + mask
    return doubled


def rooted(*, values: list[float]) -> Any:
    """The square root of each."""
    roots = np.sqrt(values)
    return roots
