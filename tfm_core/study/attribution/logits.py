"""What each source adds to a logit, or to the difference of two: direct attribution.

The logit of a token is a direction in what the last norm gives. With this norm's statistics held fixed, each source of
the stream adds a number of its own, and the numbers sum to the logit. Elhage et al. 2021, "A Mathematical Framework for
Transformer Circuits" (the direct path); nostalgebraist 2020 reads the stream in the same way.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.transformer import Transformer
from tfm_core.study.attribution.sources import Source
from tfm_core.study.attribution.streams import END, EXACT, Place, Streams, record, within


@dataclass(frozen=True)
class LogitParts:
    """A logit, or the difference of two, as a sum over sources.

    Attributes:
        sources: of the stream at the position.
        parts: float64 (source), in logits: one more in the difference makes one token e times as likely, compared with
            the other.
    """

    sources: tuple[Source, ...]
    parts: Tensor

    @property
    def names(self) -> tuple[str, ...]:
        """What the sources are called."""
        return tuple(source.name for source in self.sources)

    @property
    def total(self) -> float:
        """The logit, or the difference: parts.sum()."""
        return float(self.parts.sum())


@torch.no_grad()
def attribute_logit(
    model: Transformer,
    tokens: Tensor,
    target: Tensor | None = None,
    *,
    position: int,
    token: int,
    minus: int | None = None,
    mask: Tensor | None = None,
) -> LogitParts:
    """Why the model gives this token this logit at a position.

    Args:
        model: best in evaluation mode.
        tokens: (1, seq) token ids.
        target: (1, target) token ids of the decoder, in an encoder-decoder alone: there the position is.
        position: from 0.
        token: the id whose logit is split.
        minus: the id of another token, whose logit is subtracted.
        mask: as the model takes it.

    Raises:
        ValueError: for a position or an id that is not there; for a model whose logits are not linear in its last
            vectors.
    """
    return logit_parts(record(model, tokens, target, mask=mask), position=position, token=token, minus=minus)


@torch.no_grad()
def logit_parts(streams: Streams, *, position: int, token: int, minus: int | None = None) -> LogitParts:
    """The same of a recorded pass."""
    place = last_place(streams.model)
    within("position", position, streams.length(place.stack))
    terms = streams.read(place, [position])
    return LogitParts(terms.sources, terms.vectors[:, 0] @ logit_direction(streams.model, token, minus))


def last_place(model: Transformer) -> Place:
    """Where the logits are read: the end of the only stack, or of the decoder."""
    return Place(0, END, "decoder" if model.config.architecture == "encoder-decoder" else "")


def logit_direction(model: Transformer, token: int, minus: int | None = None) -> Tensor:
    """The row of the output matrix of a token, float64 (d_model); minus that of another, if there is one.

    Raises:
        ValueError: for an id that is not there, or a model without such a row.
    """
    if model.config.head != "logits":
        why = "none" if model.config.head == "none" else "a network between its last vectors and its logits"
        raise ValueError(f"expected a model whose logits are linear in its last vectors, got one with {why}")
    weight = model.unembedding.weight.detach()
    row = weight[within("token", token, len(weight))].to(EXACT)
    return row if minus is None else row - weight[within("minus", minus, len(weight))].to(EXACT)
