"""Laws that must hold for the Plotly figure of every picture: it holds the picture's numbers, and no others.

Each law reads a header and its numbers as the picture's script does, and the figure as JSON, as it stands in a file.
`LAWS` has a law for each kind of picture that is no chart: name of the canvas -> law.
"""

from collections.abc import Callable
from html import unescape
from typing import Any

import numpy as np

from tests.tfm_ui.pictures import tokens_laws
from tests.tfm_ui.pictures.figure_checks import (
    OUR_TAGS,
    Json,
    array,
    gaps_are_told,
    leaves,
    named,
    same,
    scale_of,
    traces,
    unescaped,
    words,
)
from tests.tfm_ui.pictures.generate_laws import FIGURES
from tests.tfm_ui.pictures.scale_checks import floats

Header = dict[str, Any]
Law = Callable[[Header, bytes, Json], None]


def maps(header: Header, numbers: bytes, figure: Json) -> None:
    """A heatmap per map; what the mask hides is a gap, and its number lies in a grey heatmap behind."""
    rows, columns = header["rows"], header["columns"]
    shape = len(rows["names"]), len(columns["names"])
    tables = floats(numbers).reshape(-1, *shape)
    drawn = traces(figure)
    assert len(drawn) == len(header["maps"])
    hidden = np.isnan(tables[0]) if header["maps"][0]["ticks"] else np.zeros(shape, bool)
    grey = [trace for trace in figure["data"] if trace["type"] == "heatmap" and trace not in drawn]
    behind = iter(grey)
    for number, (told, trace) in enumerate(zip(header["maps"], drawn, strict=True)):
        cells = tables[number].copy()
        gone = ~np.isfinite(cells) | (hidden & bool(number))
        assert not np.isposinf(cells).any() or header["absent"] in words(trace)
        values = np.where(gone, np.nan, cells)
        if told["powers"]:
            same(trace["customdata"], values, told["name"])
        same(trace["z"], np.log10(values) if told["powers"] else values, told["name"])
        named(trace, *shape)
        if not told["ticks"]:
            ends = np.array([told["low"], told["high"]])
            np.testing.assert_allclose(scale_of(trace, figure), np.log10(ends) if told["powers"] else ends, rtol=1e-6)
        if (gone & np.isfinite(cells) & (cells != 0)).any():
            same(next(behind)["z"], np.where(gone & np.isfinite(cells) & (cells != 0), cells, np.nan), told["name"])
        where = {"%{text}": "text", "%{customdata}": "customdata", None: ""}[trace.get("texttemplate")]
        printed = trace.get(where, [])
        for text, value in zip(np.ravel(printed), values.ravel() if printed else [], strict=True):
            assert text not in ("0.00", "−0.00") or value == 0, (told["name"], text, value)
            assert text not in ("1.00", "−1.00") or abs(value) == 1 or (told["low"] < 0 and told["high"] != 1)
        if told["words"] and np.isfinite(values).any():
            assert set(unescaped(np.array(trace["text"])[np.isfinite(values)])) <= set(told["words"])
    assert next(behind, None) is None
    crossed = [trace for trace in figure["data"] if trace["type"] == "scatter"]
    assert sum(len(trace["x"]) for trace in crossed) == len(header["crosses"])
    labels = unescaped(drawn[0]["y"]), unescaped(drawn[0]["x"])
    for side, names, block in zip((rows, columns), labels, (header["part"] or {}).get("block", (1, 1)), strict=True):
        assert block > 1 or all(name in label for name, label in zip(side["names"], names, strict=True))


def head_map(header: Header, numbers: bytes, figure: Json) -> None:
    """The weights, and gaps where they are masked."""
    (trace,) = traces(figure)
    weights = floats(numbers).reshape(len(header["queries"]), len(header["keys"]))
    same(trace["z"], np.where(weights == -1, np.nan, weights), "weights")
    named(trace, *weights.shape)
    assert scale_of(trace, figure) == (0, header["top"])
    gaps_are_told(figure, "masked")
    assert unescaped(trace["y"]) == [f"{i + 1} {name}" for i, name in enumerate(header["queries"])]
    assert unescaped(trace["x"]) == [f"{i + 1} {name}" for i, name in enumerate(header["keys"])]


def heads_grid(header: Header, numbers: bytes, figure: Json) -> None:
    """A heatmap per head, with 254 for its largest weight; each on a scale that ends where the picture's does."""
    cells = np.frombuffer(numbers, np.uint8).reshape(-1, header["rows"], header["columns"])
    drawn = traces(figure)
    gaps_are_told(figure, "masked")
    assert len(drawn) == len(cells) == header["layers"] * header["heads"]
    for trace, head, largest, end in zip(drawn, cells, header["largest"], header["ends"], strict=True):
        same(trace["z"], np.where(head == 255, np.nan, head / 254 * largest), trace["name"], rtol=1e-5)
        named(trace, *head.shape)
        np.testing.assert_allclose(scale_of(trace, figure), (0, largest / end), rtol=1e-5)
    assert "1/254" in figure["layout"]["title"]["subtitle"]["text"]


def roles_map(header: Header, numbers: bytes, figure: Json) -> None:
    """The scores, and gaps where a head has no role; each cell says what the picture's does."""
    (trace,) = traces(figure)
    scores = floats(numbers).reshape(header["layers"], header["heads"])
    same(trace["z"], scores, "scores")
    named(trace, *scores.shape)
    assert scale_of(trace, figure) == (0, header["top"])
    assert [unescape(text) for row in trace["text"] for text in row] == header["told"]
    if np.isnan(scores).any():
        assert "Grey: no role." in figure["layout"]["title"]["subtitle"]["text"]


def arcs(header: Header, numbers: bytes, figure: Json) -> None:
    """Every weight stands at its key; of a long text the largest, each with its key and what is left of the row."""
    maps, queries, kept = len(header["maps"]), len(header["queries"]), header["kept"]
    rest = np.frombuffer(numbers, np.float32, maps * queries).reshape(maps, queries)
    weights = np.frombuffer(numbers, np.float32, rest.size * kept, rest.nbytes).reshape(maps, queries, kept)
    keys = np.frombuffer(numbers, np.uint16, weights.size, rest.nbytes + weights.nbytes).reshape(weights.shape)
    weights = np.where(weights == -1, np.nan, weights)
    drawn = traces(figure)
    gaps_are_told(figure, "masked")
    assert len(drawn) == maps
    for trace, row, at, left in zip(drawn, weights, keys, rest, strict=True):
        cells = array(trace["z"])
        if kept == len(header["keys"]):
            assert not left.any()
            same(np.take_along_axis(cells, at.astype(np.intp), 1), row, trace["name"])
        else:
            same(cells, row, trace["name"])
            more = array(trace["customdata"])
            np.testing.assert_array_equal(more[..., 0], at + 1)
            np.testing.assert_array_equal(more[..., 1], left[:, None].repeat(kept, 1))
        named(trace, *cells.shape)
        assert 0 <= np.nanmax(cells, initial=0) <= scale_of(trace, figure)[1]


def matrices(header: Header, numbers: bytes, figure: Json) -> None:
    """A heatmap per matrix, with gaps where it is −∞."""
    values, drawn = floats(numbers), traces(figure)
    assert [unescape(trace["name"]) for trace in drawn] == [
        f"{told['symbol']} {name}" for name, told in header["matrices"].items()
    ]
    gaps_are_told(figure, "−∞ (masked)")
    for told, trace in zip(header["matrices"].values(), drawn, strict=True):
        cells = values[told["begin"] : told["begin"] + told["rows"] * told["columns"]]
        cells = cells.reshape(told["rows"], told["columns"])
        same(trace["z"], np.where(np.isneginf(cells), np.nan, cells), trace["name"])
        named(trace, *cells.shape)
        low, high = scale_of(trace, figure)
        assert (low, high) == (0 if told["weights"] else -told["top"], told["top"])


def clocks(header: Header, numbers: bytes, figure: Json) -> None:
    """Two lines per clock, from its middle to where a hand ends."""
    hands = floats(numbers).reshape(-1, 5)
    assert len(figure["data"]) == 2 * len(hands)
    for i, (pair, hand) in enumerate(zip(header["pairs"], hands, strict=True)):
        for trace in figure["data"][2 * i : 2 * i + 2]:
            which = trace["name"].split()[0]
            end = hand[:2] if which == "query" else hand[2:4]
            assert trace["name"] == f"{which} at {header['at'][which]}"
            assert f"pair {pair}:" in trace["hovertemplate"]
            same([array(trace["x"]), array(trace["y"])], np.stack([np.zeros(2), end], 1), trace["name"])
            same(trace["customdata"], hand[[4, 4]], "the angle")
    assert {"query", "key"} == {trace["name"].split()[0] for trace in figure["data"]} or not len(hands)


def dictionary(header: Header, numbers: bytes, figure: Json) -> None:
    """Keys and query where they are, each key with its value, product, score, weight and share; weights as bars."""
    cells, keys = floats(numbers).reshape(-1, 4), np.array(header["keys"])
    (at,) = (trace for trace in figure["data"] if trace.get("name") == "key")
    (asked,) = (trace for trace in figure["data"] if trace.get("name") == "query")
    (bars,) = traces(figure, "bar")
    same([array(at["x"]), array(at["y"])], keys.T, "keys")
    same([asked["x"], asked["y"]], np.stack([np.zeros(2), header["asked"]], 1), "query")
    same(bars["x"], cells[:, 2], "weights")
    assert bars["y"] == header["names"][: len(keys)]
    for trace in (at, bars):
        same(trace["customdata"], np.column_stack([header["values"], cells]), "what is told of a key")
    assert header["answerText"] in figure["layout"]["title"]["subtitle"]["text"]


def entry(header: Header, numbers: bytes, figure: Json) -> None:
    """A line per row with all of its boxes, and which schemes enter there."""
    assert not numbers
    for row, trace in zip(header["rows"], figure["data"], strict=True):
        assert unescape(trace["name"]) == row["title"]
        for step, text, more in zip(row["steps"], trace["text"], trace["customdata"], strict=True):
            marks = [f"{side}: {name}" for side, name in step["marks"]]
            assert unescaped(OUR_TAGS.sub("|", text).split("|"))[0] == step["text"]
            assert [part for part in OUR_TAGS.sub("|", text).split("|") if part][1:] == marks
            assert step["note"] in unescape(more)
            assert ("layer" in more.split("<br>")[-1]) >= step["layer"]


def diagram(header: Header, numbers: bytes, figure: Json) -> None:
    """A column per stack with all of its boxes, and the numbers of each."""
    assert not numbers
    for stack, trace in zip(header["stacks"], figure["data"], strict=True):
        assert unescape(trace["name"]) == stack["title"]
        assert [unescape(text) for text in trace["text"]] == [row["text"] for row in stack["rows"]]
        for row, told in zip(stack["rows"], trace["customdata"], strict=True):
            shown = [unescape(line).split(": ", 1)[1] for line in told.split("<br>")[1:]]
            assert shown == [long for long, _ in row["cells"] if long]


def learn(header: Header, numbers: bytes, figure: Json) -> None:
    """A heatmap for each head at the last snapshot, with gaps where a decoder may not look."""
    sizes = [row["heads"] * len(row["queries"]) * len(row["keys"]) for row in header["rows"]]
    last, drawn = floats(numbers)[-sum(sizes) :], iter(traces(figure))
    gaps_are_told(figure, "masked")
    begin = 0
    for row, size in zip(header["rows"], sizes, strict=True):
        maps = last[begin : begin + size].reshape(row["heads"], len(row["queries"]), len(row["keys"])).copy()
        begin += size
        if row["causal"]:
            maps[:, np.triu(np.ones(maps.shape[1:], bool), 1)] = np.nan
        for cells in maps:
            trace = next(drawn)
            same(trace["z"], cells, row["name"])
            named(trace, *cells.shape)
            assert scale_of(trace, figure) == (0, 1)
    assert next(drawn, None) is None
    assert str(header["snapshots"][-1]) in figure["layout"]["title"]["subtitle"]["text"]


def graph(header: Header, numbers: bytes, figure: Json) -> None:
    """A heatmap of the values of the nodes and the logit, and one of the edges, with gaps where none is drawn."""
    nodes, values = len(header["nodes"]), np.frombuffer(numbers, np.float32)
    of_nodes, of_edges = traces(figure)
    same(of_nodes["z"], np.array([*values[:nodes], values[-1]])[:, None], "values")
    named(of_nodes, nodes + 1, 1)
    edges = np.full((nodes + 1, max(1, nodes)), np.nan)
    edges[header["to"], header["from"]] = values[nodes:-1]  # -1 is the last row, the logit
    same(of_edges["z"], edges, "edges")
    named(of_edges, *edges.shape)
    gaps_are_told(figure, "not drawn")
    top = max(header["top"], abs(float(values[-1])))
    np.testing.assert_allclose(scale_of(of_edges, figure), (-top, top), rtol=1e-6)


LAWS: dict[str, Law] = {
    "arcs": arcs,
    "clocks": clocks,
    "diagram": diagram,
    "dictionary": dictionary,
    "entry": entry,
    "graph": graph,
    "head_map": head_map,
    "heads_grid": heads_grid,
    "learn": learn,
    "maps": maps,
    "matrices": matrices,
    "roles_map": roles_map,
    **FIGURES,
    **tokens_laws.FIGURES,
}


def shows_something(figure: Json) -> bool:
    """Whether there is a number: a picture of a scheme that has been left is empty, its axes too."""
    return any(trace["type"] != "heatmap" or np.isfinite(array(trace["z"])).any() for trace in figure["data"])


def figure_law(figure: Json, title: str, link: str, foot: str) -> None:
    """What holds of all figures: a title, titles of axes, where the numbers come from, and no hole in a list."""
    layout = figure["layout"]
    assert unescape(layout["title"]["text"]) == title
    assert layout["template"]["layout"]["separators"] == ".,"
    assert layout["meta"] == {"sentence": layout["meta"]["sentence"], "link": link, "foot": foot}
    assert layout["meta"]["sentence"]
    for axis in ("xaxis", "yaxis") if shows_something(figure) else ():
        axes = [value for name, value in layout.items() if name.startswith(axis)]
        assert any(value.get("title", {}).get("text") for value in axes), f"{axis} has no title"
    holes = [path for path, value in leaves(figure) if value is None]
    assert not holes, f"none, which is how NaN is written: {holes[:3]}"
