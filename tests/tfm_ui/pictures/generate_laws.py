"""Laws of the Generate lens's pictures, as in scale_laws.py and figure_laws.py."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tfm_ui.pictures.figure_checks import Json, named, same, scale_of, traces, unescaped
from tests.tfm_ui.pictures.scale_checks import Floats, floats, prints, within

Header = dict[str, Any]


def kept_scale(header: Header, numbers: bytes) -> None:
    """Keys and values lie on scales around 0; no step has more rows than its context stores at last."""
    values, width, begin = floats(numbers), header["width"], 0
    sides: list[list[Floats]] = [[], []]
    for part in header["parts"]:
        for side in sides:
            side.append(values[begin : begin + part["rows"] * width])
            begin += part["rows"] * width
    assert begin == len(values)
    assert np.isfinite(values).all()
    for scale, cells, name in zip(header["scales"], sides, ("keys", "values"), strict=True):
        prints(scale["highText"], scale["high"])
        prints(scale["lowText"], -scale["high"])
        for part in cells:
            within(part, -scale["high"], scale["high"], name)
    for step in header["steps"]:
        assert 1 <= step["rows"] <= header["parts"][step["part"]]["rows"]
        assert step["bytes"] == 2 * header["layers"] * width * step["rows"] * header["number"]


def surprise_scale(header: Header, numbers: bytes) -> None:
    """Surprise lies between 0 and the largest on screen, which is printed; the likeliest come first."""
    tokens = sum(len(side["tokens"]) for side in header["sides"])
    table = floats(numbers).reshape(tokens, 4 + 2 * header["count"]) if tokens else np.zeros((0, 4), np.float32)
    bits, shares = table[:, 0], table[:, 1]
    prints(header["topText"], header["top"])
    within(bits, 0, header["top"], "surprise")
    within(shares, 0, 1, "probabilities")
    there = np.isfinite(bits)
    np.testing.assert_allclose(2.0 ** -bits[there].astype(np.float64), shares[there], rtol=1e-4)
    assert (there == np.isfinite(shares)).all()
    for row in table[there]:
        likeliest = row[4 + header["count"] :]
        listed = likeliest[np.isfinite(likeliest)]
        assert (np.diff(listed) <= 0).all()
        assert listed.sum() <= 1 + 1e-5
        assert row[1] <= listed[0] + 1e-6
        assert 1 <= row[2] <= header["vocab"]
        assert all(int(place) < len(header["names"]) for place in row[4 : 4 + len(listed)])


def kept_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """Keys and values of the last step, each on the picture's scale."""
    if not header["parts"]:
        assert not figure["data"]
        return
    rows, width = header["parts"][-1]["rows"], header["width"]
    last = floats(numbers)[-2 * rows * width :].reshape(2, rows, width)
    for trace, cells, scale in zip(traces(figure), last, header["scales"], strict=True):
        same(trace["z"], cells, trace["name"])
        named(trace, rows, width)
        np.testing.assert_allclose(scale_of(trace, figure), (-scale["high"], scale["high"]), rtol=1e-6)
    assert f"step {len(header['steps'])}" in figure["layout"]["title"]["subtitle"]["text"]


def surprise_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """A bar for each token that has a probability."""
    rows = iter(floats(numbers).reshape(-1, 4 + 2 * header["count"]))
    assert len(figure["data"]) == len(header["sides"])
    for side, trace in zip(header["sides"], figure["data"], strict=True):
        table = np.array([next(rows) for _ in side["tokens"]])
        there = table[side["first"] :].reshape(-1, 4 + 2 * header["count"])
        same(trace["y"], there[:, 0], side["name"])
        assert unescaped(trace["text"]) == side["labels"][side["first"] :]
        if len(there):
            same(trace["customdata"], there[:, 1:3], "what is told of a token")


SCALES: dict[str, Callable[[Header, bytes], None]] = {"kept": kept_scale, "surprise": surprise_scale}
FIGURES: dict[str, Callable[[Header, bytes, Json], None]] = {"kept": kept_figure, "surprise": surprise_figure}
