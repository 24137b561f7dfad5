"""Charts of lines: one or a few side by side, in which the reader can read exact values at any x."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import TEMPLATE, Figure, axis_title, plain
from tfm_ui.pictures.line_axes import Scale, of_x, of_y
from tfm_ui.pictures.line_labels import labels
from tfm_ui.pictures.line_traces import Line as Line
from tfm_ui.pictures.line_traces import traces

ABOVE, BELOW = 32, 96  # what stands above and below the axes, in pixels


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


def figure(charts: Sequence[Chart], *, gap: str = "none") -> Figure:
    """The charts as one figure, side by side. Charts whose x have the same name are zoomed together.

    Args:
        charts: from left to right.
        gap: the text in place of a NaN.

    Raises:
        ValueError: if a line does not have as many x as y.
    """
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"template": TEMPLATE, "meta": {"kind": "lines"}, "hovermode": "x unified"}
    layout |= {"height": 380, "margin": {"t": ABOVE, "b": BELOW}, "annotations": [], "shapes": []}
    layout["legend"] = {"x": 0, "xref": "container", "y": 0, "yref": "container", "yanchor": "bottom"}
    if any(line.style == "dots" for chart in charts for line in chart.lines):
        layout["legend"]["itemsizing"] = "constant"  # a dot as small as those of the chart would not be seen
    for number, drawn in enumerate(charts):
        which = str(number + 1) if number else ""
        first = next(i for i, other in enumerate(charts) if other.x == drawn.x)
        horizontal = of_x(drawn.lines, drawn.x_scale, list(drawn.marks.values()))
        vertical = of_y(drawn.lines, drawn.y_scale, drawn.reach)
        layout[f"xaxis{which}"] = horizontal | {
            "anchor": f"y{which}",
            "domain": [(number + 0.08 * bool(number)) / len(charts), (number + 0.92) / len(charts)],
            "title": axis_title(drawn.x),
            "unifiedhovertitle": {"text": f"{plain(drawn.x.split(',')[0])} = %{{x{_whole(drawn)}}}"},
            "uirevision": f"{drawn.x} {drawn.x_scale}",
            **({"matches": f"x{first + 1 if first else ''}"} if first != number else {}),
        }
        layout[f"yaxis{which}"] = vertical | {
            "anchor": f"x{which}",
            "title": axis_title(drawn.y),
            "uirevision": f"{drawn.y} {drawn.y_scale}",
        }
        data += traces(drawn.lines, which, bottom=vertical["range"][0], log=vertical["type"] == "log", gap=gap)
        texts, shapes = labels(drawn.marks, drawn.ranges, which, horizontal)
        layout["annotations"] += texts
        layout["shapes"] += shapes
    _name_in_legend(data)
    return {"data": data, "layout": layout | {"uirevision": "same"}}


def _whole(chart: Chart) -> str:
    """The format of whole x, as 4 096 with a narrow space; other x are written as Plotly does."""
    return ":,d" if all(float(x).is_integer() for line in chart.lines for x in line.x) else ""


def _name_in_legend(data: Sequence[dict[str, Any]]) -> None:
    """Each name stands in the legend once; names that their colour cannot tell apart do not stand there."""
    named: list[str] = []
    for trace in data:
        trace["showlegend"] = bool(trace["name"]) and trace["name"] not in named and trace.get("meta") != "gap"
        named += [trace["name"]] * trace["showlegend"]
    marked = {trace["marker"]["color"] if "text" in trace else None for trace in data if trace["showlegend"]}
    if len(named) < 2 or (None not in marked and len(marked) == 1):
        for trace in data:
            trace["showlegend"] = False


def content(charts: Sequence[Chart], *, about: str = "", gap: str = "none") -> Content:
    """The content for chart.js; see `figure`.

    Args:
        charts: from left to right, or from top to bottom on narrow screens.
        about: the picture in words.
        gap: the text in place of a NaN.
    """
    return chart.content(figure(charts, gap=gap), about=about)
