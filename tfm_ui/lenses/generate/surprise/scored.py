"""The probability of each token of a text: given all before it that the context holds, or the last few alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.generation.costs import pass_flops
from tfm_core.generation.surprise import windows
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer

TOP = 5  # tokens that are listed in a token's place
MOST = 1024  # tokens of a text that are scored, as each is an element of the page
FEWEST = 16
BUDGET = 4e10  # operations that a text may take, a second or two


@dataclass(frozen=True, eq=False)
class Scored:
    """What a model makes of the tokens of a text but the first that it reads; `scored` is the axis of these."""

    logs: Tensor
    """float64 (scored), the natural logarithm of each token's probability."""

    ranks: Tensor
    """int64 (scored), 1 for the likeliest: how many tokens were likelier, and one more."""

    entropies: Tensor
    """float64 (scored), in nats, of the distribution that each token came from."""

    top_ids: Tensor
    """int64 (scored, top), `TOP` of the likeliest tokens in each place."""

    top_shares: Tensor
    """float64 (scored, top), their probabilities."""

    errors: Tensor
    """float64 (scored), how far the sum of a place's probabilities is from 1."""

    @cached_property
    def bits(self) -> Tensor:
        """float64 (scored), how surprising each token is: the binary logarithm of 1 / its probability."""
        return -self.logs / torch.log(torch.tensor(2.0, dtype=torch.float64))

    @property
    def count(self) -> int:
        """How many tokens are scored."""
        return len(self.logs)

    @property
    def perplexity(self) -> float:
        """The number of equally likely tokens among which the model chose, on average; NaN if no token is scored."""
        return float((-self.logs.mean()).exp())

    @cached_property
    def running(self) -> Tensor:
        """float64 (scored), the perplexity of the text up to each token."""
        return (-self.logs.cumsum(0) / torch.arange(1, self.count + 1)).exp()


def passes_over(model: Transformer, tokens: Tensor, context: int, memory: int) -> Iterator[tuple[int, Tensor]]:
    """The first token that a pass scores, and the logits (scored, vocab) of it and those after it.

    Passes read windows that overlap by half; or, of a short memory, the last few tokens alone, each as a text of its
    own, about 4,096 tokens at a time.
    """
    if not memory:
        for begin, first, end in windows(len(tokens), context):
            yield first, model(tokens[None, begin:end])[0, first - begin - 1 : -1]
        return
    yield 1, model(tokens[None, : memory + 1])[0, :-1]
    if len(tokens) > memory + 1:
        # (text, memory): the tokens before token 1 + memory, before the one after it, and so on
        texts = tokens[1:-1].unfold(0, memory, 1)
        count = max(1, 4096 // memory)
        for begin in range(0, len(texts), count):
            yield begin + memory + 1, model(texts[begin : begin + count])[:, -1]


@torch.no_grad()
def score(model: Transformer, ids: Sequence[int], *, context: int, memory: int, top: int) -> list[Tensor]:
    """The fields of `Scored`, of each of at least two tokens but the first after those before it."""
    tokens, parts = torch.tensor(ids), []
    for first, logits in passes_over(model, tokens, context, memory):
        logs = logits.double().log_softmax(-1)
        shares = logs.exp()
        came = logs.gather(-1, tokens[first : first + len(logits), None])  # (scored, 1)
        ranks = (logs > came).sum(-1) + 1
        entropies = torch.special.entr(shares).sum(-1)
        likeliest = logs.topk(min(top, logs.shape[-1]), -1)
        errors = (shares.sum(-1) - 1).abs()
        parts.append((came[:, 0], ranks, entropies, likeliest.indices, likeliest.values.exp(), errors))
    return [torch.cat(part) for part in zip(*parts, strict=True)]


@cached()
def scored(config: TransformerConfig, ids: tuple[int, ...], context: int, memory: int = 0) -> Scored:
    """Each token after those before it.

    Args:
        config: of a decoder.
        ids: what is read; the first is not scored.
        context: the longest text of a pass.
        memory: how many tokens before it are read of each token; 0 for as many as the context holds.
    """
    if len(ids) > 1:
        return Scored(*score(transformer(config), ids, context=context, memory=memory, top=TOP))
    nothing = torch.zeros(0, dtype=torch.float64)
    return Scored(nothing, nothing.long(), nothing, nothing.long().view(0, TOP), nothing.view(0, TOP), nothing)


def most_scored(config: TransformerConfig, context: int, memory: int = 0) -> int:
    """How many tokens of a text are scored at most: a longer one would take too long, or have too many elements."""
    each = pass_flops(config, memory) if memory else 2 * pass_flops(config, context) / context
    return int(max(FEWEST, min(MOST, BUDGET / each)))
