"""Decoding with an encoder-decoder: each token is the likeliest next one, and is read by the step after it.

Teacher forcing stands beside it: while it learns, a decoder reads right tokens alone, so that it is never exposed to a
mistake of its own. That is exposure bias (Ranzato et al. 2016; Bengio et al. 2015), and what it costs is measured here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core.model.recording import recording
from tfm_core.model.transformer import Transformer
from tfm_core.training.tasks.task import IGNORED, Examples

FIRST = 0  # the place at which a wrong token is forced


@dataclass(frozen=True)
class Decoded:
    """What a decoder has written, and how.

    Attributes:
        read: int64 (step), what the decoder had read last at each step: the start token, then what it wrote.
        written: int64 (step), the likeliest token of each step.
        probabilities: float32 (step, vocab), of each step.
        cross: site -> float32 (head, step, source), where each step looked in the source.
    """

    read: Tensor
    written: Tensor
    probabilities: Tensor
    cross: Mapping[str, Tensor]


@torch.no_grad()
def decode_greedily(model: Transformer, source: Tensor, *, start: int, steps: int, end: int | None = None) -> Decoded:
    """Write up to `steps` tokens, each the likeliest after all that was written before.

    Args:
        model: an encoder-decoder in evaluation mode.
        source: token ids (1, seq) of the encoder.
        start: the id that the decoder reads first.
        steps: how many tokens are written at most, at least 1.
        end: the id after which nothing is written; None if there is none.

    Raises:
        ValueError: for another kind of model, or no step.
    """
    if model.config.architecture != "encoder-decoder" or steps < 1:
        raise ValueError(
            f"expected an encoder-decoder and at least 1 step, got {model.config.architecture!r} and {steps}"
        )
    target = torch.full((1, 1), start)
    rows, looks = [], list[dict[str, Tensor]]()
    for _ in range(steps):
        with recording("*.cross_attention.weights") as trace:
            logits = model(source, target)
        rows.append(logits[0, -1].softmax(-1))
        looks.append({site: weights[0, :, -1].clone() for site, weights in trace.items()})
        target = torch.cat([target, logits[:, -1:].argmax(-1)], 1)
        if int(target[0, -1]) == end:
            break
    return Decoded(
        read=target[0, :-1],
        written=target[0, 1:],
        probabilities=torch.stack(rows),
        cross={site: torch.stack([look[site] for look in looks], 1) for site in looks[0]},
    )


@dataclass(frozen=True)
class Exposure:
    """What a decoder says at each place of some examples; all int64 (example, place).

    Attributes:
        answers: the right tokens, `IGNORED` where nothing is asked.
        forced: the likeliest tokens after the right ones: teacher forcing.
        alone: the likeliest tokens after those that the decoder has written itself.
        misled: as `alone`, but at place `FIRST` the likeliest wrong token is put in, whatever the decoder would say.
    """

    answers: Tensor
    forced: Tensor
    alone: Tensor
    misled: Tensor

    @property
    def asked(self) -> Tensor:
        """Where something is asked, boolean."""
        return self.answers != IGNORED

    def right(self, said: Tensor) -> Tensor:
        """Which tokens are right, boolean; False where nothing is asked."""
        return said == self.answers

    def by_place(self, said: Tensor) -> list[float]:
        """The share of right tokens at each place, among the examples that have this place."""
        shares: list[float] = (self.right(said).sum(0) / self.asked.sum(0).clamp(min=1)).tolist()
        return shares

    @cached_property
    def first_mistakes(self) -> Tensor:
        """The place of the first mistake that each example has when the decoder writes alone, int64 (example).

        -1 where there is none. Up to it both have read the same, so it is the same under teacher forcing.
        """
        wrong = self.asked & ~self.right(self.alone)
        return torch.where(wrong.any(1), wrong.long().argmax(1), -1)

    @property
    def exact(self) -> float:
        """The share of examples all of whose tokens are right; it is the same for both ways of reading."""
        return float((self.first_mistakes < 0).float().mean())

    def wrong_after_first(self, said: Tensor) -> tuple[int, int]:
        """How many tokens are wrong at places after an example's first mistake, and how many such places there are."""
        places = torch.arange(self.answers.shape[1])
        first = self.first_mistakes[:, None]
        later = (first >= 0) & (places > first) & self.asked
        return int((later & ~self.right(said)).sum()), int(later.sum())

    def wrong_after_forced(self, said: Tensor) -> tuple[int, int]:
        """How many tokens are wrong at places after `FIRST`, and how many such places there are."""
        later = self.asked.clone()
        later[:, : FIRST + 1] = False
        return int((later & ~self.right(said)).sum()), int(later.sum())


@torch.no_grad()
def exposure(model: Transformer, examples: Examples, *, start: int) -> Exposure:
    """Let a decoder write with the right tokens before it, and with its own.

    Args:
        model: an encoder-decoder in evaluation mode.
        examples: with targets.
        start: the id that the decoder reads first.

    Raises:
        ValueError: for examples without a target.
    """
    if examples.target is None:
        raise ValueError("examples: expected some with a target, which a decoder reads; got none")
    logits = model(examples.source, examples.target)
    forced = logits.argmax(-1)
    wrong = logits[:, FIRST].scatter(1, examples.answers[:, FIRST : FIRST + 1], float("-inf")).argmax(-1)
    return Exposure(
        answers=examples.answers,
        forced=forced,
        alone=write(model, examples.source, start=start, steps=examples.answers.shape[1]),
        misled=write(model, examples.source, start=start, steps=examples.answers.shape[1], begin=wrong),
    )


@torch.no_grad()
def write(model: Transformer, source: Tensor, *, start: int, steps: int, begin: Tensor | None = None) -> Tensor:
    """The tokens that a decoder writes alone, int64 (batch, step), each the likeliest after those before it.

    Args:
        model: an encoder-decoder in evaluation mode.
        source: token ids (batch, seq), with padding where texts are shorter.
        start: the id that the decoder reads first.
        steps: how many tokens are written.
        begin: int64 (batch), the first tokens, whatever the decoder would write there.
    """
    memory, mask = model.encoder(source), model.encoder.padding(source)  # the source is read once
    target = torch.full((len(source), 1), start)
    if begin is not None:
        target = torch.cat([target, begin[:, None]], 1)
    while target.shape[1] <= steps:
        states = model.decoder(target, memory=memory, memory_mask=mask)
        target = torch.cat([target, model.logits(states[:, -1:]).argmax(-1)], 1)
    return target[:, 1:]
