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


OF_STEP, OF_ROW = 9, 5  # numbers of a step, and of each candidate: tfm_ui/lenses/generate/courses.py


def steps_of(header: Header, numbers: bytes) -> Floats:
    """(step, number), of all texts one after the other."""
    steps = sum(len(text["tokens"]) for text in header["texts"])
    return floats(numbers).reshape(steps, OF_STEP + header["rows"] * OF_ROW)


def write_scale(header: Header, numbers: bytes) -> None:
    """Shares lie between 0 and 1, candidates are in the order of their probability, and the draw hits its token."""
    table = steps_of(header, numbers)
    within(table[:, [0, 1, 2, 7, 8]], 0, 1, "shares of a step")
    ids = [number for text in header["texts"] for number in text["ids"]]
    forced = [is_forced for text in header["texts"] for is_forced in text["forced"]]
    for row, token, is_forced in zip(table, ids, forced, strict=True):
        candidates = row[OF_STEP:].reshape(-1, OF_ROW)
        candidates = candidates[candidates[:, 0] >= 0]
        assert token in candidates[:, 0]
        assert all(str(int(number)) in map(str, header["pieces"]) for number in candidates[:, 0])
        within(candidates[:, 2:4], 0, 1, "probabilities")
        assert (np.diff(candidates[:, 2]) <= 0).all()
        assert ((candidates[:, 3] > 0) == (candidates[:, 4] == 0)).all() or header["sampling"]["greedy"]
        if not is_forced and not header["sampling"]["greedy"]:
            assert row[1] - 1e-6 <= row[0] <= row[2] + 1e-6


def beams_scale(header: Header, numbers: bytes) -> None:
    """Sums fall along a path; a parent is a beam of the step before."""
    assert not numbers
    for before, step in zip(header["steps"], header["steps"][1:], strict=False):
        for beam in step:
            assert beam["score"] <= before[beam["parent"]]["score"] <= 0


def weights_of(header: Header, numbers: bytes) -> list[Floats]:
    """The weights (head, key) at each step."""
    values, heads, rows = floats(numbers), header["layers"] * header["heads"], []
    for step, begin in enumerate(header["begins"]):
        keys = len(header["prompt"]) + step - begin
        rows.append(values[: heads * keys].reshape(heads, keys))
        values = values[heads * keys :]
    assert not len(values)
    return rows


def look_scale(header: Header, numbers: bytes) -> None:
    """Each head's weights at each step lie between 0 and the largest, and sum to 1."""
    within(floats(numbers), 0, header["largest"], "weights")
    for rows in weights_of(header, numbers):
        np.testing.assert_allclose(rows.sum(-1), 1, atol=1e-4)
    for likeliest, chance in zip(header["likeliest"], header["chances"], strict=True):
        assert 0 <= chance <= 1
        assert sum(share for _, share in likeliest) <= 1 + 1e-6


def write_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """The probability of each token of the first text, before and after the cuts."""
    count = len(header["texts"][0]["tokens"])
    table = steps_of(header, numbers)[:count]
    bars, dots = figure["data"]
    same(bars["y"], table[:, 7], "probability")
    same(dots["y"], table[:, 8], "after the cuts")


def beams_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """A line per beam: the sums of all steps."""
    for rank, trace in enumerate(figure["data"]):
        same(trace["y"], [step[rank]["score"] for step in header["steps"] if rank < len(step)], trace["name"])


def look_figure(header: Header, numbers: bytes, figure: Json) -> None:
    """A row per step: the chosen head's weights."""
    if not header["tokens"]:
        return
    layer, head = header["picked"]
    (trace,) = traces(figure)
    table = np.full((len(header["tokens"]), len(header["prompt"]) + len(header["tokens"])), np.nan, np.float32)
    for step, (begin, rows) in enumerate(zip(header["begins"], weights_of(header, numbers), strict=True)):
        table[step, begin : begin + rows.shape[1]] = rows[layer * header["heads"] + head]
    same(trace["z"], table, trace["name"])


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


SCALES: dict[str, Callable[[Header, bytes], None]] = {
    "write": write_scale,
    "beams": beams_scale,
    "look": look_scale,
    "kept": kept_scale,
    "surprise": surprise_scale,
}
FIGURES: dict[str, Callable[[Header, bytes, Json], None]] = {
    "write": write_figure,
    "beams": beams_figure,
    "look": look_figure,
    "kept": kept_figure,
    "surprise": surprise_figure,
}
