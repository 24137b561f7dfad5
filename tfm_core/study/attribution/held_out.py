"""What a split foretells, beside what an intervention does: without a source the model, or a part of it, runs again.

A split tells what each source gave with everything held fixed that is not linear. Without a source, norms divide by
other numbers, the softmax shares out otherwise, and later layers answer. So a forecast is exact where a source is taken
out of one score, an estimate of what becomes of the weights if norms are computed anew, and no more than a guess of
what happens when the model does without it from the start.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from tfm_core.model.recording import Edit, recording
from tfm_core.study.attribution.graph import Edge, Graph, Node
from tfm_core.study.attribution.logits import last_place, logit_direction
from tfm_core.study.attribution.scores import (
    bias_row,
    check_head,
    key_length,
    key_terms,
    keys_of,
    queries_of,
    query_terms,
    values_of,
)
from tfm_core.study.attribution.sources import BIASES, EMBEDDING, NETWORK, POSITION, TYPES, Source
from tfm_core.study.attribution.streams import EXACT, LinearNorm, Place, Streams, Terms, prefix_of, site_name, within

SITES = {EMBEDDING: "embedding", TYPES: "token_types", POSITION: "position"}


@dataclass(frozen=True)
class HeldOut:
    """One query's row without one source at one position, each float64 (key).

    Attributes:
        scores: as they were in the pass, scaled, before the mask.
        expected: the scores less the parts of the source: norms as they were.
        normed_anew: the scores if this head alone reads the stream without the source, and its norm is computed anew;
            without biases, the norm's shift and the bias of its projection are left out as well.
        silenced: the scores if the source writes nothing at that position, and all that comes after answers to it;
            None of biases, which no part of the model can do without.
    """

    scores: Tensor
    expected: Tensor
    normed_anew: Tensor
    silenced: Tensor | None


@torch.no_grad()
def held_out(
    streams: Streams, place: Place, *, head: int, query: int, source: Source, key: int | None = None
) -> HeldOut:
    """What becomes of a query's scores without a source.

    Args:
        streams: a recorded pass.
        place: of the attention.
        head: from 0.
        query: the position that looks, from 0.
        source: of the stream that the query is made from, at the query's position; with `key`, of the key's stream.
        key: the position where the key's stream does without the source; then only this key's score changes in the
            first two.

    Raises:
        ValueError: for a source that has not written before this place; for a head or a position that is not there; for
            an attention without scores.
    """
    check_head(streams, place, head)
    within("query", query, streams.length(place.stack))
    if key is not None:
        within("key", key, key_length(streams, place))
    at = query if key is None else key
    read = place if key is None else streams.read_by_keys(place)
    stream = streams.before(read, [at])
    if source not in stream.sources:
        raise ValueError(f"expected one of the sources {', '.join(stream.names)}; got {source.name}")
    number = stream.sources.index(source)
    queries = query_terms(streams, place, head, [query]).vectors[:, 0]
    answers = keys_of(streams, place, head, streams.whole(streams.read_by_keys(place))).vectors[0]  # (key, head_dim)
    asks, bias = queries.sum(0), bias_row(streams, place, head, query)
    scores, left = answers @ asks + bias, _without(streams, read, stream, number)
    silenced = None if source.kind == BIASES else _silenced(streams, place, head, query, source, at)
    if key is None:
        other = _left(queries_of(streams, place, head, left, [query]), source)
        return HeldOut(scores, answers @ (asks - queries[number]) + bias, answers @ other + bias, silenced)
    expected, normed_anew = scores.clone(), scores.clone()
    expected[key] -= key_terms(streams, place, head, [key]).vectors[number, 0] @ asks
    normed_anew[key] = _left(keys_of(streams, place, head, left, [key]), source) @ asks + bias[key]
    return HeldOut(scores, expected, normed_anew, silenced)


def _without(streams: Streams, read: Place, stream: Terms, number: int) -> Terms:
    """What is read of the sum without one of its terms, normed anew: beside it the norm's shift, as the biases."""
    left = stream.vectors.sum(0) - stream.vectors[number]
    shift, module = torch.zeros_like(left), streams.norm_of(read)
    if module is not None:
        norm = LinearNorm.of(module, left)
        left, shift = norm(left), shift + norm.shift
    return Terms((stream.sources[number], stream.sources[-1]), torch.stack([left, shift]))


def _left(terms: Terms, source: Source) -> Tensor:
    """What is made of `_without`, at its only position: without biases, those of its norm and projection are none."""
    return (terms.vectors[0] if source.kind == BIASES else terms.vectors.sum(0))[0]


def _silenced(streams: Streams, place: Place, head: int, query: int, source: Source, at: int) -> Tensor:
    """The scores of a pass in which a source writes nothing at a position, float64 (key)."""
    site = site_name(place, "scores")
    with recording(site, edits=silence(streams, source, at)) as trace:
        streams.model.states(*streams.inputs, mask=streams.mask)
    return trace[site][0, head, query].to(EXACT)


def silence(streams: Streams, source: Source, at: int) -> Mapping[str, Edit]:
    """The edit of a recording with which a source writes nothing at a position.

    Raises:
        ValueError: of biases.
    """
    if source.kind in SITES:
        return {prefix_of(source.stack) + SITES[source.kind]: partial(_zero, at=at)}
    place = Place(source.layer, source.part, source.stack)
    if source.kind == NETWORK:
        bias = streams.network(place).output_projection.bias
        return {site_name(place, "output"): partial(_zero, at=at, bias=bias)}
    if not source.is_head:
        raise ValueError("expected a source that can be silenced, got the biases")
    return {site_name(place, "head_output"): partial(_zero, at=at, head=source.head)}


def _zero(x: Tensor, *, at: int, head: int | None = None, bias: Tensor | None = None) -> Tensor:
    """Nothing at one position, or a bias alone: x is (batch, seq, width), (seq, width), or that of all heads."""
    row = x[..., at, :] if head is None else x[:, head, at]
    row.copy_(torch.zeros_like(row) if bias is None else bias.expand_as(row))
    return x


@torch.no_grad()
def measured_edges(
    streams: Streams, graph: Graph, edges: Sequence[Edge], *, position: int, token: int, minus: int | None = None
) -> list[float]:
    """How much the logit falls without each edge, in logits: beside `Edge.weight`, which is what it foretells.

    What one node reads directly of another is taken away from it: a head gathers values without that vector, its
    attention weights as they were; a network, and the logit, read the stream without it, normed anew. All that comes
    after answers. Each edge takes a pass of the model. Of the biases, no part of the model can be freed: their edges
    are not measured, NaN.

    Args:
        streams: a pass that was recorded with its weights.
        graph: of this pass.
        edges: of this graph.
        position: of the logit, as the graph was made for it, like `token` and `minus`.
        token: the id whose logit it is.
        minus: the id of a token whose logit is subtracted.
    """
    return [
        _fall(streams, graph, edge, position, token, minus)
        if graph.nodes[edge.source].source.kind != BIASES
        else math.nan
        for edge in edges
    ]


def _fall(streams: Streams, graph: Graph, edge: Edge, position: int, token: int, minus: int | None) -> float:
    node, end = graph.nodes[edge.source], last_place(streams.model)
    if edge.target < 0:
        edits: Mapping[str, Edit] = {}
    else:
        edits = _less(streams, graph.nodes[edge.target], node)
    site = site_name(streams.order(end.stack)[-1], "residual_after")
    with recording(site, edits=edits) as trace:
        streams.model.states(*streams.inputs, mask=streams.mask)
    last = trace[site][0, position].to(EXACT)
    if edge.target < 0:
        terms = streams.before(end, [position])
        last = last - terms.vectors[terms.sources.index(node.source), 0]
    asked, module = logit_direction(streams.model, token, minus), streams.norm_of(end)
    if module is not None:
        norm = LinearNorm.of(module, last[None])
        last = (norm(last[None]) + norm.shift)[0]
    return graph.total - float(last @ asked)


def _less(streams: Streams, reader: Node, node: Node) -> Mapping[str, Edit]:
    """The edit with which one node does not get what it read directly of another."""
    source = reader.source
    place, at = Place(source.layer, source.part, source.stack), reader.position
    read = streams.read_by_keys(place)
    terms = streams.before(read, [node.position])
    number = terms.sources.index(node.source)
    if source.is_head:
        term = Terms(terms.sources, streams.normed(read, terms, [node.position]).vectors)
        value = values_of(streams, place, source.head, term).vectors[number, 0]
        lost = streams.site(place, "weights")[source.head, at, node.position].to(EXACT) * value
        return {site_name(place, "head_output"): partial(_subtract, at=at, head=source.head, lost=lost)}
    network = streams.network(place)
    dtype = network.output_projection.weight.dtype
    left = _without(streams, place, terms, number).vectors.sum(0).to(dtype)
    lost = streams.site(place, "output")[at] - network(left)[0]
    return {site_name(place, "output"): partial(_subtract, at=at, lost=lost)}


def _subtract(x: Tensor, *, at: int, lost: Tensor, head: int | None = None) -> Tensor:
    row = x[:, at] if head is None else x[:, head, at]
    row -= lost.to(x)
    return x
