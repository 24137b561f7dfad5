"""Sliders that move every picture of the page while they are dragged, each with a box for an exact number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content

KNOBS = Canvas("pictures/knobs", '<div class="knobs" data-picture></div>')


@dataclass(frozen=True)
class Knob:
    """One of them.

    Attributes:
        label: what stands before it.
        parameter: of the link.
        value: now.
        low, high: its ends.
        stops: the values that the slider has; where there are none, it has all, in equal steps of the logarithm.
        digits: significant ones, where there are no stops.
    """

    label: str
    parameter: str
    value: float
    low: float
    high: float
    stops: Sequence[float] = ()
    digits: int = 3


def content(knobs: Sequence[Knob]) -> Content:
    """What knobs.js draws."""
    return {"knobs": [{**vars(knob), "stops": list(knob.stops)} for knob in knobs]}, np.zeros(0, np.float32)
