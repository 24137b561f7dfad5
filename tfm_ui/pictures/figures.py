"""What all Plotly figures share: their look, light and dark, and how text of the reader is written into them.

A figure is made in the light colours. `in_mode` gives the same figure in other colours, for downloads; in the app the
browser does the same (assets/pictures/chart_look.js), because only the browser knows its own colours and font size.
"""

from collections.abc import Mapping
from html import escape
from typing import Any

import plotly.graph_objects as go

from tfm_ui.text import colours
from tfm_ui.text.colours import Mode

SMALL, NORMAL, TITLE = 13, 15, 18  # sizes of letters, in pixels at a root font of 16
PREVIEW_WIDTH, PREVIEW_HEIGHT = 1200, 630  # pixels: what messengers ask for
PAPER, INK, MUTED, RULE = (part["light"] for part in (colours.PAPER, colours.INK, colours.MUTED, colours.RULE))
# What functions of charts make: Plotly's "data" and "layout". Plotly's own classes check each part, which takes longer
# than all else that a chart needs; they are made for downloads alone (tfm_ui/pictures/chart.py), and in tests.
Figure = dict[str, Any]
_AXIS = {
    "automargin": True,
    "color": MUTED,
    "exponentformat": "power",
    "separatethousands": True,
    "gridcolor": RULE,
    "linecolor": RULE,
    "zeroline": False,
    "title": {"font": {"size": SMALL}, "standoff": 8},
}
TEMPLATE: dict[str, Any] = {
    "layout": {
        "font": {"family": "Source Sans, system-ui, sans-serif", "size": SMALL, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "margin": {"l": 4, "r": 8, "t": 8, "b": 4},
        "separators": ".,",  # 56,480
        "hoverlabel": {"bgcolor": PAPER, "bordercolor": MUTED, "font": {"size": NORMAL, "color": INK}, "align": "left"},
        "legend": {"orientation": "h", "tracegroupgap": 0, "font": {"size": NORMAL}},
        "modebar": {"bgcolor": PAPER, "color": MUTED, "activecolor": INK},
        "xaxis": _AXIS,
        "yaxis": _AXIS,
    }
}
# The dark colour of each light one. Every name of a picture's colours has one colour in each mode, or a list of them.
_DARK = {
    light: dark
    for part in (colours.PAPER, colours.INK, colours.MUTED, colours.RULE, colours.MASKED, colours.HATCH, colours.LEAK)
    for light, dark in ((part["light"], part["dark"]),)
}
for _scale in (colours.HEADS, colours.WEIGHTS, colours.SIGNED):
    _DARK |= dict(zip(_scale["light"], _scale["dark"], strict=True))
_DARK |= {light: colours.ROLE["dark"][role] for role, light in colours.ROLE["light"].items()}


def colour_of(name: str) -> str:
    """The light colour of a name: "ink", "muted", "leak", a role such as "query", or "head 1" to "head 8".

    Raises:
        ValueError: if there is no such colour.
    """
    if name.startswith("head "):
        return colours.HEADS["light"][int(name.removeprefix("head ")) - 1]
    names = {**colours.ROLE["light"], "ink": INK, "muted": MUTED, "leak": colours.LEAK["light"]}
    if name not in names:
        raise ValueError(f"expected one of {', '.join(names)} or 'head 1' to 'head 8', got {name!r}")
    return names[name]


def axis_title(text: str) -> dict[str, Any]:
    """The title of an axis."""
    return {"text": plain(text), "font": {"size": SMALL}}


def plain(text: str) -> str:
    """A text in which Plotly sees no tags and no templates: it reads "<b>", links and "%{meta}" in what it draws."""
    return escape(text, quote=False).replace("%{", "&#37;{")


def finished(figure: go.Figure, *, title: str, sentence: str, link: str, foot: str) -> go.Figure:
    """The same figure, as a file that tells what it shows.

    Args:
        figure: a canvas has made it; a line below the title may tell what is rounded or left out.
        title: of the picture.
        sentence: the picture in words.
        link: the query of the link that shows it.
        foot: where and how its numbers were measured, if they were.
    """
    above = {"text": plain(title), "x": 0, "xref": "paper", "xanchor": "left", "y": 1, "yref": "container"}
    above |= {"yanchor": "top", "automargin": True, "pad": {"t": 12, "b": 12}, "font": {"size": TITLE}}
    figure.layout.title.update(above)
    figure.layout.template = TEMPLATE
    figure.layout.meta = {"sentence": sentence, "link": link, "foot": foot}
    return figure


def in_mode(figure: go.Figure, mode: Mode) -> go.Figure:
    """The same figure in the colours of a mode."""
    return figure if mode == "light" else go.Figure(_recoloured(figure.to_plotly_json()))


def _recoloured(part: Any, is_colour: bool = False) -> Any:
    """This part of a figure in dark colours; only what stands under a key such as "bgcolor" is a colour."""
    if isinstance(part, Mapping):
        return {key: _recoloured(value, "color" in key and key != "coloraxis") for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_recoloured(value, is_colour) for value in part]
    return _DARK.get(part, part) if is_colour and isinstance(part, str) else part
