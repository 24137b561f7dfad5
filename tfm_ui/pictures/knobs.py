"""Sliders that move every picture of the page while they are dragged, each with a box for an exact number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content, Header

KNOBS = Canvas("pictures/knobs", '<div class="knobs" data-picture></div>')


@dataclass(frozen=True)
class Knob:
    """A slider with a box.

    Attributes:
        label: the text before the slider.
        parameter: the link's parameter that it sets.
        value: its current value.
        low, high: its lowest and highest value.
        stops: the values that the slider can have; without stops it is continuous, on a logarithmic scale.
        digits: the number of significant digits, if there are no stops.
    """

    label: str
    parameter: str
    value: float
    low: float
    high: float
    stops: Sequence[float] = ()
    digits: int = 3


def as_data(knobs: Sequence[Knob]) -> Header:
    """What knobs.js draws from."""
    return {"knobs": [{**vars(knob), "stops": list(knob.stops)} for knob in knobs]}


def content(knobs: Sequence[Knob]) -> Content:
    """The content of a picture that is a row of sliders."""
    return as_data(knobs), np.zeros(0, np.float32)
