"""Charts of a few named shares as horizontal bars."""

from collections.abc import Sequence
from math import floor, isnan, log10

import numpy as np

from tfm_ui.pictures import chart
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.figures import INK, MUTED, Figure, axis_title, colour_of, plain
from tfm_ui.pictures.rows import End, Name, in_rows
from tfm_ui.text import formats

ROUNDING = 1e-5  # what the sum of float32 shares may exceed 1 by
BAR = 40  # the height of a bar and its gap, in pixels


def figure(
    names: Sequence[str],
    shares: Sequence[float],
    *,
    reference: float | None = None,
    values: Sequence[str] = (),
    gap: str = "none",
    rows: str = "",
    of_one_whole: bool = True,
    axis: str = "share",
) -> Figure:
    """A bar for each share.

    Args:
        names: the names of the bars, from top to bottom.
        shares: of one whole, so together at most 1, if nothing else is said; printed in percent. NaN for a missing
            share.
        reference: a share to compare with, drawn as a dotted line.
        values: a text for each share, such as a number with its unit. It is printed before the percentage, which then
            has no decimals.
        gap: the text in place of a NaN.
        rows: what the names are of; it is the title of the y axis in files.
        axis: the text below the axis.
        of_one_whole: whether the shares are parts of the same whole. Else each is of a whole of its own, up to which
            the axis goes, and no sum means anything.

    Raises:
        ValueError: if there are not as many values as shares, or if the shares are more than one whole.
    """
    if values and len(values) != len(shares):
        raise ValueError(f"expected a value for each of {len(shares)} shares, got {len(values)}")
    there = [share for share in shares if not isnan(share)]
    if (sum(there) if of_one_whole else max(there, default=0)) > 1 + ROUNDING:
        raise ValueError(f"expected shares of one whole, got a sum of {sum(there):g}")
    said = [plain(_said(share, values[i] if values else "", gap)) for i, share in enumerate(shares)]
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(names)),
        "x": np.asarray(shares, np.float64),
        "width": 0.56,
        "marker": {"color": colour_of("result")},
        "customdata": [f"{plain(name)}: {text}" for name, text in zip(names, said, strict=True)],
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    upright = {"type": "line", "x0": reference, "x1": reference, "yref": "paper", "y0": 0, "y1": 1}
    full = (max(reference or 0, *there, 0) or 1) if of_one_whole else 1
    return in_rows(
        [bar] if names else [],
        names=[Name(plain(name), row) for row, name in enumerate(names)],
        ends=[
            End(text, row, 0, MUTED) if isnan(share) else End(text, row, share)
            for row, (text, share) in enumerate(zip(said, shares, strict=True))
        ],
        last=len(names) - 1,
        pixels=BAR,
        rows=rows,
        axis={"title": axis_title(axis), "range": [0, full], "tickformat": _ticks(full)},
        shapes=[upright | {"line": {"color": INK, "width": 2, "dash": "dot"}}] if reference is not None else [],
    )


def _ticks(full: float) -> str:
    """The format of the ticks of an axis that ends there: with so many decimals that no two are written alike."""
    return f".{max(0, -floor(log10(full)) - 1)}%"


def _said(share: float, value: str, gap: str) -> str:
    if isnan(share):
        return gap
    if not value:
        return formats.percent(share, 3)
    return f"{value}  {formats.percent(share)}" if share else value


def content(
    names: Sequence[str],
    shares: Sequence[float],
    *,
    about: str = "",
    reference: float | None = None,
    values: Sequence[str] = (),
    gap: str = "none",
    rows: str = "",
    of_one_whole: bool = True,
    axis: str = "share",
) -> Content:
    """The content for chart.js: see `figure`; `about` is the picture in words."""
    drawn = figure(
        names, shares, reference=reference, values=values, gap=gap, rows=rows, of_one_whole=of_one_whole, axis=axis
    )
    return chart.content(drawn, about=about)
