"""Charts of a few numbers of both signs as horizontal bars from 0."""

from collections.abc import Collection, Sequence

import numpy as np

from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import SMALL, Figure, axis_title, plain
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.text import colours, formats

BAR = 40  # the height of a bar and its gap, in pixels
NEGATIVE, POSITIVE = colours.SIGNED["light"][3], colours.SIGNED["light"][13]


def signed(value: float) -> str:
    """A number with its sign, which 0 has not: +3.10, −0.42, +0.0042; tiny ones as powers of ten."""
    size = abs(value)
    if not size:
        return "0"
    text = f"{size:.2f}" if size >= 0.1 else f"{size:.2g}" if size >= 0.0005 else formats.tiny(size)
    return f"{'+' if value > 0 else '−'}{text}"


def figure(
    names: Sequence[str], values: Sequence[float], *, unit: str, rows: str = "", chosen: Collection[int] = ()
) -> Figure:
    """A bar for each number.

    Args:
        names: the names of the bars, from top to bottom.
        values: the numbers.
        unit: what they are, below the axis.
        rows: what the names are of; it is the title of the y axis in files.
        chosen: the numbers, from 0, of the bars that are chosen: a sign stands before their names.
    """
    said = [signed(value) for value in values]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(names)),
        "x": np.asarray(values, np.float64),
        "width": 0.46,
        "marker": {"color": [POSITIVE if value >= 0 else NEGATIVE for value in values]},
        "customdata": [f"{plain(name)}: {text}" for name, text in zip(names, said, strict=True)],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    low, high = min(0.0, *values), max(0.0, *values)
    if low == high:
        low, high = -1.0, 1.0
    zero = {
        "type": "line",
        "x0": 0,
        "x1": 0,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": colours.MUTED["light"]},
    }
    return in_rows(
        [bar] if names else [],
        names=[Name(f"▸ {plain(name)}" if row in chosen else plain(name), row) for row, name in enumerate(names)],
        ends=[
            End(text, row, max(value, 0), size=SMALL)
            for row, (text, value) in enumerate(zip(said, values, strict=True))
        ],
        last=len(names) - 1,
        pixels=BAR,
        rows=rows,
        axis={"title": axis_title(unit), "range": [low, high]},
        shapes=[zero],
    )


def content(
    names: Sequence[str],
    values: Sequence[float],
    *,
    unit: str,
    about: str = "",
    rows: str = "",
    chosen: Collection[int] = (),
) -> Content:
    """The content for chart.js: see `figure`; `about` is the picture in words."""
    return chart.content(figure(names, values, unit=unit, rows=rows, chosen=chosen), about=about)
