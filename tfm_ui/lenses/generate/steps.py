"""How the token of each step was chosen, in a few numbers: what is drawn and told of a text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Draw, Sampling, Step, draw
from tfm_core.generation.sampling import bar, random_number
from tfm_ui.lenses.generate.courses import Settings, course_of, text_of
from tfm_ui.live.cache import grown
from tfm_ui.state.model_state import ModelState

ROWS = 12  # candidates of a step; the token itself is the last of them if it is less likely
OF_STEP = 9  # numbers of a step before its candidates, see `Steps`
OF_ROW = 5


@dataclass(frozen=True, eq=False)
class Steps:
    """How the token of each step was chosen; where one was put, how it would have been."""

    numbers: NDArray[np.float64]
    """A row per step: the random number, where the token begins and ends on the cumulative bar, its rank from 0; how
    many tokens top-k, top-p and min-p left; its probability before and after the cuts; then of each candidate its id,
    logit, probability, final probability, and which filter cut it (0: none). Candidates that there are not have the id
    -1."""

    totals: NDArray[np.float64]
    """The sum of the final probabilities of all tokens at each step."""

    @property
    def ranks(self) -> NDArray[np.float64]:
        """The rank of each token among all, from 0."""
        return self.numbers[:, 3]

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probability of each token before the cuts."""
        return self.numbers[:, 7]

    @property
    def finals(self) -> NDArray[np.float64]:
        """The probability of each token after the cuts."""
        return self.numbers[:, 8]

    def candidates(self, step: int) -> NDArray[np.float64]:
        """A row per candidate of a step: id, logit, probability, final probability, and which filter cut it."""
        rows = self.numbers[step, OF_STEP:].reshape(ROWS, OF_ROW)
        return rows[rows[:, 0] >= 0]

    def until(self, count: int) -> "Steps":
        """The first steps alone."""
        return Steps(self.numbers[:count], self.totals[:count])


NONE = Steps(np.zeros((0, OF_STEP + ROWS * OF_ROW)), np.zeros(0))


def draw_of(step: Step, sampling: Sampling) -> Draw:
    """How the token of a step was chosen, or would have been if none had been put there."""
    return draw(step.logits, sampling, step.number)


def steps_of(model: ModelState, settings: Settings) -> Steps:
    """How the token of each step was chosen: of a text that has been written on, of its new steps alone."""
    steps = course_of(model, settings).steps

    def look_on(known: Steps | None) -> Steps:
        known = known or NONE
        new = numbers_of(steps[len(known.totals) :], settings.sampling)
        return Steps(np.concatenate([known.numbers, new.numbers]), np.concatenate([known.totals, new.totals]))

    every = grown(
        ("steps", *text_of(model, settings)), look_on, is_enough=lambda known: len(known.totals) >= len(steps)
    )
    return every.until(len(steps))


def numbers_of(steps: Sequence[Step], sampling: Sampling) -> Steps:
    """What `Steps` holds of these steps: the numbers of `draw`, but of the candidates alone, and of all steps at once.

    A draw of each step by itself sorts the whole vocabulary, and takes three times as long.
    """
    if not steps:
        return NONE
    logits = torch.stack([step.logits for step in steps])  # (step, vocab)
    tokens = torch.tensor([step.token for step in steps])
    vocab, temperature = logits.shape[1], sampling.temperature
    needs_all = not sampling.greedy and not sampling.top_k
    values, order = _likeliest(logits, vocab if needs_all else max(ROWS, sampling.top_k))
    probabilities = (logits.double() / temperature).softmax(1)
    scaled = values.double() / temperature
    ranks = _ranks(logits, tokens)
    places = torch.arange(min(ROWS, vocab)).repeat(len(steps), 1)  # (step, candidate), in the order
    places[:, -1] = places[:, -1].maximum(ranks)  # the token itself, if it is less likely
    ids = order.gather(1, places.clamp(max=order.shape[1] - 1))
    ids[:, -1] = torch.where(ranks >= places.shape[1], tokens, ids[:, -1])
    numbers, totals = np.zeros((len(steps), OF_STEP + ROWS * OF_ROW)), np.zeros(len(steps))
    about, candidates = numbers[:, :OF_STEP], numbers[:, OF_STEP:].reshape(len(steps), ROWS, OF_ROW)
    about[:, 3], about[:, 7] = ranks, probabilities.gather(1, tokens[:, None])[:, 0]
    candidates[:, :, 0] = -1
    there = candidates[:, : places.shape[1]]
    there[:, :, 0], there[:, :, 1], there[:, :, 2] = ids, logits.gather(1, ids), probabilities.gather(1, ids)
    for number, step in enumerate(steps):
        left, shares, ends = _bar(scaled[number], sampling, vocab)
        kept, at = len(shares), places[number].numpy()
        rank = min(int(ranks[number]), kept)  # what is cut stands at the end of the bar, and takes nothing of it
        begins, finals = np.append(0.0, ends), np.append(shares, 0.0)
        is_cut = at >= np.array(left)[:, None]  # (filter, candidate)
        about[number, 0] = 0.0 if sampling.greedy else random_number(sampling.seed, step.number)
        about[number, 1:3] = begins[rank], begins[min(rank + 1, kept)]
        about[number, 4:7], about[number, 8] = left, finals[rank]
        there[number, :, 3] = finals[np.minimum(at, kept)]
        there[number, :, 4] = np.where(is_cut.any(0), is_cut.argmax(0) + 1, 0)
        totals[number] = shares.sum()
    return Steps(numbers, totals)


def _bar(scaled: Tensor, sampling: Sampling, vocab: int) -> tuple[Sequence[int], NDArray[Any], NDArray[Any]]:
    """How many tokens each filter leaves, the shares of what is left, and where each share ends; see `bar`."""
    if sampling.greedy:
        return (vocab,) * 3, np.ones(1), np.ones(1)
    left, shares, ends = bar(scaled, sampling)
    return (left.top_k, left.top_p, left.min_p), shares.numpy(), ends.numpy()


def _likeliest(logits: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The first tokens of each step's order: (step, count) falling logits and their ids, ties by id.

    One more than `count`, so that it can be told whether the last is as likely as the next; all, where any are alike.
    """
    if count + 1 < logits.shape[1]:
        values, order = logits.topk(count + 1)
        if bool((values[:, 1:] < values[:, :-1]).all()):
            return values, order
    values, order = logits.sort(descending=True, stable=True)
    return values, order


def _ranks(logits: Tensor, tokens: Tensor) -> Tensor:
    """The place of each step's token in the order, int64 (step): how many are likelier, or alike with a lower id."""
    of_token = logits.gather(1, tokens[:, None])
    before = torch.arange(logits.shape[1]) < tokens[:, None]
    return ((logits > of_token) | ((logits == of_token) & before)).sum(1)
