"""A score, split exactly into pairs of sources: what the query got from one, times what the key got from another.

With the statistics of this pass's norms held fixed, query and key are sums over the sources of the stream that they are
made from, q = Σ_s q_s and k = Σ_t k_t, so that

    score(i, j) = Σ_s Σ_t  q_s,i · k_t,j / sqrt(head_dim)  +  what the positional scheme adds

Query-key circuits: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"; scores split by pairs of
sources: Kamath et al. 2025, "Tracing Attention Computation Through Feature Interactions". Under rope each side is
turned by its position, which is linear; alibi and t5 add a number to the score.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import Positional
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import EXACT, Place, Streams, Terms, output_weights, place_of, record, within


@dataclass(frozen=True)
class ScoreParts:
    """The scaled score of one query and key before the mask, as a sum.

    Attributes:
        query_side: the sources of the stream that the query is made from.
        key_side: those of the stream that the key is made from; in cross-attention the encoder's.
        parts: float64 (query source, key source), in units of the score: divided by sqrt(head_dim).
        scheme: what the positional scheme adds to the score (alibi, t5); 0 without.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, attribute_score
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).eval()
        >>> parts = attribute_score(model, torch.tensor([[5, 6, 7]]), layer=1, head=0, query=2, key=0)
        >>> tuple(parts.parts.shape) == (len(parts.query_sources), len(parts.key_sources))
        True
    """

    query_side: tuple[Source, ...]
    key_side: tuple[Source, ...]
    parts: Tensor
    scheme: float

    @property
    def query_sources(self) -> tuple[str, ...]:
        """What the rows of `parts` are called."""
        return tuple(source.name for source in self.query_side)

    @property
    def key_sources(self) -> tuple[str, ...]:
        """What its columns are called."""
        return tuple(source.name for source in self.key_side)

    @property
    def total(self) -> float:
        """The score: parts.sum() + scheme."""
        return float(self.parts.sum()) + self.scheme


@torch.no_grad()
def attribute_score(
    model: Transformer,
    tokens: Tensor,
    target: Tensor | None = None,
    *,
    layer: int,
    head: int,
    query: int,
    key: int,
    attention: str = "self",
    mask: Tensor | None = None,
) -> ScoreParts:
    """Why this query's score for this key is what it is: one pass of the model, and its score in parts.

    Args:
        model: best in evaluation mode.
        tokens: (1, seq) token ids; those of the encoder in an encoder-decoder.
        target: (1, target) token ids of the decoder, in an encoder-decoder alone.
        layer: from 0.
        head: from 0.
        query: the position that looks, from 0.
        key: the position that is looked at, from 0.
        attention: "self" in a single stack; "encoder", "decoder" or "cross" in an encoder-decoder.
        mask: as the model takes it. It changes what earlier layers wrote, and not what a part is.

    Raises:
        ValueError: for a layer, a head or a position that is not there; for an attention without scores.

    Examples:
        >>> import torch
        >>> from tfm_core import Transformer, TransformerConfig, attribute_score, recording
        >>> model = Transformer(TransformerConfig(vocab_size=50, d_model=8, num_heads=2)).eval()
        >>> tokens = torch.tensor([[5, 6, 7]])
        >>> parts = attribute_score(model, tokens, layer=1, head=0, query=2, key=0)
        >>> with torch.no_grad(), recording("layers.1.self_attention.scores") as trace:
        ...     _ = model(tokens)
        >>> abs(parts.total - trace["layers.1.self_attention.scores"][0, 0, 2, 0].item()) < 1e-4
        True
    """
    streams = record(model, tokens, target, mask=mask)
    return score_parts(streams, place_of(model, attention, layer), head=head, query=query, key=key)


@torch.no_grad()
def score_parts(streams: Streams, place: Place, *, head: int, query: int, key: int) -> ScoreParts:
    """One score of a recorded pass in parts; for the arguments and errors see `attribute_score`.

    It takes two products of (source, d_model) with a head's projections, and one of (source, head_dim) with another.
    """
    check_head(streams, place, head)
    within("query", query, streams.length(place.stack))
    within("key", key, key_length(streams, place))
    queries, keys = query_terms(streams, place, head, [query]), key_terms(streams, place, head, [key])
    parts = queries.vectors[:, 0] @ keys.vectors[:, 0].mT
    return ScoreParts(queries.sources, keys.sources, parts, scheme_bias(streams, place, head, query, key))


@torch.no_grad()
def all_score_parts(streams: Streams, place: Place, *, head: int) -> Tensor:
    """The parts of all scores of a head, float64 (query, key, query source, key source).

    Beside the parts of a score stands what the scheme adds, `scheme_bias`. It is one product of matrices; the result
    takes 8 bytes for each part: 104 MB for 12 tokens and 301 sources.

    Args:
        streams: a recorded pass.
        place: of the attention.
        head: from 0.
    """
    check_head(streams, place, head)
    queries, keys = query_terms(streams, place, head).vectors, key_terms(streams, place, head).vectors
    return torch.einsum("sid,tjd->ijst", queries, keys)


def query_terms(streams: Streams, place: Place, head: int, positions: Sequence[int] | None = None) -> Terms:
    """A head's queries as sums, (source, position, head_dim): turned, and divided by sqrt(head_dim).

    Args:
        streams: a recorded pass.
        place: of the attention.
        head: from 0.
        positions: of the queries, from 0; all by default.
    """
    return queries_of(streams, place, head, streams.read(place, positions), positions)


def key_terms(streams: Streams, place: Place, head: int, positions: Sequence[int] | None = None) -> Terms:
    """A head's keys as sums, (source, position, head_dim): turned. Arguments as in `query_terms`."""
    return keys_of(streams, place, head, streams.memory(place, positions), positions)


def value_terms(streams: Streams, place: Place, head: int, positions: Sequence[int] | None = None) -> Terms:
    """A head's values as sums, (source, position, head_dim). Arguments as in `query_terms`."""
    return values_of(streams, place, head, streams.memory(place, positions))


def queries_of(streams: Streams, place: Place, head: int, read: Terms, positions: Sequence[int] | None = None) -> Terms:
    """`query_terms` of what the attention reads, (source, position, d_model)."""
    attention = streams.attention(place)
    projected = _projected(read, attention.query_projection, _rows(attention, head))
    turned = _turned(streams.scheme(place), projected.vectors, positions)
    return Terms(projected.sources, turned / math.sqrt(turned.shape[-1]))


def keys_of(streams: Streams, place: Place, head: int, memory: Terms, positions: Sequence[int] | None = None) -> Terms:
    """`key_terms` of what the attention reads as its keys, (source, position, d_model)."""
    attention = streams.attention(place)
    projected = _projected(memory, attention.key_projection, _rows(attention, head, shared=True))
    return Terms(projected.sources, _turned(streams.scheme(place), projected.vectors, positions))


def values_of(streams: Streams, place: Place, head: int, memory: Terms) -> Terms:
    """`value_terms` of what the attention reads as its values, (source, position, d_model)."""
    attention = streams.attention(place)
    return _projected(memory, attention.value_projection, _rows(attention, head, shared=True))


def query_direction(streams: Streams, place: Place, head: int, query: int, key: int) -> Tensor:
    """The direction d, (d_model), for which d · x is what a term x of the key's stream gives the score.

    x is a term of the stream at the key's position, before its norm. It is what the query asks for.
    """
    terms = query_terms(streams, place, head, [query])
    return _asked(streams, place, head, terms.vectors.sum(0)[0], key, of_keys=True)


def key_direction(streams: Streams, place: Place, head: int, query: int, key: int) -> Tensor:
    """The direction d, (d_model), for which d · x is what a term x of the query's stream gives the score."""
    terms = key_terms(streams, place, head, [key])
    width = terms.vectors.shape[-1]
    return _asked(streams, place, head, terms.vectors.sum(0)[0] / math.sqrt(width), query, of_keys=False)


def value_direction(streams: Streams, place: Place, head: int, key: int, direction: Tensor) -> Tensor:
    """The direction d, (d_model), for which d · x is what a term x of the value's stream gives, at weight 1.

    Args:
        streams: a recorded pass.
        place: of the attention.
        head: from 0.
        key: the position of the value, from 0.
        direction: what is asked of what the head writes, (d_model).
    """
    attention = streams.attention(place)
    rows = _rows(attention, head, shared=True)
    asked = output_weights(attention)[head] @ direction.to(EXACT)  # of what the head gathers
    back = asked @ attention.value_projection.weight.detach()[rows].to(EXACT)
    norm = streams.norm_before(streams.read_by_keys(place), [key])
    return back if norm is None else norm.pulled(back[None])[0]


def _asked(streams: Streams, place: Place, head: int, asked: Tensor, position: int, *, of_keys: bool) -> Tensor:
    """What is asked of a query or a key, (head_dim), as a direction in the stream at its position, (d_model)."""
    attention = streams.attention(place)
    identity = torch.eye(len(asked), dtype=EXACT, device=asked.device)
    turn = _turned(streams.scheme(place), identity[:, None], [position])[:, 0]  # row i: where dimension i goes
    projection = attention.key_projection if of_keys else attention.query_projection
    rows = _rows(attention, head, shared=of_keys)
    direction = (turn @ asked) @ projection.weight.detach()[rows].to(EXACT)
    norm = streams.norm_before(streams.read_by_keys(place) if of_keys else place, [position])
    return direction if norm is None else norm.pulled(direction[None])[0]


@torch.no_grad()
def scheme_bias(streams: Streams, place: Place, head: int, query: int, key: int) -> float:
    """What the positional scheme adds to a score of this head; 0 where it adds nothing."""
    scheme = streams.scheme(place)
    biases = None if scheme is None else scheme.bias_at(torch.tensor([key - query]))
    return 0.0 if biases is None else float(biases[head, 0])


def score_row(streams: Streams, place: Place, head: int, query: int) -> Tensor:
    """A query's scores for all keys, float64 (key): scaled, before the mask."""
    asks = query_terms(streams, place, head, [query]).vectors.sum(0)[0]
    return key_terms(streams, place, head).vectors.sum(0) @ asks + bias_row(streams, place, head, query)


def bias_row(streams: Streams, place: Place, head: int, query: int) -> Tensor:
    """What the positional scheme adds to a query's scores, float64 (key)."""
    keys = range(key_length(streams, place))
    return torch.tensor([scheme_bias(streams, place, head, query, key) for key in keys], dtype=EXACT)


def key_length(streams: Streams, place: Place) -> int:
    """How many keys an attention has."""
    return streams.length("encoder" if place.part == "cross_attention" else place.stack)


def check_head(streams: Streams, place: Place, head: int) -> None:
    """Raise a ValueError where there is no such head, or it has no scores."""
    attention = streams.attention(place)
    within("head", head, attention.num_heads)
    if not attention.has_scores:
        raise ValueError(f"expected an attention with scores, got {type(attention).__name__}, which has none")


def _rows(attention: MultiHeadAttention, head: int, *, shared: bool = False) -> slice:
    """The rows of a projection that make this head's queries; if `shared`, its keys or values."""
    width = attention.d_model // attention.num_heads
    first = head // (attention.num_heads // attention.num_kv_heads) if shared else head
    return slice(first * width, (first + 1) * width)


def _projected(terms: Terms, projection: nn.Linear, rows: slice) -> Terms:
    """Each term through some rows of a projection, whose bias is among the biases."""
    vectors = terms.vectors @ projection.weight.detach()[rows].to(EXACT).mT
    if projection.bias is not None:
        vectors[-1] += projection.bias.detach()[rows].to(EXACT)
    return Terms(terms.sources, vectors)


def _turned(scheme: Positional | None, terms: Tensor, positions: Sequence[int] | None) -> Tensor:
    """Each term (source, position, head_dim) turned by its position, where the scheme turns."""
    if scheme is None or not scheme.overrides("rotate"):
        return terms
    if positions is None:
        return _rotated(scheme, terms, 0)
    return torch.cat([_rotated(scheme, terms[:, at : at + 1], place) for at, place in enumerate(positions)], 1)


def _rotated(scheme: Positional, terms: Tensor, start: int) -> Tensor:
    turned = scheme.rotate(terms[:, None], start)
    assert turned is not None
    return turned[:, 0].to(terms)
