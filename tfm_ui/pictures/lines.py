"""Measurements as lines: one chart or a few beside each other, whose exact values can be read at any x."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tfm_ui.pictures.canvas import Canvas, Content

LINES = Canvas(
    "pictures/lines",
    """
<div class="lines" data-picture>
  <canvas tabindex="0" role="application"></canvas>
  <span class="say" aria-live="polite"></span>
</div>
""",
)
Scale = Literal["linear", "log2", "log10"]


@dataclass(frozen=True)
class Line:
    """One series.

    Attributes:
        name: stands at its end, and beside its values where they are read; "" of what is only to be seen.
        x, y: as many of one as of the other. What a log scale cannot show, and NaN, leaves a gap.
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        style: "solid" joins points, marked where there is room, "dashed" is for laws and for the second of two sides,
            "thin" for what surrounds another line, "dots" for what has no order.
        mark: stands over each of its dots, to find them by their name.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    style: Literal["solid", "dashed", "thin", "dots"] = "solid"
    mark: str = ""


@dataclass(frozen=True)
class Chart:
    """Lines over one x.

    Attributes:
        x, y: what the axes stand for, with units; the y is also the chart's heading.
        lines: the series.
        x_scale, y_scale: how numbers become places.
        reach: y that must be in sight, whatever the data.
        marks: name -> x of an upright line.
        ranges: name -> first and last x of a part that is shaded.
    """

    x: str
    y: str
    lines: Sequence[Line]
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    reach: Sequence[float] = ()
    marks: Mapping[str, float] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def content(charts: Sequence[Chart], *, about: str, gap: str = "none") -> Content:
    """What lines.js draws: charts of the same x are read together.

    Args:
        charts: from left to right, or from top to bottom where there is no room.
        about: the picture in words.
        gap: what a NaN is called, where it is read.

    Raises:
        ValueError: for a line whose x and y differ in number.
    """
    numbers: list[Sequence[float]] = [()]
    for line in (line for chart in charts for line in chart.lines):
        if len(line.x) != len(line.y):
            raise ValueError(f"expected a y for each x of {line.name!r}, got {len(line.x)} x and {len(line.y)} y")
        numbers += [line.x, line.y]
    header = {
        "about": about,
        "gap": gap,
        "charts": [
            {
                "x": chart.x,
                "y": chart.y,
                "xScale": chart.x_scale,
                "yScale": chart.y_scale,
                "reach": list(chart.reach),
                "marks": [{"name": name, "x": x} for name, x in chart.marks.items()],
                "ranges": [{"name": name, "from": first, "to": last} for name, (first, last) in chart.ranges.items()],
                "lines": [
                    {
                        "name": line.name,
                        "colour": line.colour,
                        "style": line.style,
                        "count": len(line.x),
                        "mark": line.mark,
                    }
                    for line in chart.lines
                ],
            }
            for chart in charts
        ],
    }
    return header, np.concatenate([np.asarray(part, np.float32) for part in numbers])
