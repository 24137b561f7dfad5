"""Lines between two rows of tokens, as a figure that Matplotlib can draw: the PNG of arcs."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures.arcs import unpacked
from tfm_ui.pictures.canvas import Header
from tfm_ui.pictures.figures import INK, PAPER
from tfm_ui.pictures.heatmaps import numbered
from tfm_ui.text.colours import HEADS

MOST_LINES = 3000  # the strongest: more could not be told from each other
MOST_NAMES = 24  # of a side
LEFT, RIGHT = 0.0, 1.0  # where queries and keys stand
SIDES = ((LEFT, "right", "query"), (RIGHT, "left", "key"))


def figure(header: Header, numbers: NDArray[Any], *, shown: Sequence[int], mass: int, hide: str) -> go.Figure:
    """The lines of the maps that are looked at, in the colours of their heads; from head 9 on they are dashed.

    Args:
        header: of the picture's content.
        numbers: of the picture's content.
        shown: the maps that are looked at, from 0.
        mass: which share of each row is drawn, in percent: the largest weights first.
        hide: "none", "padding", "first" or "padding and first".
    """
    by_head, names = header["heads"], header["maps"]
    queries, keys = numbered(header["queries"]), numbered(header["keys"])
    longest = max(len(queries), len(keys))
    above = max(1.0, 0.06 * longest)  # of the first tokens
    strongest = sorted(_lines(header, numbers, shown, mass / 100, hide))[-MOST_LINES:]
    traces: list[Any] = [
        go.Scatter(
            x=[LEFT, RIGHT],
            y=[-query, -key],
            mode="lines",
            opacity=min(1.0, weight**0.5),  # in proportion, the many small ones would be invisible on paper
            line={**(_look(number) if by_head else {"color": INK}), "width": 0.5 + 2.5 * weight},
            showlegend=False,
        )
        for weight, number, query, key in strongest
    ]
    if by_head and len(shown) > 1:  # lines beyond the frame, for the legend alone
        beyond: dict[str, Any] = {"x": [LEFT, RIGHT], "y": [longest, longest], "mode": "lines"}
        traces += [go.Scatter(beyond, line=_look(number), name=f"head {names[number]}") for number in shown]
    notes = [*_names(queries, LEFT, "right"), *_names(keys, RIGHT, "left")]
    notes += [{**_note(across, above, side), "text": words} for across, side, words in SIDES]
    bare = {"showgrid": False, "showticklabels": False}
    axes = {"xaxis": {"range": [-0.5, 1.5], **bare}, "yaxis": {"range": [0.5 - longest, 1.6 * above], **bare}}
    return go.Figure(traces, {**axes, "annotations": notes, "plot_bgcolor": PAPER})


def _look(number: int) -> dict[str, str]:
    """A head's colour and dash; `number` is from 0."""
    colours = HEADS["light"]
    return {"color": colours[number % len(colours)], "dash": "dash" if number >= len(colours) else "solid"}


def _lines(
    header: Header, numbers: NDArray[Any], shown: Sequence[int], mass: float, hide: str
) -> Iterator[tuple[float, int, int, int]]:
    """Weight, map, query and key of each line, from 0."""
    _, weights, keys = unpacked(header, numbers)
    read, keys_read = header["read"] if "padding" in hide else (len(header["queries"]), len(header["keys"]))
    for number in shown:
        for query in range(read):
            drawn = 0.0
            for weight, key in zip(weights[number, query].tolist(), keys[number, query].tolist(), strict=True):
                if weight <= 0 or drawn >= mass:
                    break
                drawn += weight
                if key < keys_read and not (key == 0 and "first" in hide):
                    yield weight, number, query, key


def _names(names: Sequence[str], across: float, anchor: str) -> Iterator[dict[str, Any]]:
    every = int(np.ceil(len(names) / MOST_NAMES))
    yield from ({**_note(across, -at, anchor), "text": names[at]} for at in range(0, len(names), every))


def _note(across: float, up: float, anchor: str) -> dict[str, Any]:
    shift = -8 if anchor == "right" else 8
    return {"x": across, "y": up, "xref": "x", "yref": "y", "xanchor": anchor, "xshift": shift}
