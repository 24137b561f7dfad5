"""Charts of two shares for each of a few names, as pairs of horizontal bars."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import SMALL, Figure, axis_title, colour_of, plain
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.text import formats

PAIR = 36  # the height of two bars and their gap, in pixels
SHIFT = 0.2  # from the middle of a pair to the middle of a bar, in rows


def figure(
    names: Sequence[str],
    series: tuple[str, str],
    shares: NDArray[np.float32],
    *,
    roles: tuple[str, str],
    rows: str = "",
) -> Figure:
    """Two bars for each name.

    Args:
        names: the names of the pairs, from top to bottom.
        series: what the upper and the lower bar of each pair stand for.
        shares: (2, name), 0 to 1, printed in percent.
        roles: the colour roles of the upper and the lower bar.
        rows: what the names are of; it is the title of the y axis in files.
    """
    full = float(shares.max(initial=1e-9))
    at, said = np.arange(len(names)), [[formats.percent(share, 3) for share in side] for side in shares.tolist()]
    bars = [
        {
            "type": "bar",
            "name": plain(name),
            "orientation": "h",
            "y": at + shift,
            "x": np.asarray(side, np.float64),
            "width": 2 * SHIFT - 0.04,
            "marker": {"color": colour_of(role)},
            "customdata": [f"{plain(row)}, {plain(name)}: {text}" for row, text in zip(names, texts, strict=True)],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for name, side, role, shift, texts in zip(series, shares, roles, (-SHIFT, SHIFT), said, strict=True)
    ]
    return in_rows(
        bars if names else [],
        names=[Name(plain(name), row) for row, name in enumerate(names)],
        ends=[
            End(text, row + shift, share, size=SMALL)
            for side, texts, shift in zip(shares.tolist(), said, (-SHIFT, SHIFT), strict=True)
            for row, (share, text) in enumerate(zip(side, texts, strict=True))
        ],
        last=len(names) - 1,
        pixels=PAIR,
        rows=rows,
        axis={"title": axis_title("share"), "range": [0, full], "tickformat": ".0%" if full > 0.1 else ".1%"},
    )


def content(
    names: Sequence[str],
    series: tuple[str, str],
    shares: NDArray[np.float32],
    *,
    roles: tuple[str, str],
    about: str = "",
    rows: str = "",
) -> Content:
    """The content for chart.js: see `figure`; `about` is the picture in words."""
    return chart.content(figure(names, series, shares, roles=roles, rows=rows), about=about)
