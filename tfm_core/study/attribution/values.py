"""What a head wrote, split by key and by source; and what stands in a direction of it.

A head's output at a query is Σ_j a_ij v_j, and each value v_j is a sum over the sources of the stream at key j. With
the weights a as they were, what a head adds to the stream is a sum over keys and sources, (key, source). Kobayashi et
al. 2020, "Attention is Not Only a Weight", take the lengths of these vectors; here they are read along a direction, so
that the numbers sum.

A direction is what somebody later asks of the stream: a query of a later head (`query_direction`), a logit, or the
head's whole output. So a head that passed something on is opened: what it gave is split into what it got.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.transformer import Transformer
from tfm_core.study.attribution.scores import value_terms
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import Place, Streams, output_weights, place_of, record, within

AT_ONCE = 64  # keys: of all keys of a long text the sources, as wide as the model, are more than memory holds


@dataclass(frozen=True)
class WrittenParts:
    """What a head gathered at a query, as a sum over keys and sources.

    Attributes:
        sources: of the stream that the values are made from.
        vectors: float64 (key, source, head_dim), a_ij times each term of the value; they sum to `head_output`.
        output_weight: float64 (head_dim, d_model), the rows of W_O that the head is multiplied with.
    """

    sources: tuple[Source, ...]
    vectors: Tensor
    output_weight: Tensor

    @property
    def written(self) -> Tensor:
        """What the head adds to the stream, float64 (d_model): without the bias of W_O."""
        return self.vectors.sum((0, 1)) @ self.output_weight

    @property
    def names(self) -> tuple[str, ...]:
        """What the sources are called."""
        return tuple(source.name for source in self.sources)

    def along(self, direction: Tensor) -> Tensor:
        """direction · what each key and source adds to the stream, (key, source); the sum is direction · `written`.

        Args:
            direction: (d_model).
        """
        return self.vectors @ (self.output_weight @ direction.to(self.vectors))

    @property
    def parts(self) -> Tensor:
        """The same along the direction of what was written, as a unit vector: they sum to the length of it.

        Zeros where the head wrote nothing.
        """
        written = self.written
        length = written.norm()
        return self.along(written / length if length > 0 else written)

    @property
    def total(self) -> float:
        """The length of what the head adds to the stream: parts.sum()."""
        return float(self.written.norm())


@torch.no_grad()
def attribute_written(
    model: Transformer,
    tokens: Tensor,
    target: Tensor | None = None,
    *,
    layer: int,
    head: int,
    query: int,
    attention: str = "self",
    mask: Tensor | None = None,
) -> WrittenParts:
    """What this head wrote at this query, by key and by source. Arguments and errors as in `attribute_score`."""
    streams = record(model, tokens, target, mask=mask, weights=True)
    place = place_of(model, attention, layer)
    within("head", head, model.config.num_heads)
    within("query", query, streams.length(place.stack))
    return written_parts(streams, place, head=head, weights=streams.site(place, "weights")[head, query])


@torch.no_grad()
def written_parts(
    streams: Streams, place: Place, *, head: int, weights: Tensor, keys: Sequence[int] | None = None
) -> WrittenParts:
    """What a head of a recorded pass gathered at one query.

    Args:
        streams: the pass.
        place: of the attention.
        head: from 0.
        weights: (key), the query's row; of `keys`, if these are given.
        keys: the keys that count, from 0; all by default.
    """
    every = list(range(len(weights)) if keys is None else keys)
    some = [every[begin : begin + AT_ONCE] for begin in range(0, len(every), AT_ONCE)]
    values = [value_terms(streams, place, head, positions) for positions in some]  # (source, key, head_dim) each
    vectors = torch.cat([terms.vectors.movedim(0, 1) for terms in values])
    weighted = weights.to(vectors)[:, None, None] * vectors
    return WrittenParts(values[0].sources, weighted, output_weights(streams.attention(place))[head])
