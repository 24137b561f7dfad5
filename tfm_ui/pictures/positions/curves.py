"""Long curves, of which those points are sent that a screen can show."""

import numpy as np
from numpy.typing import NDArray

# A curve of up to 512 points, or of steps with up to 512 ends, is sent exactly. A longer one is cut into at most 128
# pieces; of each, the lowest and the highest point are sent.
POINTS = 512
PIECES = 128


def kept_points(y: NDArray[np.float32]) -> NDArray[np.intp]:
    """Which points of a curve are sent: all; of a long curve the ends of its steps, or the extremes of each piece."""
    if len(y) <= POINTS:  # none, too
        return np.arange(len(y))
    bends = np.flatnonzero((np.diff(y, prepend=np.nan) != 0) | (np.diff(y, append=np.nan) != 0))
    if len(bends) <= POINTS:
        return bends  # a curve of steps, exactly
    size = -(-len(y) // PIECES)
    whole = len(y) // size * size
    parts = [(0, y[:whole].reshape(-1, size)), (whole, y[None, whole:])]
    extremes = [
        begin + np.arange(len(part)) * size + pick(part, axis=1)
        for begin, part in parts
        if part.size
        for pick in (np.argmin, np.argmax)
    ]
    return np.unique(np.concatenate(extremes))
