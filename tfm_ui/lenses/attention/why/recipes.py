"""Recipes of the views on parts: plain Python that computes the same numbers."""

from collections.abc import Sequence

from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.study.attribution import attribute_logit, attribute_score, attribute_written


def score_in_parts(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    attention: str,
    layer: int,
    head: int,
    query: int,
    key: int,
) -> Tensor:
    """The parts of one score, (query source, key source)."""
    model = Transformer(config).eval()
    score = attribute_score(
        model, *inputs, layer=layer, head=head, query=query, key=key, attention=attention, mask=mask
    )
    parts = score.parts  # (query source, key source)
    return parts


def written_in_parts(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    attention: str,
    layer: int,
    head: int,
    query: int,
) -> Tensor:
    """What a head wrote along its own direction, (key, source)."""
    model = Transformer(config).eval()
    written = attribute_written(model, *inputs, layer=layer, head=head, query=query, attention=attention, mask=mask)
    parts = written.parts  # (key, source)
    return parts


def logit_in_parts(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    position: int,
    token: int,
    minus: int | None,
) -> Tensor:
    """What each source adds to the logit, (source)."""
    model = Transformer(config).eval()
    logit = attribute_logit(model, *inputs, position=position, token=token, minus=minus, mask=mask)
    parts = logit.parts  # (source)
    return parts
