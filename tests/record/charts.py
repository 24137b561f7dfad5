"""What is recorded of a chart: its figure's words, and its traces' numbers; neither sizes nor colours."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.record.statistics import describe
from tests.tfm_ui.pictures.charts import ends, figure, headings, marks, names, ranges, traces

Record = dict[str, Any]


def words_of(header: Mapping[str, Any]) -> Record:
    """What a chart says: what it is about, headings, axes, names, marks, and what is read at each point."""
    layout = figure(header).layout
    is_in_rows = layout.meta["kind"] == "rows"
    axes = {
        key: {"title": layout[key].title.text, "type": layout[key].type}
        for key in layout.to_plotly_json()
        if key.startswith("xaxis") or (key.startswith("yaxis") and not is_in_rows)
    }
    shown: Record = {
        **{name: value for name, value in header.items() if name != "figure"},
        "axes": axes,
        "traces": [
            {"name": trace.name, "style": _style(trace), "mark": trace.text, "read": _texts(trace.customdata)}
            for trace in _recorded(header)
        ],
        "headings": headings(header),
        "upright": [shape.x0 for shape in layout.shapes if shape.yref == "paper"],
        "above": [text.text for text in layout.annotations if text.name == "line"],
    }
    if is_in_rows:
        return shown | {"names": names(header), "ends": ends(header)}
    charts = range(1, len(headings(header)) + 1)
    return shown | {
        "marks": [marks(header, chart) for chart in charts],
        "ranges": [ranges(header, chart) for chart in charts],
    }


def numbers_of(header: Mapping[str, Any]) -> Record:
    """The number and the name of each trace -> its numbers. In rows, the y are only places."""
    is_in_rows = figure(header).layout.meta["kind"] == "rows"
    numbers: Record = {}
    for number, trace in enumerate(_recorded(header)):
        parts = {"x": trace.x, "base": trace.base if trace.type == "bar" else None}
        if not is_in_rows and trace.meta != "gap":  # the y of a gap is where its cross stands
            parts["y"] = trace.y
        drawn = {key: np.array(part, np.float64) for key, part in parts.items() if part is not None}  # None becomes NaN
        numbers[f"{number} {trace.name or ''}".strip()] = describe(drawn)
    return numbers


def _recorded(header: Mapping[str, Any]) -> list[Any]:
    """The traces, but not the crosses of zeros on a log scale: the line itself has these zeros, and whether an error of
    rounding is just 0 depends on the processor."""
    return [trace for trace in traces(header) if trace.meta != "gap" or set(trace.customdata) != {"0"}]


def _style(trace: Any) -> str:
    """What tells traces apart besides their colour."""
    return "bar" if trace.type == "bar" else trace.line.dash or trace.marker.symbol


def _texts(read: Any) -> list[str] | None:
    return None if read is None else [str(text) for text in read]
