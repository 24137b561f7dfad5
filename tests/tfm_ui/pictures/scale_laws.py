"""Laws that must hold for every picture: all values lie on the scale that is shown.

Each law reads a header and its numbers as the picture's script does, and raises an AssertionError that says what is
wrong. `LAWS` has a law for each kind of picture: name of the canvas -> law.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.tfm_ui.pictures import tokens_laws
from tests.tfm_ui.pictures.charts import axis_of, figure
from tests.tfm_ui.pictures.generate_laws import SCALES
from tests.tfm_ui.pictures.scale_checks import Floats, floats, printed, prints, tells_apart, within

Header = dict[str, Any]
Law = Callable[[Header, bytes], None]


def maps(header: Header, numbers: bytes) -> None:
    """Each map's values lie on its scale; maps with the same scale are checked together for varying colours."""
    rows, columns = len(header["rows"]["names"]), len(header["columns"]["names"])
    values = floats(numbers).reshape(-1, rows, columns)
    assert len(values) == len(header["maps"]) + bool(header["why"])
    assert not np.isneginf(values).any(), "a blank is NaN, and an absent cell infinite"
    together: dict[tuple[float, float, bool], list[Floats]] = {}
    for drawn, cells in zip(header["maps"], values, strict=False):
        name, low, high, powers = drawn["name"], drawn["low"], drawn["high"], drawn["powers"]
        there = cells[np.isfinite(cells)]
        assert low < high, f"{name}: the scale has no length"
        assert low > 0 if powers else (low == 0 or high == 0 or low == -high), f"{name}: 0 has no colour of its own"
        within(cells, low, high, name)
        if drawn["ticks"]:
            assert (there == 1).all(), f"{name}: a tick is 1"
        elif drawn["words"]:
            assert np.isin(there, (0, 1)).all(), f"{name}: {drawn['words']} stand for 0 and 1"
            assert [drawn["lowText"], drawn["highText"]] == drawn["words"]
        else:
            prints(drawn["lowText"], low)
            prints(drawn["highText"], high)
            together.setdefault((low, high, powers), []).append(cells.ravel())
        if drawn["whole"]:
            assert (there == there.round()).all(), f"{name}: whole numbers"
    for (low, high, powers), sharing in together.items():
        if not powers:
            tells_apart(np.concatenate(sharing), low, high, header["maps"][0]["name"])


def head_map(header: Header, numbers: bytes) -> None:
    """Weights lie between 0 and the top, and above it only if the legend says "and more"."""
    weights = floats(numbers).reshape(len(header["queries"]), len(header["keys"]))
    assert np.isfinite(weights).all()
    there = weights[weights != -1]
    top = header["top"]
    assert top > 0
    prints(header["topText"], top)
    within(there, 0, 1 if header["topText"].endswith(" and more") else top, "weights")


def heads_grid(header: Header, numbers: bytes) -> None:
    """Bytes are 0 to 254, or 255 if masked; each head's largest weight is on its scale, or the legend says more."""
    shape = [header[name] for name in ("layers", "heads", "rows", "columns")]
    cells = np.frombuffer(numbers, np.uint8).reshape(shape)
    assert header["masked"] or (cells < 255).all(), "what is masked is named below"
    ends = np.array(header["ends"], np.float32)
    assert len(ends) == shape[0] * shape[1] == len(header["about"])
    more = header["topText"].endswith(" and more")
    within(ends, 0, np.inf if more else 1, "ends")
    if header["topText"] != "each head's largest":
        printed(header["topText"])


def roles_map(header: Header, numbers: bytes) -> None:
    """Scores lie between 0 and the top, and a cell without a role has none; each role that is shown has a key."""
    scores = floats(numbers)
    assert len(scores) == header["layers"] * header["heads"] == len(header["roles"]) == len(header["told"])
    assert [bool(role) for role in header["roles"]] == np.isfinite(scores).tolist()
    within(scores[np.isfinite(scores)], 0, header["top"], "scores")
    prints(header["topText"], header["top"])
    assert {key["role"] for key in header["legend"]} == set(header["roles"]) - {""}


def chart(header: Header, numbers: bytes) -> None:
    """All values lie on the axes, as far as these can show them, and no text is a tag that a reader has typed."""
    assert not numbers, "a chart is its figure"
    shown_as = figure(header)
    layout = shown_as.layout
    for trace in shown_as.data:
        for axis, values in ((layout[axis_of(trace, "x")], trace.x), (layout[axis_of(trace, "y")], trace.y)):
            shown = np.asarray(values, np.float64)
            assert not np.isinf(shown).any(), f"{trace.name}: an infinite number; a gap is NaN"
            if axis.type == "log":
                assert not (shown < 0).any(), f"{trace.name}: a negative number on a scale of powers"
                with np.errstate(divide="ignore"):
                    shown = np.log10(shown)
                shown = shown[np.isfinite(shown)]
            low, high = sorted(axis.range)
            if trace.type != "bar":
                within(shown, low, high, trace.name)
        if trace.type == "bar" and trace.base is None and str(layout.xaxis.tickformat).endswith("%"):
            within(np.asarray(trace.x), 0, 1, "shares")
        elif trace.type == "bar" and trace.base is None:
            assert layout.xaxis.range[0] <= 0 <= layout.xaxis.range[1], f"{trace.name}: bars begin at 0"
            within(np.asarray(trace.x), *layout.xaxis.range, trace.name)
        elif trace.type == "bar":
            ends = [[base, base + wide] for base, wide in zip(trace.base, trace.x, strict=True) if base is not None]
            assert all(low <= high for low, high in ends), f"{trace.name}: a band from high to low"
            assert layout.xaxis.type != "log" or all(low > 0 for low, _ in ends), f"{trace.name}: a band from 0"


def arcs(header: Header, numbers: bytes) -> None:
    """The weights of a row are in descending order, between 0 and 1, or -1 if masked; so is the rest of the row."""
    rows, kept = len(header["maps"]) * len(header["queries"]), header["kept"]
    rest = np.frombuffer(numbers, np.float32, rows)
    weights = np.frombuffer(numbers, np.float32, rows * kept, 4 * rows).reshape(rows, kept)
    keys = np.frombuffer(numbers, np.uint16, rows * kept, 4 * rows * (1 + kept))
    assert (keys < len(header["keys"])).all()
    within(weights[weights != -1], 0, 1, "weights")
    within(rest, 0, 1, "rests")
    assert (np.diff(weights, axis=1) <= 0).all(), "the largest come first"


def graph(header: Header, numbers: bytes) -> None:
    """Nodes and edges lie on one scale around 0, which is not larger than needed; edges lead upwards, to the logit."""
    values = floats(numbers)
    nodes, rows = header["nodes"], len(header["from"])
    assert len(values) == len(nodes) + rows + 1
    assert np.isfinite(values).all()
    within(values[:-1], -header["top"], header["top"], "values")
    assert not len(nodes) or np.abs(values[:-1]).max() == np.float32(header["top"])
    prints(header["topText"], header["top"])
    assert len({(node["stack"], node["code"]) for node in nodes}) == len(nodes)
    for source, target in zip(header["from"], header["to"], strict=True):
        ends = [(node["stack"], node["row"]) for node in (nodes[source], nodes[target])]
        assert target == -1 or ends[0] < ends[1], f"an edge from {ends[0]} down to {ends[1]}"
    for stack in header["stacks"]:
        assert len(stack["at"]) == len(stack["tokens"]), "a token for each column"


def matrices(header: Header, numbers: bytes) -> None:
    """Weights lie between 0 and the top, other numbers between -top and top; the scale is not larger than needed."""
    values = floats(numbers)
    for name, told in header["matrices"].items():
        cells = values[told["begin"] : told["begin"] + told["rows"] * told["columns"]]
        assert len(cells) == told["rows"] * told["columns"]
        there, top = cells[np.isfinite(cells)], told["top"]
        assert top > 0
        assert not (np.isnan(cells) | np.isposinf(cells)).any(), f"{name}: masked is −∞"
        within(cells, 0 if told["weights"] else -top, top, name)
        if np.isfinite(there).any() and there.any():
            prints(told["topText"], top)
            assert np.abs(there).max() >= 0.5 * top, f"{name}: the scale reaches beyond all values"


def clocks(header: Header, numbers: bytes) -> None:
    """Hands have length 1, and positions and pairs exist."""
    hands = floats(numbers).reshape(-1, 5)
    assert len(hands) == len(header["pairs"]) == len(header["wavelengths"])
    for hand in (hands[:, :2], hands[:, 2:4]):
        np.testing.assert_allclose(np.hypot(*hand.T), 1, atol=1e-5)
    assert all(0 <= position <= header["last"] for position in header["at"].values())
    assert all(0 <= pair < header["count"] for pair in header["pairs"])
    assert all(0 < wavelength < np.inf for wavelength in header["wavelengths"])


def dictionary(header: Header, numbers: bytes) -> None:
    """Points lie in the plane, weights sum to 1, and values are within the limits of their boxes."""
    cells = floats(numbers).reshape(len(header["keys"]), 4)
    assert np.isfinite(cells).all()
    low, high = header["plane"]
    within(np.array([*header["keys"], header["asked"]], np.float32), low, high, "points")
    within(np.array(header["values"], np.float32), -header["most"], header["most"], "values")
    within(cells[:, 2], 0, 1, "weights")
    np.testing.assert_allclose(cells[:, 2].sum(), 1, atol=1e-5)
    np.testing.assert_allclose(cells[:, 3], cells[:, 2] * header["values"], rtol=1e-4, atol=1e-4)
    assert 0.05 <= header["temperature"] <= 10


def knobs(header: Header, numbers: bytes) -> None:
    """Each value lies between the ends of its slider."""
    assert not numbers
    for knob in header["knobs"]:
        assert knob["low"] <= knob["value"] <= knob["high"], knob["label"]
        stops = knob["stops"]
        assert stops == sorted(stops)
        assert not stops or (stops[0] >= knob["low"] and stops[-1] <= knob["high"])
        assert stops or knob["low"] > 0, f"{knob['label']}: its slider goes by the logarithm"


def composer(header: Header, numbers: bytes) -> None:
    """Numbers of terms are not below the limits of their boxes, and each limit is a range."""
    assert not numbers
    known = {mask["name"]: mask["arguments"] for mask in header["known"]}
    for term in header["terms"]:
        several = any(argument["several"] for argument in known[term["name"]])
        for argument, number in zip(known[term["name"]], term["numbers"], strict=not several):
            assert number >= argument["low"], f"{term['name']}: {number} in a box from {argument['low']}"
    for argument in (argument for arguments in known.values() for argument in arguments):
        assert argument["low"] < argument["high"]


def words(_header: Header, numbers: bytes) -> None:
    """A picture that shows only words has no scale, and so no numbers."""
    assert not numbers, "a picture with numbers needs a law of its own"


def learn(header: Header, numbers: bytes) -> None:
    """Rows of weights sum to 1 at each snapshot, and what a decoder may not see has none; the curves are a chart."""
    weights = floats(numbers).reshape(len(header["snapshots"]), -1)
    begin = 0
    for row in header["rows"]:
        queries, keys = len(row["queries"]), len(row["keys"])
        end = begin + row["heads"] * queries * keys
        maps = weights[:, begin:end].reshape(-1, queries, keys)
        begin = end
        within(maps, 0, 1, row["name"])
        np.testing.assert_allclose(maps.sum(-1), 1, atol=1e-5, err_msg=row["name"])
        assert not row["causal"] or not maps[:, np.triu(np.ones((queries, keys), bool), 1)].any()
        assert len(row["scores"]) == len(header["snapshots"])
    assert begin == weights.shape[1]
    assert len(header["told"]) == len(header["said"]) == len(header["snapshots"])
    assert header["snapshots"] == sorted(set(header["snapshots"]))
    chart(header, b"")


LAWS: dict[str, Law] = {
    "arcs": arcs,
    "chart": chart,
    "batch": words,
    "clocks": clocks,
    "composer": composer,
    "diagram": words,
    "dictionary": dictionary,
    "entry": words,
    "graph": graph,
    "head_map": head_map,
    "heads_grid": heads_grid,
    "knobs": knobs,
    "learn": learn,
    "maps": maps,
    "matrices": matrices,
    "roles_map": roles_map,
    **SCALES,
    **tokens_laws.SCALES,
}
