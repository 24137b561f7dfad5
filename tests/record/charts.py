"""What is recorded of a chart: its figure's words, and its traces' numbers; neither sizes nor colours.

The figure is read as it stands in the header: Plotly checks it elsewhere, which takes long.
"""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

import numpy as np

from tests.record.statistics import describe

Record = dict[str, Any]
Part = Mapping[str, Any]  # of a figure


def words_of(header: Part) -> Record:
    """What a chart says: what it is about, headings, axes, names, marks, and what is read at each point."""
    layout = header["figure"]["layout"]
    shown: Record = {
        **{name: value for name, value in header.items() if name != "figure"},
        "axes": {key: {"title": _title(axis), "type": axis.get("type")} for key, axis in _axes(layout)},
        "traces": [
            {
                "name": trace.get("name"),
                "style": _style(trace),
                "mark": _decoded(trace.get("text")),
                "read": _texts(trace.get("customdata")),
            }
            for trace in _recorded(header)
        ],
        "headings": [_title(layout[key]) for key in layout if key.startswith("yaxis")],
        "upright": [shape["x0"] for shape in layout.get("shapes", []) if shape.get("yref") == "paper"],
        "above": [text["text"] for text in layout.get("annotations", []) if text.get("name") == "line"],
    }
    if _is_in_rows(header):
        ends = [text for text in layout.get("annotations", []) if text.get("name") == "end"]
        return shown | {
            "names": [unescape(name) for name in _decoded(layout["yaxis"]["ticktext"])],
            "ends": [unescape(text["text"]) for text in sorted(ends, key=lambda text: text["y"])],
        }
    return shown | {"marks": [_marked(layout, key) for key in layout if key.startswith("yaxis")]}


def numbers_of(header: Part) -> Record:
    """The number and the name of each trace -> its numbers. In rows, the y are only places."""
    numbers: Record = {}
    for number, trace in enumerate(_recorded(header)):
        parts = {"x": trace.get("x"), "base": trace.get("base") if trace["type"] == "bar" else None}
        if not _is_in_rows(header) and trace.get("meta") != "gap":  # the y of a gap is where its cross stands
            parts["y"] = trace.get("y")
        drawn = {key: np.array(_decoded(part), np.float64) for key, part in parts.items() if part is not None}
        numbers[f"{number} {trace.get('name') or ''}".strip()] = describe(drawn)  # None has become NaN
    return numbers


def _is_in_rows(header: Part) -> bool:
    return bool(header["figure"]["layout"]["meta"]["kind"] == "rows")


def _recorded(header: Part) -> list[Part]:
    """The traces, but not the crosses of zeros on a log scale: the line itself has these zeros, and whether an error of
    rounding is just 0 depends on the processor."""
    traces = header["figure"]["data"]
    return [trace for trace in traces if trace.get("meta") != "gap" or set(_decoded(trace["customdata"])) != {"0"}]


def _axes(layout: Part) -> Iterator[tuple[str, Part]]:
    """All axes with their keys; in rows only those along x."""
    is_in_rows = layout["meta"]["kind"] == "rows"
    for key, axis in layout.items():
        if key.startswith("xaxis") or (key.startswith("yaxis") and not is_in_rows):
            yield key, axis


def _title(axis: Part) -> str:
    return unescape(axis.get("title", {}).get("text") or "")


def _marked(layout: Part, axis: str) -> Record:
    """Name -> x of each vertical line of a chart of lines, or the first and the last x of a shaded range."""
    place = f"{axis.replace('axis', '')} domain"
    shapes = [shape for shape in layout.get("shapes", []) if shape.get("yref") == place]
    names = [text for text in layout.get("annotations", []) if text.get("yref") == place]
    texts = [text for text in names if text.get("name") != "heading"]
    named = zip(texts, shapes, strict=True)  # each has its name above it
    return {unescape(text["text"]): [shape["x0"], shape["x1"]] for text, shape in named}


def _style(trace: Part) -> str | None:
    """What tells traces apart besides their colour."""
    if trace["type"] == "bar":
        return "bar"
    style: str | None = trace.get("line", {}).get("dash") or trace.get("marker", {}).get("symbol")
    return style


def _texts(read: Any) -> list[str] | None:
    return None if read is None else [str(text) for text in _decoded(read)]


def _decoded(part: Any) -> Any:
    """An array of Plotly's JSON, which may be in bytes."""
    if isinstance(part, Mapping) and "bdata" in part:
        return np.frombuffer(b64decode(part["bdata"]), part["dtype"])
    return part
