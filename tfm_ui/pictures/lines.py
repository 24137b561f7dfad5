"""Pictures of lines: one chart or a few side by side, in which the reader can read exact values at any x."""

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
    """A series of points.

    Attributes:
        name: stands at the end of the line and beside its values; "" for a line whose values cannot be read.
        x, y: the points. NaN, and values that a log scale cannot show, leave a gap.
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        style: "solid" joins points, with marks if there is room; "dashed" is for laws and for the second of two sides,
            "thin" for lines that surround another, "dots" for points without an order.
        mark: a text above each dot.
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
        x, y: the names of the axes, with units; the name of the y axis is also the chart's heading.
        lines: the series.
        x_scale, y_scale: the scales of the axes.
        reach: values that the y axis must include, whatever the data.
        marks: name -> x of a vertical line.
        ranges: name -> first and last x of a shaded range.
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
    """The content for lines.js. Charts with the same x axis are read together.

    Args:
        charts: from left to right, or from top to bottom on narrow screens.
        about: the picture in words.
        gap: the text in place of a NaN.

    Raises:
        ValueError: if a line does not have as many x as y.
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
