"""Charts of repeated measurements: a strip for each thing that was measured, with a dot for each measurement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np

from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import INK, MUTED, NORMAL, SMALL, Figure, axis_title, colour_of, plain
from tfm_ui.pictures.line_axes import of_x
from tfm_ui.pictures.line_traces import Line
from tfm_ui.pictures.rows import End, Name, in_rows

STRIP = 23  # the height of a strip, in pixels
APART = 0.7  # the gap between two rows, in strips
BAND = 0.65  # the height of a band, in strips
ROUND = "round", 1  # what a measurement is called, and the number of the first one


@dataclass(frozen=True)
class Strip:
    """The measurements of one thing.

    Attributes:
        name, detail: what was measured; adjacent strips with the same name and detail stand together.
        group: the name of one of the picture's groups.
        dots: the measurements.
        rounds: the round in which each measurement was made, from 0.
        low, middle, high: a band around the middle, such as the quartiles and the median; NaN if there is none.
        end: the text at the strip's end: the middle in words, or why there is none.
        said: the strip in words, shown when the reader points at it.
    """

    name: str
    detail: str
    group: str
    dots: Sequence[float]
    rounds: Sequence[int]
    low: float
    middle: float
    high: float
    end: str
    said: str


@dataclass(frozen=True)
class Group:
    """How the strips of a group are drawn.

    Attributes:
        colour: "ink", "muted", a role such as "query", or "head 1" to "head 8".
        hollow: whether the dots are rings, so that groups differ not only by colour.
    """

    colour: str
    hollow: bool = False


def figure(
    strips: Sequence[Strip],
    groups: Mapping[str, Group],
    *,
    axis: str,
    unit: str,
    scale: Literal["linear", "log10"] = "linear",
    line: tuple[str, float] | None = None,
    least: bool = False,
    each: tuple[str, int] = ROUND,
) -> Figure:
    """A strip for each thing that was measured.

    Args:
        strips: from top to bottom.
        groups: name -> how its strips are drawn; the names stand above the picture if there are several groups.
        axis: the text below the axis.
        unit: the unit of the dots' values.
        scale: the scale of the axis. Values that a log scale cannot show are left out.
        line: the name and the value of a vertical line.
        least: whether the smallest dot of each strip is marked.
        each: what a measurement is called, and the number of the first one.

    Raises:
        ValueError: if a strip does not have as many rounds as dots.
    """
    for strip in strips:
        if len(strip.dots) != len(strip.rounds):
            raise ValueError(f"expected a round for each dot of {strip.name!r}, got {len(strip.rounds)}")
    heights, names = _rows(strips)
    traces: list[dict[str, Any]] = []
    for name, group in groups.items():
        of_group = [(strip, y) for strip, y in zip(strips, heights, strict=True) if strip.group == name]
        shown = f", {plain(name)}" if len(groups) > 1 else ""
        traces += [_bands(of_group, name, group), _dots(of_group, name, group, shown, unit, each)]
    if strips:
        traces.append(_middles([strip.middle for strip in strips], heights))
    if strips and least:
        traces.append(_least([(min(strip.dots), y) for strip, y in zip(strips, heights, strict=True) if strip.dots]))
    values = [Line("", [*strip.dots, strip.low, strip.middle, strip.high], (), "ink") for strip in strips]
    return in_rows(
        traces,
        names=names,
        ends=[
            End(plain(strip.end), y, colour=INK if strip.dots else MUTED, size=NORMAL - 1)
            for strip, y in zip(strips, heights, strict=True)
        ],
        last=heights[-1] if heights else 0,
        pixels=STRIP,
        rows="row",
        axis=of_x(values, scale, [line[1]] if line else [])
        | {"title": axis_title(axis), "uirevision": f"{axis} {scale}"},
        **(_line(*line, log=scale == "log10") if line else {}),
    )


def _line(name: str, x: float, *, log: bool) -> dict[str, Any]:
    """A vertical line with a name above it, in Plotly's layout. On a log scale, texts stand at powers of ten."""
    text = {"text": plain(name), "name": "line", "x": np.log10(x) if log else x, "font": {"size": SMALL, "color": INK}}
    above = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False}
    upright = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "x0": x, "x1": x}
    dashed = {"line": {"color": INK, "dash": "dash", "width": 1.5}}
    return {"annotations": [above | text], "shapes": [upright | dashed]}


def _rows(strips: Sequence[Strip]) -> tuple[list[float], list[Name]]:
    """Where each strip stands, counted in strips from the top, and the names."""
    heights: list[float] = []
    names, y = [], 0.0
    for (name, detail), together in groupby(strips, lambda strip: (strip.name, strip.detail)):
        count = len(list(together))
        below = 0.5 * (bool(detail) and count == 1)  # room for the second line of the name
        heights += [y + below / 2 + i for i in range(count)]
        names.append(
            Name(
                "<br>".join(plain(part) for part in (name, detail) if part),
                sum(heights[-count:]) / count,
                heights[-count],
            )
        )
        y = heights[-1] + below / 2 + 1 + APART
    return heights, names


def _bands(every: Sequence[tuple[Strip, float]], name: str, group: Group) -> dict[str, Any]:
    """Bars from the low to the high end of each strip's band; pointing at one tells what the strip says.

    A strip without a band has one of no width at its middle, so that it can be read.
    """
    strips = [(strip, y) for strip, y in every if not np.isnan(strip.middle)]
    low = np.array([strip.middle if np.isnan(strip.low) else strip.low for strip, _ in strips])
    high = np.array([strip.middle if np.isnan(strip.high) else strip.high for strip, _ in strips])
    colour = colour_of(group.colour)
    return {
        "type": "bar",
        "name": plain(name),
        "legendgroup": plain(name),
        "showlegend": False,
        "orientation": "h",
        "base": low,
        "x": high - low,
        "y": np.array([y for _, y in strips]),
        "width": BAND,
        "marker": {"color": colour, "opacity": 0.25, "line": {"color": colour, "width": 1}},
        "customdata": [plain(strip.said).replace("\n", "<br>") for strip, _ in strips],
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _dots(
    strips: Sequence[tuple[Strip, float]], name: str, group: Group, shown: str, unit: str, each: tuple[str, int]
) -> dict[str, Any]:
    """Every measurement; next to each other they stand a little higher and lower."""
    jitter = [(y + ((i * 2) % 5 - 2) * 0.08) for strip, y in strips for i in range(len(strip.dots))]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(name),
        "legendgroup": plain(name),
        "x": np.array([dot for strip, _ in strips for dot in strip.dots]),
        "y": np.array(jitter),
        "marker": {
            "color": colour_of(group.colour),
            "opacity": 0.75,
            "size": 6,
            "symbol": "circle-open" if group.hollow else "circle",
        },
        "customdata": [
            f"{plain(strip.name)}{shown}, {each[0]} {number + each[1]}"
            for strip, _ in strips
            for number in strip.rounds
        ],
        "hovertemplate": f"%{{customdata}}: %{{x:.4~g}}{unit and f' {unit}'}<extra></extra>",
    }


def _middles(middles: Sequence[float], heights: Sequence[float]) -> dict[str, Any]:
    """A bar across each strip at its middle."""
    marker = {"symbol": "line-ns", "size": 18, "color": INK, "line": {"color": INK, "width": 2.5}}
    return _unread(middles, heights) | {"marker": marker}


def _least(smallest: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """A triangle below the smallest dot of each strip."""
    marker = {"symbol": "triangle-up", "size": 8, "color": INK}
    return _unread([x for x, _ in smallest], [y + 0.5 for _, y in smallest]) | {"marker": marker}


def _unread(x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    """Marks whose values are read elsewhere."""
    common = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False}
    return common | {"x": np.asarray(x, np.float64), "y": np.asarray(y, np.float64)}


def content(
    strips: Sequence[Strip],
    groups: Mapping[str, Group],
    *,
    axis: str,
    unit: str,
    about: str = "",
    scale: Literal["linear", "log10"] = "linear",
    line: tuple[str, float] | None = None,
    least: bool = False,
    each: tuple[str, int] = ROUND,
) -> Content:
    """The content for chart.js: see `figure`; `about` is the picture in words."""
    drawn = figure(strips, groups, axis=axis, unit=unit, scale=scale, line=line, least=least, each=each)
    return chart.content(drawn, about=about)
