"""The probability of each token of a text: given all before it that the context holds, or the last few alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig
from tfm_core.generation.costs import pass_flops
from tfm_core.generation.surprise import Surprise, windows
from tfm_ui.live.cache import cached
from tfm_ui.live.passes import transformer

TOP = 5  # tokens that are listed in a token's place
MOST = 1024  # tokens of a text that are scored, as each is an element of the page
FEWEST = 16
BUDGET = 4e10  # operations that a text may take, a second or two


@dataclass(frozen=True, eq=False)
class Scored(Surprise):
    """What a model makes of the tokens of a text but the first that it reads; `scored` is the axis of these."""

    top_ids: Tensor
    """int64 (scored, top), `TOP` of the likeliest tokens in each place."""

    top_shares: Tensor
    """float64 (scored, top), their probabilities."""

    errors: Tensor
    """float64 (scored), how far the sum of a place's probabilities is from 1."""

    @property
    def count(self) -> int:
        """How many tokens are scored."""
        return len(self.tokens)

    @cached_property
    def running(self) -> Tensor:
        """float64 (scored), the perplexity of the text up to each token."""
        return (-self.log_probabilities.cumsum(0) / torch.arange(1, self.count + 1)).exp()


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
        came = tokens[first : first + len(logits)]
        of_token = logs.gather(-1, came[:, None])  # (scored, 1)
        ranks = (logs > of_token).sum(-1) + 1
        entropies = torch.special.entr(shares).sum(-1)
        best = logs.topk(min(top, logs.shape[-1]), -1)
        errors = (shares.sum(-1) - 1).abs()
        fields = came, of_token[:, 0], ranks, entropies, logs.argmax(-1), best.indices, best.values.exp(), errors
        parts.append(fields)
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
    none, whole = torch.zeros(0, dtype=torch.float64), torch.zeros(0, dtype=torch.int64)
    return Scored(whole, none, whole, none, whole, whole.view(0, TOP), none.view(0, TOP), none)


def most_scored(config: TransformerConfig, context: int, memory: int = 0) -> int:
    """How many tokens of a text are scored at most: a longer one would take too long, or have too many elements."""
    each = pass_flops(config, memory) if memory else 2 * pass_flops(config, context) / context
    return int(max(FEWEST, min(MOST, BUDGET / each)))
