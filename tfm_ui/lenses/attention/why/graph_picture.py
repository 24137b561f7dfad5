"""The picture of a graph: what its script gets, and the same as a Plotly figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.text import formats

WHOLE, NEAR = 24, 2  # tokens of a text that is shown whole; of a longer one, how far from a node a token is shown
NOT_DRAWN = "not drawn"


@dataclass(frozen=True)
class Stack:
    """A stack of layers in the picture.

    Attributes:
        name: "encoder" or "decoder"; "" of the only stack.
        tokens: a label for each position.
        parts: the rows of a layer, from below.
    """

    name: str
    tokens: Sequence[str]
    parts: tuple[str, ...]


def content(
    nodes: Sequence[Mapping[str, Any]],
    edges: Sequence[tuple[int, int]],
    *,
    values: Sequence[float],
    weights: Sequence[float],
    total: float,
    stacks: Sequence[Stack],
    at: int,
    asked: str,
    locked: str,
) -> Content:
    """The content for graph.js.

    Args:
        nodes: of each its `code` in a link, `name`, `letter`, the number of its `stack`, its `row` there, 0 of tokens,
            and `at`, its position; -1 of the biases.
        edges: the numbers of the nodes between which each leads; -1 is the logit.
        values: of the nodes.
        weights: of the edges.
        total: the logit.
        stacks: from the lower to the upper one.
        at: the position in the upper stack at which the logit is read.
        asked: whose logit it is.
        locked: the code of the locked node; "" for none.
    """
    numbers = np.array([*values, *weights, total], np.float32)
    shown = [_near(nodes, number, stack, at if stack is stacks[-1] else None) for number, stack in enumerate(stacks)]
    top = float(np.abs(numbers[:-1]).max(initial=0)) or 1.0
    header = {
        "nodes": list(nodes),
        "from": [source for source, _ in edges],
        "to": [target for _, target in edges],
        "stacks": [
            {"name": stack.name, "parts": stack.parts, "at": kept, "tokens": [stack.tokens[i] for i in kept]}
            for stack, kept in zip(stacks, shown, strict=True)
        ],
        "asked": {"at": at, "text": asked},
        "locked": locked,
        "top": top,
        "topText": formats.weight(top),
    }
    return header, numbers


def _near(nodes: Sequence[Mapping[str, Any]], number: int, stack: Stack, asked: int | None) -> list[int]:
    """The positions of a stack that are shown."""
    count = len(stack.tokens)
    if count <= WHOLE:
        return list(range(count))
    used = {node["at"] for node in nodes if node["stack"] == number and node["at"] >= 0}
    used |= {0 if asked is None else asked}
    return [i for i in range(count) if any(abs(i - place) <= NEAR for place in used)]


def unpacked(header: Header, numbers: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32], float]:
    """The values of the nodes, the weights of the edges, and the logit."""
    floats, nodes = np.frombuffer(numbers.tobytes(), np.float32), len(header["nodes"])
    return floats[:nodes], floats[nodes:-1], float(floats[-1])


def graph_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The values of the nodes, and the edges as a heatmap: from a node below to a node at the left."""
    values, weights, total = unpacked(header, numbers)
    names = [*numbered([node["name"] for node in header["nodes"]]), f"the logit of {header['asked']['text']}"]
    scale = around_zero(max(header["top"], abs(total)))
    edges = np.full((len(names), max(1, len(names) - 1)), np.nan, np.float32)
    for source, target, weight in zip(header["from"], header["to"], weights, strict=True):
        edges[target, source] = weight  # -1 is the last row, the logit
    told = np.array([*values, total], np.float32)[:, None]
    rows = Side(labels=names, title="to", noun="to")
    columns = Side(labels=names[:-1] or ["no node"], title="from", noun="from")
    gaps, unit = (NOT_DRAWN,), "logit"
    return heatmaps.figure(
        [
            Heat(
                name="values",
                values=told,
                rows=Side(labels=names, title="node", noun="node"),
                columns=Side(labels=["value"], title="", noun="number"),
                scale=scale,
                unit=unit,
                square=False,
            ),
            Heat(
                name="edges", values=edges, rows=rows, columns=columns, scale=scale, unit=unit, gaps=gaps, square=False
            ),
        ]
    )


GRAPH = Canvas(
    "lenses/attention/graph",
    """
<div class="graph" data-picture>
  <div class="scroll"><canvas tabindex="0" role="application"></canvas></div>
  <p class="say" aria-live="polite"></p>
</div>
""",
    graph_figure,
)
