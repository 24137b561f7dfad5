"""All of a pass for one logit as a graph: from the tokens through heads and networks, each edge with what it carries.

In a pass that is held linear (`flow`) a logit is a sum over paths. A node is a source at a position; its value is the
sum over all paths from it to the logit. An edge is what the vector of one node, read directly by another, adds to that
one's value. So exactly

    value of a node = sum of the edges into it = sum of the edges out of it

but that nothing goes into tokens and biases. Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits",
section "Path expansion"; graphs of this kind, for features in place of heads: Ameisen et al. 2025, "Circuit Tracing".
Edges go through the values of heads: why a head looks where it looks is not in the graph, but in `scores`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.study.attribution.flow import Flow, asked_of_network, flow_to
from tfm_core.study.attribution.logits import last_place
from tfm_core.study.attribution.scores import values_of
from tfm_core.study.attribution.sources import BIASES, Source, sources_of
from tfm_core.study.attribution.streams import END, Place, Streams, Terms, output_weights

MOST_NODES = 300  # of a graph
FAINT = 0.25  # of the share of a node: what an edge has at least
NOWHERE = -1  # the position of the biases, which are the same at all


@dataclass(frozen=True)
class Node:
    """A source at a position, and what it adds to the logit through all paths.

    Attributes:
        source: what wrote the vector.
        position: from 0, in the text of its stack; -1 of the biases.
        value: in logits.
    """

    source: Source
    position: int
    value: float


@dataclass(frozen=True)
class Edge:
    """What a node's vector, read directly by another node, adds to the logit through that one.

    Attributes:
        source: the node that wrote: its number in `Graph.nodes`.
        target: the node that reads, likewise; -1 for the logit.
        weight: in logits.
    """

    source: int
    target: int
    weight: float


@dataclass(frozen=True)
class Graph:
    """The nodes that matter for a logit, and the edges between them.

    Attributes:
        nodes: from the tokens up.
        edges: the largest first.
        total: the logit, or the difference of two, that all edges into it sum to.
        size: what the sizes of all edges into the logit sum to: of it shares are taken.
        error: how far a drawn head's or network's value is from the sum of all edges into it, at most, in logits.
        left_out: the part of all edges into these nodes and the logit, by size, that is not among `edges`; 0 to 1.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    total: float
    size: float
    error: float
    left_out: float


@torch.no_grad()
def logit_graph(streams: Streams, *, position: int, token: int, minus: int | None = None, share: float = 0.05) -> Graph:
    """The graph of a pass for one logit.

    It takes a way down and a way up through the layers, by products of matrices. In memory are all sources of a stack
    at all positions at a time, 8 bytes for each number: 16 MB for SmolLM2 and 12 tokens.

    Args:
        streams: a pass that was recorded with its weights.
        position: of the logit, from 0.
        token: the id whose logit it is.
        minus: the id of a token whose logit is subtracted.
        share: what a node has at least, as a share of `Graph.size`; an edge has at least a quarter of that.

    Raises:
        ValueError: for a position, an id or a share that is not there; for a model whose logits are not linear in its
            last vectors.
    """
    if not 0 < share <= 1:
        raise ValueError(f"share: expected a number above 0, up to 1; got {share!r}")
    flow = flow_to(streams, position=position, token=token, minus=minus)
    end = last_place(streams.model)
    direct = streams.read(end, [position]).vectors[:, 0] @ flow.asked
    size = float(direct.abs().sum())
    nodes = _chosen(streams, flow, share * size)
    number = {(node.source, node.position): at for at, node in enumerate(nodes)}
    biases = number.get((Source(BIASES), NOWHERE))  # those of all stacks are one node
    edges, whole, drawn, error = list[Edge](), 0.0, 0.0, 0.0
    for target, sources, positions, weights in _edges_into(streams, flow, nodes):
        error = max(error, abs(float(weights.sum()) - (flow.total if target < 0 else nodes[target].value)))
        weights = _biases_as_one(weights)
        whole += float(weights.abs().sum())
        for row, column in (weights.abs() >= FAINT * share * size).nonzero().tolist():
            at = biases if sources[row].kind == BIASES else number.get((sources[row], positions[column]))
            if at is not None:
                edges.append(Edge(at, target, float(weights[row, column])))
                drawn += abs(edges[-1].weight)
    edges.sort(key=lambda edge: -abs(edge.weight))
    left_out = max(0.0, 1 - drawn / whole) if whole else 0.0
    return Graph(tuple(nodes), tuple(edges), flow.total, size, error, left_out)


def _chosen(streams: Streams, flow: Flow, least: float) -> list[Node]:
    """The nodes whose value has at least this size, from the tokens up: of too many the largest."""
    nodes = []
    for stack, values in flow.values.items():
        sources = sources_of(streams.stack(stack), stack)
        places = (values.abs() >= least).nonzero().tolist()
        nodes += [Node(sources[row], at, float(values[row, at])) for row, at in places]
    if abs(flow.biases) >= least:
        nodes.append(Node(Source(BIASES), NOWHERE, flow.biases))
    largest = sorted(nodes, key=lambda node: -abs(node.value))[:MOST_NODES]
    return [node for node in nodes if node in largest]


Into = tuple[int, Sequence[Source], Sequence[int], Tensor]  # target, sources, positions, (source, position)


def _edges_into(streams: Streams, flow: Flow, nodes: Sequence[Node]) -> Iterator[Into]:
    """All edges into each of these nodes and into the logit."""
    end = last_place(streams.model)
    memory = streams.read(Place(0, END, "encoder")) if end.stack == "decoder" else None
    at_place: dict[tuple[str, int, str], list[tuple[int, Node]]] = {}
    for number, node in enumerate(nodes):
        if node.source.part:
            key = node.source.stack, node.source.layer, node.source.part
            at_place.setdefault(key, []).append((number, node))
    for stack in flow.values:
        for place, terms in streams.sweep(stack):
            here = at_place.get((stack, place.layer, place.part), [])
            if place.part == END and stack == end.stack:
                yield _into_logit(streams, flow, terms())
            elif here and place.part == "feed_forward":
                yield from _into_network(streams, flow, place, streams.normed(place, terms()), here)
            elif here:
                across = place.part == "cross_attention"
                read = memory if across and memory is not None else streams.normed(place, terms())
                yield from _into_heads(streams, flow, place, read, here)


def _into_logit(streams: Streams, flow: Flow, terms: Terms) -> Into:
    at = [flow.position]
    terms = Terms(terms.sources, terms.vectors[:, at])
    read = streams.normed(last_place(streams.model), terms, at)
    return -1, read.sources, at, read.vectors @ flow.asked


def _into_network(
    streams: Streams, flow: Flow, place: Place, read: Terms, here: Sequence[tuple[int, Node]]
) -> Iterator[Into]:
    asked, within_it = asked_of_network(streams, place, flow.at[place])
    for number, node in here:
        weights = read.vectors[:, node.position] @ asked[node.position]
        weights[-1] += within_it[node.position]
        yield number, read.sources, [node.position], weights[:, None]


def _into_heads(
    streams: Streams, flow: Flow, place: Place, read: Terms, here: Sequence[tuple[int, Node]]
) -> Iterator[Into]:
    of_outputs, weights = output_weights(streams.attention(place)), streams.site(place, "weights")
    for head in sorted({node.source.head for _, node in here}):
        values = values_of(streams, place, head, read)
        for number, node in here:
            if node.source.head == head:
                asked = of_outputs[head] @ flow.at[place][node.position]  # of what the head gathers, (head_dim)
                looks = weights[head, node.position].to(asked)
                yield number, read.sources, range(len(looks)), values.vectors @ asked * looks


def _biases_as_one(weights: Tensor) -> Tensor:
    """Weights (source, position) with those of the biases, the last row, summed into the first column."""
    return torch.cat([weights[:-1], torch.nn.functional.pad(weights[-1:].sum(1, True), (0, weights.shape[1] - 1))])
