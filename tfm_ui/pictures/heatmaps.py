"""Plotly figures of tables: one heatmap, or several side by side. They are the downloads of all pictures that are maps.

Rows go from top to bottom, as in the pictures. A gap (NaN) is a cell without a value: the paper behind the cells has
the colour of what is masked, so a gap has it too. Rows and columns have labels that differ, because Plotly puts equal
ones into one place.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.figures import NORMAL, PAPER, SMALL, TEMPLATE, colour_of, plain
from tfm_ui.pictures.heatmaps_layout import Place, Table, across_of, places
from tfm_ui.pictures.map_scale import Scale
from tfm_ui.text import colours, formats

MASKED = colours.MASKED["light"]
BARS = 12  # of more maps, scales that differ are not drawn
PRINTED = 12  # in maps of up to this many rows and columns, cells that have room print their numbers
TELLING = 100_000  # cells of a figure up to which a hover tells what a gap is; the title does so in any case
LINE = 110  # letters in a line of a note
NUMBER = ".4~g"
Values = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class Side:
    """The rows or the columns of a heatmap.

    Attributes:
        labels: of each row or column, all different.
        title: of the axis.
        noun: what a single row or column is called.
        role: the colour of the labels, as `colour_of` names it.
    """

    labels: Sequence[str]
    title: str
    noun: str
    role: str = "ink"


@dataclass(frozen=True, kw_only=True)
class Heat:
    """A heatmap.

    Attributes:
        name: above it.
        values: (row, column), NaN for a gap.
        rows, columns: its sides.
        scale: which values the colours stand for; None if it only says which cells have a value.
        unit: what the values are.
        whole: whether all values are whole numbers.
        gaps: what a gap may be; where that is not one thing, texts tell which.
        texts: (row, column), what a reader is told of a cell; by default its number, which needs a linear scale.
        words: what 0 and 1 are called, if there are no other values.
        more: what else is told of a cell, a template, and its numbers, (row, column, number).
        behind: (row, column), the numbers that gaps hold though they do not count, else NaN.
        crosses: row and column of each cell that is crossed out.
        crossed: what a cross means.
        square: whether cells are square.
    """

    name: str
    values: Values
    rows: Side
    columns: Side
    scale: Scale | None
    unit: str = ""
    whole: bool = False
    gaps: Sequence[str] = ("masked",)
    texts: Sequence[Sequence[str]] = ()
    words: Sequence[str] = ()
    more: tuple[str, Values] | None = None
    behind: Values | None = None
    crosses: Sequence[tuple[int, int]] = ()
    crossed: str = ""
    square: bool = True

    @property
    def legend(self) -> tuple[Any, ...]:
        """Heatmaps for which this is the same share a scale."""
        return self.scale, self.unit, tuple(self.words)

    @property
    def table(self) -> Table:
        """What counts for the layout."""
        rows, columns = (max(map(len, side.labels)) for side in (self.rows, self.columns))
        return Table(len(self.rows.labels), len(self.columns.labels), rows, columns, self.square)


def numbered(names: Sequence[str], first: int = 1) -> list[str]:
    """Names with their numbers before them, by which equal ones differ: "3 sat". Where they are these numbers, once."""
    numbers = [str(number) for number in range(first, first + len(names))]
    if list(names) == numbers:
        return numbers
    return [with_number(number, name) for number, name in zip(numbers, names, strict=True)]


def with_number(number: object, name: str) -> str:
    """A name with its number before it; a name that is a number itself stands after a colon: "3: 2"."""
    return f"{number}: {name}" if name[:1].isdigit() else f"{number} {name}"


def note(*sentences: str) -> dict[str, Any]:
    """A figure's title with a line below it: what a reader of the numbers must know."""
    lines = wrap(" ".join(filter(None, sentences)), LINE)
    return {"subtitle": {"text": "<br>".join(map(plain, lines)), "font": {"size": SMALL}}}


def figure(heats: Sequence[Heat], *, told: str = "", across: int = 0, named: bool = True) -> go.Figure:
    """Heatmaps side by side.

    Args:
        heats: from left to right, row by row; at least one.
        told: what is rounded, pooled or left out.
        across: how many stand beside each other; 0 for as many as have room.
        named: whether labels of rows and columns are printed; those of a cell are told at it in any case.
    """
    legends = list(dict.fromkeys(heat.legend for heat in heats if heat.scale))
    shared = all((heat.rows, heat.columns) == (heats[0].rows, heats[0].columns) for heat in heats)
    bars = len(legends) > 1 and len(heats) <= BARS
    across = across or across_of(len(heats))
    where, height = places([heat.table for heat in heats], across, shared=shared, named=named, bars=bars)
    tells = sum(heat.values.size for heat in heats) <= TELLING
    traces: list[dict[str, Any]] = []
    axes: dict[str, Any] = {}
    names: list[dict[str, Any]] = []
    for number, (heat, place) in enumerate(zip(heats, where, strict=True), 1):
        at = "" if number == 1 else str(number)
        shades = shades_of(heat, place if bars else None)
        if len(legends) == 1 and heat.scale:
            shades = {"coloraxis": "coloraxis"}
        printed = named and max(heat.values.shape) <= PRINTED
        traces += [
            trace | {"xaxis": f"x{at}", "yaxis": f"y{at}"}
            for trace in _traces(heat, shades, printed=printed, tells=tells)
        ]
        axes |= _axes(heat, place, at, named=named, bars=bars)
        names += [_name(heat.name, at, SMALL if across > 8 else NORMAL)] if heat.name else []
    if len(legends) == 1:
        axes["coloraxis"] = colour_axis(next(heat for heat in heats if heat.scale))
    gaps = dict.fromkeys(gap for heat in heats if np.isnan(heat.values).any() for gap in heat.gaps)
    many = "Each map has a scale of its own, to its largest number." if len(legends) > 1 and not bars else ""
    title = note(f"Grey: {' or '.join(gaps)}." if gaps else "", told, many)
    lines = title["subtitle"]["text"].split("<br>")
    above = (24 if lines[0] else 0) + 17 * len(lines)
    layout = {
        "template": TEMPLATE,
        "plot_bgcolor": MASKED if gaps else PAPER,
        "showlegend": False,
        "height": round(height) + above,
        "annotations": names,
        "title": title,
    }
    return go.Figure(data=traces, layout=axes | layout)


def _traces(heat: Heat, shades: dict[str, Any], *, printed: bool, tells: bool) -> list[dict[str, Any]]:
    """A heatmap, the numbers in its gaps, and crosses."""
    cell = f"{plain(heat.rows.noun)} %{{y}}<br>{plain(heat.columns.noun)} %{{x}}<br>"
    powers = heat.scale is not None and heat.scale.powers
    values = np.log10(heat.values) if powers else heat.values
    number = f"%{{z:{'.0f' if heat.whole else NUMBER}}}"
    gap = plain(" or ".join(heat.gaps))
    texts = heat.texts
    if tells and not texts and np.isnan(heat.values).any():  # Plotly itself writes a gap as "NaN"
        word = " or ".join(heat.gaps)
        texts = [[word if np.isnan(value) else _written(value, heat.whole) for value in row] for row in heat.values]
    printed = printed and heat.scale is not None and not heat.words and not powers and not heat.whole and not heat.more
    base: dict[str, Any] = {
        "type": "heatmap",
        "x": _plain(heat.columns.labels),
        "y": _plain(heat.rows.labels),
        "name": plain(heat.name),
    }
    base["hoverlabel"] = {"namelength": -1}
    drawn = base | shades
    drawn |= {
        "z": np.asarray(values, np.float32),
        "hovertemplate": cell + ("%{text}" if texts else number),
        "hoverongaps": bool(texts),
    }
    if powers:  # the colours go by the logarithm, which is z
        drawn["customdata"] = heat.values
    if heat.more:
        drawn |= {"hovertemplate": f"{drawn['hovertemplate']}<br>{heat.more[0]}", "customdata": heat.more[1]}
    if texts:
        safe = {text: plain(text) for text in {text for row in texts for text in row}}
        drawn["text"] = [[safe[text] for text in row] for row in texts]
    if printed and heat.scale:
        place = "customdata" if texts else "text"  # `text` may hold what is told of a cell
        share = heat.scale.low >= 0 or heat.scale.high == 1
        unsigned = heat.scale.low == 0
        drawn[place] = [[in_cell(float(value), share, unsigned=unsigned) for value in row] for row in heat.values]
        drawn |= {"texttemplate": f"%{{{place}}}", "texttemplatefallback": ""}
    traces = [drawn]
    grey: dict[str, Any] = base | {"colorscale": [[0, MASKED], [1, MASKED]], "showscale": False}
    if heat.behind is not None and not np.isnan(heat.behind).all():
        told = {"hovertemplate": f"{cell}{number}, {gap}", "hoverongaps": False}
        traces.append(grey | told | {"z": heat.behind})
    if heat.crosses:
        rows, columns = zip(*heat.crosses, strict=True)
        marks: dict[str, Any] = {"type": "scatter", "mode": "markers", "name": plain(heat.crossed), "hoverinfo": "skip"}
        marks |= {"x": [base["x"][column] for column in columns], "y": [base["y"][row] for row in rows]}
        traces.append(
            marks | {"marker": {"symbol": "x-thin", "size": 9, "line": {"width": 3, "color": colour_of("leak")}}}
        )
    return traces


def in_cell(value: float, share: bool, *, unsigned: bool) -> str:
    """A number as the browser prints it (assets/pictures/paint.js): only 0 is 0.00, and only 1 is 1.00.

    Where no number is below 0, as in a map of weights, one that would be <0.01 is left out.
    """
    if math.isnan(value) or (unsigned and 0 < value < 0.005):
        return ""
    size, sign = abs(value), "−" if value < 0 else ""
    if 0 < size < 0.005:
        return ">−0.01" if value < 0 else "<0.01"
    if share and 0.995 <= size < 1:
        return "<−0.99" if value < 0 else ">0.99"
    return f"{sign}{size:.2f}"


def _written(value: float, whole: bool) -> str:
    return f"{value:{'.0f' if whole else '.4g'}}".replace("-", "−")


def _plain(texts: Sequence[str]) -> list[str]:
    return [plain(text) for text in texts]


def _axes(heat: Heat, place: Place, at: str, *, named: bool, bars: bool) -> dict[str, Any]:
    def axis(side: Side, domain: tuple[float, float], *, told: bool) -> dict[str, Any]:
        colour = colour_of(side.role)
        font = {"color": colour, "size": SMALL}
        drawn = {"type": "category", "domain": domain, "showgrid": False, "showticklabels": named and told, "ticks": ""}
        return drawn | {"tickfont": font} | ({"title": {"text": plain(side.title), "font": font}} if told else {})

    across = axis(heat.columns, place.x, told=place.columns) | {"anchor": f"y{at}"}
    across |= {"tickangle": -90} if place.on_end else {}
    down = axis(heat.rows, place.y, told=place.rows) | {"anchor": f"x{at}", "autorange": "reversed"}
    if heat.square:
        across |= {"constrain": "domain", "constraintoward": "right" if bars else "center"}
        down |= {"constrain": "domain", "constraintoward": "top", "scaleanchor": f"x{at}"}
    return {f"xaxis{at}": across, f"yaxis{at}": down}


def _name(text: str, at: str, size: int) -> dict[str, Any]:
    """A name above a heatmap, at its left."""
    place = {"xref": f"x{at} domain", "yref": f"y{at} domain", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"}
    return {**place, "text": plain(text), "showarrow": False, "font": {"size": size}}


def shades_of(heat: Heat, beside: Place | None) -> dict[str, Any]:
    """A scale of the heatmap's own; it stands beside it, if it has a place."""
    if heat.scale is None:
        return {"colorscale": [[0, PAPER], [1, PAPER]], "showscale": False, "xgap": 1, "ygap": 1}
    low, high = _ends(heat.scale)
    shades: dict[str, Any] = {
        "zmin": low,
        "zmax": high,
        "colorscale": _stops(heat.scale),
        "showscale": beside is not None,
    }
    if beside:
        middle, tall = sum(beside.y) / 2, beside.y[1] - beside.y[0]
        shades["colorbar"] = _bar(heat) | {"x": beside.x[1], "y": middle, "len": tall, "xpad": 6, "ypad": 0}
    return shades


def colour_axis(heat: Heat) -> dict[str, Any]:
    """A scale that several heatmaps share, at the right of all."""
    assert heat.scale
    low, high = _ends(heat.scale)
    return {"cmin": low, "cmax": high, "colorscale": _stops(heat.scale), "colorbar": _bar(heat)}


def _ends(scale: Scale) -> tuple[float, float]:
    return (float(np.log10(scale.low)), float(np.log10(scale.high))) if scale.powers else (scale.low, scale.high)


def _stops(scale: Scale) -> list[list[Any]]:
    """The light colours of a scale, from its low end to its high one; 0 is the middle of the signed ones."""
    shades, signed = colours.WEIGHTS["light"], colours.SIGNED["light"]
    if scale.low < 0:
        shades = signed[: len(signed) if scale.high > 0 else len(signed) // 2 + 1]
    return [[at / (len(shades) - 1), shade] for at, shade in enumerate(shades)]


def _bar(heat: Heat) -> dict[str, Any]:
    assert heat.scale
    bar: dict[str, Any] = {"thickness": 10, "outlinewidth": 0, "tickfont": {"size": SMALL}}
    if heat.words:
        bar |= {"tickvals": [0, 1], "ticktext": [plain(word) for word in heat.words]}
    elif heat.scale.powers:
        low, high = _ends(heat.scale)
        powers = [power for power in range(round(low), round(high) + 1) if low - 0.01 <= power <= high + 0.01]
        bar |= {"tickvals": powers, "ticktext": [formats.power_of_ten(10.0**power) for power in powers]}
    else:
        ends = dict(zip((heat.scale.low, heat.scale.high), heat.scale.texts(whole=heat.whole), strict=True)) | {0: "0"}
        bar |= {"tickvals": sorted(ends), "ticktext": [ends[end] for end in sorted(ends)]}
    return bar | {"title": {"text": plain(heat.unit), "side": "right", "font": {"size": SMALL}}}
