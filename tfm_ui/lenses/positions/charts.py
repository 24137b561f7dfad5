"""What the pictures of several views share: the colours of A and B, lines across a chart, pictures of no scheme."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tfm_ui.lenses.positions.schemes import Scheme
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES
from tfm_ui.pictures.maps import MASKED, Axis, Map

A_AND_B: dict[str, tuple[str, Literal["solid", "dashed"]]] = {"A": ("head 1", "solid"), "B": ("head 2", "dashed")}
NEITHER = "muted"  # the colour of a scheme that is not one of the two


def colour_of(side: str) -> str:
    """The colour of "A", of "B", or of neither: ""."""
    return A_AND_B[side][0] if side else NEITHER


def line_of(scheme: Scheme, x: Sequence[float], y: Sequence[float], name: str = "") -> Line:
    """A side's curve: A is solid, B dashed."""
    return Line(name or scheme.title, x, y, *A_AND_B[scheme.side])


def level(name: str, y: float, last: int) -> Line:
    """A thin line across, from 0 to the last x; a point, where there is no other."""
    across = sorted({0, last})
    return Line(name, across, [y] * len(across), "muted", "thin")


def no_maps() -> Content:
    """An empty picture for a scheme that has been left: the page is about to take it away."""
    nothing = Axis([""], "", "")
    empty = Map(name="", values=np.full((1, 1), MASKED), scale=SHARES)
    return maps.content([empty], rows=nothing, columns=nothing, about="")


def no_lines() -> Content:
    """Lines for a scheme that has been left."""
    return lines.content([Chart("", "", [])], about="")
