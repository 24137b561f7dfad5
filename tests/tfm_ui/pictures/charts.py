"""What a chart shows, read from its figure as Plotly would."""

from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest
from numpy.typing import NDArray

Header = Mapping[str, Any]
Points = tuple[NDArray[np.float64], NDArray[np.float64]]


def figure(header: Header) -> go.Figure:
    """The figure of a chart; Plotly checks each part of it."""
    with without_template():
        return go.Figure(_decoded(header["figure"]))


@contextmanager
def without_template() -> Iterator[None]:
    """Figures do not get Plotly's own template, which none of ours has in the end: a third of the time of most."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plotly.io.templates, "default", None)
        yield


def _decoded(part: Any) -> Any:
    """Plotly's JSON with arrays in place of their bytes."""
    if isinstance(part, Mapping):
        if "bdata" in part:
            return np.frombuffer(b64decode(part["bdata"]), part["dtype"])
        return {key: _decoded(value) for key, value in part.items()}
    return [_decoded(each) for each in part] if isinstance(part, list) else part


def traces(header: Header) -> list[Any]:
    """The traces of a chart, those of gaps too."""
    return list(figure(header).data)


def axis_of(trace: Any, letter: str) -> str:
    """The key in the layout of a trace's x or y axis."""
    return f"{letter}axis{(trace[f'{letter}axis'] or letter)[1:]}"


def lines(header: Header, chart: int = 1) -> dict[str, Points]:
    """Name -> the points of each line of a chart, counted from 1; of lines with the same name, the last."""
    which = f"x{chart if chart > 1 else ''}"
    return {
        trace.name: (np.asarray(trace.x), np.asarray(trace.y))
        for trace in traces(header)
        if (trace.xaxis or "x") == which and trace.meta != "gap"
    }


def by_heading(header: Header) -> dict[tuple[str, str], Points]:
    """(chart's heading, line's name) -> the line's points."""
    return {
        (heading, name): points
        for chart, heading in enumerate(headings(header), 1)
        for name, points in lines(header, chart).items()
    }


def gaps(header: Header) -> dict[str, tuple[list[float], list[str]]]:
    """Name of each line that has gaps -> their x, and what is read there; of lines with the same name, the last."""
    missing = (trace for trace in traces(header) if trace.meta == "gap")
    return {trace.name: (list(trace.x), list(trace.customdata)) for trace in missing}


def bars(header: Header) -> dict[str, NDArray[np.float64]]:
    """Name of each series of bars -> its shares, from top to bottom."""
    return {trace.name: np.asarray(trace.x) for trace in traces(header) if trace.type == "bar"}


def dots(header: Header) -> dict[str, NDArray[np.float64]]:
    """Name of each group of strips -> all its measurements, strip after strip."""
    return {
        trace.name: np.asarray(trace.x) for trace in traces(header) if trace.type == "scatter" and trace.legendgroup
    }


def headings(header: Header) -> list[str]:
    """The heading of each chart of lines."""
    layout = figure(header).layout
    return [unescape(layout[key].title.text) for key in layout.to_plotly_json() if key.startswith("yaxis")]


def marks(header: Header, chart: int = 1) -> dict[str, float]:
    """Name -> x of each vertical line of a chart of lines."""
    return {name: shape.x0 for name, shape in _named_shapes(header, chart) if shape.type == "line"}


def ranges(header: Header, chart: int = 1) -> dict[str, tuple[float, float]]:
    """Name -> the first and the last x of each shaded range of a chart of lines."""
    return {name: (shape.x0, shape.x1) for name, shape in _named_shapes(header, chart) if shape.type == "rect"}


def _named_shapes(header: Header, chart: int) -> Iterator[tuple[str, Any]]:
    """Each shape with the name that stands above it, at its first x."""
    layout, which = figure(header).layout, str(chart) if chart > 1 else ""
    shapes = [shape for shape in layout.shapes if shape.yref == f"y{which} domain"]
    texts = [text for text in layout.annotations if text.yref == f"y{which} domain" and text.name != "heading"]
    is_log = layout[f"xaxis{which}"].type == "log"
    for text, shape in zip(texts, shapes, strict=True):
        np.testing.assert_allclose(text.x, np.log10(shape.x0) if is_log else shape.x0)  # as Plotly wants it
        assert shape.type == "rect" or shape.x0 == shape.x1
        yield unescape(text.text), shape


def names(header: Header) -> list[str]:
    """The names at the left of a chart in rows, from top to bottom."""
    return [unescape(name) for name in figure(header).layout.yaxis.ticktext]


def ends(header: Header) -> list[str]:
    """The texts at the ends of the rows of a chart, from top to bottom."""
    texts = [text for text in figure(header).layout.annotations if text.name == "end"]
    return [unescape(text.text) for text in sorted(texts, key=lambda text: text.y)]


def drawn(header: Header) -> NDArray[np.float64]:
    """All numbers that a chart draws over its x axis or, if it is one of lines, its y axis."""
    every = figure(header)
    letter = "y" if every.layout.meta["kind"] == "lines" else "x"
    return np.concatenate([[], *(np.asarray(trace[letter], np.float64) for trace in every.data)])


def values(header: Header, numbers: bytes) -> NDArray[Any]:
    """All numbers that a picture draws, be it a chart or one whose numbers are float32 after its header."""
    return drawn(header) if "figure" in header else np.frombuffer(numbers, np.float32)


def prints_nan(header: Header) -> bool:
    """Whether a text of the header says NaN."""
    return "NaN" in str(_without_arrays(header))


def _without_arrays(part: Any) -> Any:
    """A header without numbers in base64, whose letters mean nothing."""
    if isinstance(part, Mapping):
        return {key: _without_arrays(value) for key, value in part.items() if key != "bdata"}
    return [_without_arrays(each) for each in part] if isinstance(part, list) else part
