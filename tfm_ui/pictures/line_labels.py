"""Named vertical lines and named ranges in charts of lines."""

import math
from collections.abc import Mapping
from typing import Any

from tfm_ui.pictures.figures import MUTED, RULE, SMALL, plain


def labels(
    marks: Mapping[str, float],
    ranges: Mapping[str, tuple[float, float]],
    which: str,
    horizontal: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Plotly's annotations and shapes for one chart.

    Args:
        marks: name -> x of a vertical line.
        ranges: name -> first and last x of a shaded range.
        which: the number after "x" and "y" in the names of the chart's axes.
        horizontal: the x axis, with its range and type.
    """
    log = horizontal["type"] == "log"
    above = {"showarrow": False, "xref": f"x{which}", "yref": f"y{which} domain", "y": 1, "yanchor": "bottom"}
    muted = {"font": {"size": SMALL, "color": MUTED}}
    texts: list[dict[str, Any]] = []
    upright = {"xref": f"x{which}", "yref": f"y{which} domain", "y0": 0, "y1": 1}
    shapes: list[dict[str, Any]] = []
    for name, x in marks.items():
        texts.append(above | muted | {"text": plain(name), "x": _place(x, log), "xanchor": _anchor(x, horizontal)})
        line = {"color": MUTED, "width": 1, "dash": "dot"}
        shapes.append(upright | {"type": "line", "x0": x, "x1": x, "line": line})
    for name, (first, last) in ranges.items():
        texts.append(above | muted | {"text": plain(name), "x": _place(first, log), "xanchor": "left"})
        fill = {"fillcolor": RULE, "opacity": 0.35, "line": {"width": 0}, "layer": "below"}
        shapes.append(upright | fill | {"type": "rect", "x0": first, "x1": last})
    return texts, shapes


def _place(x: float, log: bool) -> float:
    """Where a text stands: on a log scale, Plotly wants the power of ten for texts, though not for shapes."""
    return math.log10(x) if log else x


def _anchor(x: float, horizontal: Mapping[str, Any]) -> str:
    """Which end of a text stands at x, so that it stays within the chart."""
    low, high = horizontal["range"]
    share = (_place(x, horizontal["type"] == "log") - low) / (high - low)
    return "left" if share < 0.15 else "right" if share > 0.85 else "center"
