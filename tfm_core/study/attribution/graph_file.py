"""A graph as a JSON file in the form that viewers of attribution graphs read.

The form is that of circuit-tracer (github.com/safety-research/circuit-tracer, `frontend/graph_models.py`), with the
fields of Neuronpedia's `graph-schema.json`: Ameisen et al. 2025, "Circuit Tracing". It is made for features of
transcoders. Heads and networks are none, and stand in it as follows, by what the two viewers do with each field.

- `feature_type` of heads and networks is "cross layer transcoder". Such a node keeps its label and is a dot at its
  layer and token. The label of an "mlp reconstruction error" is written over by a viewer ("Err: mlp"), and the node is
  counted as what is not explained. The label of an "embedding" is written over, too, by its token: token embeddings
  alone are of this type. Vectors of positions and token types, and the biases, are dots in the layer "E".
- `layer` counts from 0, as the viewers do: in "0" is what the label calls layer 1. The logit is in `num_layers` + 1.
- `ctx_idx` is a token's place: a negative number has no column. The biases, which belong to no token, stand at 0.
- `feature` is, as `schema_version` 1 says, Cantor's number of the layer and of a number within the layer: 0 for the
  network, and the head's, from 1. In the layer "E" it is the position, as viewers have it of tokens, and goes on
  after the last position for the other sources there.
- `influence` is the share of this node and all larger ones of the sizes of all values, 1 at the smallest: viewers hide
  nodes for which it is above a threshold. `node_threshold`, with which they begin, is 1, so that none is hidden.
- `activation` is empty: a head has none. What a node adds to the logit is `value`, a field that viewers pass over.
"""

import json
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from tfm_core.study.attribution.graph import Graph, Node
from tfm_core.study.attribution.sources import BIASES, EMBEDDING, NETWORK, POSITION, TYPES, Source

FIRST = (EMBEDDING, TYPES, POSITION, BIASES)  # the sources of the layer "E", by number
FEATURE, TOKEN, LOGIT = "cross layer transcoder", "embedding", "logit"


def graph_json(
    graph: Graph,
    *,
    tokens: Sequence[str],
    token_id: int,
    token: str,
    position: int,
    probability: float,
    num_layers: int,
    minus: str | None = None,
    prompt: str | None = None,
    slug: str = "graph",
    scan: str = "attention-lab",
) -> str:
    """Write a graph as JSON. Its weights are the graph's, to the last digit.

    Args:
        graph: of a model with a single stack.
        tokens: the text of each token, in order.
        token_id: the id whose logit it is.
        token: the text of this token.
        position: where the logit is read, from 0.
        probability: of the token at this position, 0 to 1.
        num_layers: of the model.
        minus: the text of the token whose logit was subtracted.
        prompt: the text; by default the tokens one after the other.
        slug: the name of the graph, which viewers take for the file's name, too.
        scan: the name of the model.

    Raises:
        ValueError: for a graph of an encoder-decoder, as the form has a place for the tokens of one text alone; for a
            position that has no token, or a layer that the model does not have; for a number that is not finite.
    """
    if any(node.source.stack for node in graph.nodes):
        raise ValueError(
            "expected a graph of a model with a single stack, got one of an encoder-decoder: "
            "this form of file has a place for the tokens of one text alone"
        )
    _within("position", position, len(tokens))
    for node in graph.nodes:
        if node.source.kind != BIASES:
            _within(f"position of {node.source.name}", node.position, len(tokens))
        if node.source.part:
            _within(f"layer of {node.source.name}", node.source.layer, num_layers)
    asked = token if minus is None else f"{token} − {minus}"
    label = f'Output "{asked}" (p={probability:.3f})'  # viewers read the token and the number out of it
    logit = _entry(str(num_layers + 1), token_id, position, LOGIT, token_id, label, graph.total)
    logit |= {"token_prob": probability, "is_target_logit": True, "jsNodeId": f"L_{token_id}-{position}"}
    influences = _influences(graph)
    nodes = [_of_node(node, share, len(tokens)) for node, share in zip(graph.nodes, influences, strict=True)]
    ids = [node["node_id"] for node in (*nodes, logit)]  # an edge's target -1 is the last, the logit
    content = {
        "metadata": {
            "slug": slug,
            "scan": scan,
            "transcoder_list": [],
            "prompt_tokens": list(tokens),
            "prompt": "".join(tokens) if prompt is None else prompt,
            "node_threshold": 1.0,
            "schema_version": 1,
            "info": {"description": _description(graph), "generator": {"name": "Attention Lab"}},
        },
        "qParams": {"pinnedIds": [], "supernodes": [], "linkType": "both", "clickedId": "", "sg_pos": ""},
        "nodes": [*nodes, logit],
        "links": [
            {"source": ids[edge.source], "target": ids[edge.target], "weight": edge.weight} for edge in graph.edges
        ],
    }
    return json.dumps(content, allow_nan=False)


def _of_node(node: Node, influence: float, length: int) -> dict[str, Any]:
    source, at = node.source, max(node.position, 0)
    if source.part:
        number = _number(source)
        feature = cantor(source.layer, number)
        return _entry(str(source.layer), number, at, FEATURE, feature, source.name, node.value, influence)
    number = FIRST.index(source.kind)
    label = f"{source.name}, the same at each position" if source.kind == BIASES else source.name
    kind = TOKEN if source.kind == EMBEDDING else FEATURE
    return _entry("E", number, at, kind, number * length + at, label, node.value, influence)


def _entry(
    layer: str,
    number: int,
    position: int,
    kind: str,
    feature: int,
    label: str,
    value: float,
    influence: float | None = None,
) -> dict[str, Any]:
    return {
        "node_id": f"{layer}_{number}_{position}",
        "feature": feature,
        "layer": layer,
        "ctx_idx": position,
        "feature_type": kind,
        "token_prob": 0.0,
        "is_target_logit": False,
        "run_idx": 0,
        "reverse_ctx_idx": 0,
        "jsNodeId": f"{layer}_{number}-{position}",
        "clerp": label,
        "influence": influence,
        "activation": None,
        "value": value,
    }


def _number(source: Source) -> int:
    """A head's number within its layer, from 1; 0 of the network."""
    return 0 if source.kind == NETWORK else source.head + 1


def cantor(x: int, y: int) -> int:
    """The number of a pair of whole numbers, of which no two have the same: Cantor's pairing function."""
    return (x + y) * (x + y + 1) // 2 + y


def _influences(graph: Graph) -> list[float]:
    """Each node's share of the sizes of all values, together with those of all larger ones."""
    sizes = [abs(node.value) for node in graph.nodes]
    order = sorted(range(len(sizes)), key=lambda at: -sizes[at])
    whole = sum(sizes[at] for at in order) or 1.0
    up_to_here = accumulate(sizes[at] for at in order)
    shares = {at: min(1.0, total / whole) for at, total in zip(order, up_to_here, strict=True)}
    return [shares[at] for at in range(len(sizes))]


def _description(graph: Graph) -> str:
    return (
        "Nodes are heads and networks, not features of transcoders. An edge is what one node's vector, read directly "
        "by another, adds to the logit, with attention weights, the statistics of norms and the ratios of networks "
        f"held fixed. {graph.left_out:.1%} of all edges into these nodes, by size, are not in this file."
    )


def _within(what: str, index: int, size: int) -> None:
    if not 0 <= index < size:
        raise ValueError(f"{what}: expected a number from 0 to {size - 1}, got {index!r}")
