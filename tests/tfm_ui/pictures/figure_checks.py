"""What the laws of Plotly figures share: reading a figure as it stands in its file."""

import re
from base64 import b64decode
from collections.abc import Iterator
from html import unescape
from typing import Any

import numpy as np

from tests.tfm_ui.pictures.scale_checks import Floats

Json = dict[str, Any]
GREY = "#CFC8BE"
OUR_TAGS = re.compile(r"</?(?:b|br|extra)>")
TYPED = "<b>x</b> & <a>"  # by a reader


def array(value: Any) -> np.ndarray:
    """A list, or an array in the bytes that Plotly writes."""
    if not isinstance(value, dict):
        return np.array(value)
    shape = [int(size) for size in value["shape"].split(",")] if "shape" in value else [-1]
    kinds = {"f4": np.float32, "f8": np.float64, "i1": np.int8, "u1": np.uint8, "i2": np.int16, "u2": np.uint16}
    return np.frombuffer(b64decode(value["bdata"]), kinds[value["dtype"]]).reshape(shape)


def traces(figure: Json, kind: str = "heatmap") -> list[Json]:
    """The heatmaps that are drawn, or other traces; without the numbers of masked cells, which are all grey."""
    return [
        trace for trace in figure["data"] if trace["type"] == kind and trace.get("colorscale", [[0, ""]])[0][1] != GREY
    ]


def same(drawn: Any, expected: Floats, what: str, **bounds: float) -> None:
    """The same numbers, NaN where NaN."""
    np.testing.assert_allclose(array(drawn), expected, **{"rtol": 1e-6, "atol": 0, **bounds}, err_msg=what)


def scale_of(trace: Json, figure: Json) -> tuple[float, float]:
    """The values at the ends of the colours."""
    if "coloraxis" in trace:
        axis = figure["layout"][trace["coloraxis"]]
        return axis["cmin"], axis["cmax"]
    return trace["zmin"], trace["zmax"]


def named(trace: Json, rows: int, columns: int) -> None:
    """Every row and column has a label, and none has another's."""
    assert len(set(trace["y"])) == len(trace["y"]) == rows
    assert len(set(trace["x"])) == len(trace["x"]) == columns


def words(trace: Json) -> str:
    """All that a reader is told of the cells of a heatmap."""
    return " ".join([trace["hovertemplate"], *np.ravel(trace.get("text", []))])


def unescaped(texts: Any) -> list[str]:
    """Texts as a reader sees them."""
    return [unescape(text) for text in texts]


def gaps_are_told(figure: Json, word: str) -> None:
    """Gaps are grey, and a reader is told what they are: at the cell if there are not too many, and below the title."""
    gaps = {trace["xaxis"]: np.isnan(array(trace["z"])) for trace in traces(figure)}
    many = sum(gap.size for gap in gaps.values()) > 100_000
    for trace in traces(figure):
        gap = gaps[trace["xaxis"]]
        assert trace["hoverongaps"] == (gap.any() and not many)
        if trace["hoverongaps"]:
            texts = np.array(trace["text"])
            assert (texts[gap] == word).all()
            numbers = [float(text.replace("−", "-")) for text in texts[~gap]]
            np.testing.assert_allclose(numbers, array(trace["z"])[~gap], rtol=1e-3)
            assert "%{text}" in trace["hovertemplate"]
    anywhere = any(gap.any() for gap in gaps.values())
    assert not anywhere or f"Grey: {word}." in figure["layout"]["title"]["subtitle"]["text"]
    assert figure["layout"]["plot_bgcolor"] == (GREY if anywhere else "#FFFFFF")


def leaves(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Everything that stands in a figure, with its place."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from leaves(value, f"{path}.{key}")
    elif isinstance(part, list):
        for at, value in enumerate(part):
            yield from leaves(value, f"{path}[{at}]")
    else:
        yield path, part


def nothing_typed_is_a_tag(figure: Json) -> None:
    """No text of a figure has a tag that is not ours."""
    read = {path: text for path, text in leaves(figure) if not path.endswith("uirevision")}
    texts = [OUR_TAGS.sub("", text) for text in read.values() if isinstance(text, str)]
    assert "&lt;a&gt;" in "".join(texts)
    assert not [text for text in texts if "<" in text]
