"""The axes of charts of lines: their scale and the range that is shown first."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from tfm_ui.pictures.line_traces import Line

Scale = Literal["linear", "log2", "log10"]
LEAST = {"linear": 0.5, "log2": math.log10(2), "log10": 1.0}  # what is shown on both sides of a single value
PLAIN = (-4, 9)  # powers of ten that are written as 0.001 or 1 000
LARGE = 3  # from this power of ten on they are written as 10k or 2M
MOST_TICKED = 10  # up to this many whole numbers each have a tick
TICKS = 8  # at most, on a scale of powers of two
FEW_POWERS = (0.8, 2.2)  # powers of ten: a span of more than the first and fewer than the second has ticks at 1, 2, 5


def of_x(lines: Sequence[Line], scale: Scale, marks: Sequence[float]) -> dict[str, Any]:
    """The x axis: it ends just beyond the outermost points and marks."""
    values = [*(line.x for line in lines), marks]
    low, high = _extent(values, scale)
    room = (0.02 if scale == "linear" else 0.04) * (high - low)  # on a log scale a tick stands at the first point
    before = min(room, 0.9) if scale == "linear" and low == 1 else room  # what is counted from 1 has no tick at 0
    return _axis(values, scale, low - before, high + room)


def of_y(lines: Sequence[Line], scale: Scale, reach: Sequence[float]) -> dict[str, Any]:
    """The y axis: it holds all values, and those that it must reach; 0 is its end if no value is negative."""
    values = [*(line.y for line in lines), reach]
    low, high = _extent(values, scale)
    room = (0.12 if any(line.mark for line in lines) else 0.06) * (high - low)  # a mark stands above its dot
    from_zero = scale == "linear" and low == 0
    return _axis(values, scale, 0.0 if from_zero else low - room, high + room)


def _axis(values: Sequence[Iterable[float]], scale: Scale, low: float, high: float) -> dict[str, Any]:
    axis: dict[str, Any] = {"type": "linear" if scale == "linear" else "log", "range": [low, high]}
    if scale == "log2":
        axis |= {
            "exponentformat": "none",
            "tick0": 0,
            "dtick": math.log10(2) * max(1, math.ceil((high - low) / math.log10(2) / TICKS)),
        }
    elif scale == "log10":
        axis["minorloglabels"] = "complete"
        if FEW_POWERS[0] < high - low < FEW_POWERS[1]:
            axis["dtick"] = "D2"  # with a tick at every digit, their names stand upon each other on a phone
        if PLAIN[0] <= low and high <= PLAIN[1]:
            axis["tickformat"] = "~s" if low > LARGE else ",~r"
    elif high - low <= MOST_TICKED and all(float(value).is_integer() for some in values for value in some):
        axis |= {"exponentformat": "none", "tick0": 0, "dtick": 1}  # counts: no tick stands between two of them
    return axis


def _extent(values: Sequence[Iterable[float]], scale: Scale) -> tuple[float, float]:
    """The smallest and the largest value that the scale can show; on a log scale their powers of ten, as in `range`."""
    every = np.concatenate([np.asarray(list(some), np.float64) for some in values]) if values else np.zeros(0)
    shown = every[np.isfinite(every) & ((every > 0) | (scale == "linear"))]
    if not shown.size:
        return 0.0, 1.0
    low, high = float(shown.min()), float(shown.max())
    if scale != "linear":
        low, high = math.log10(low), math.log10(high)
    return (low, high) if low < high else (low - LEAST[scale], high + LEAST[scale])
