"""How surprising a text is to a decoder: the probability of each token after those before it.

Perplexity is the exponential of the mean surprise, Jelinek et al. 1977; bits per byte are comparable between models
with other tokens, Gao et al. 2020 (the Pile), section 3.1. A text longer than the context is scored in windows that
overlap by half: of all but the first, the first half is context alone, so that no token but the earliest is judged by
less than half a context. Each token is scored once.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.transformer import Transformer
from tfm_core.positional.schemes import POSITIONAL


@dataclass(frozen=True, eq=False)
class Surprise:
    """What a decoder makes of each token of a text but the first; `scored` is the axis of these.

    Attributes:
        tokens: int64 (scored), the tokens that came.
        log_probabilities: float64 (scored), the natural logarithm of each one's probability.
        ranks: int64 (scored), 1 for the likeliest: how many tokens were likelier, and one more.
        entropies: float64 (scored), in nats, of the distribution that each token came from.
        likeliest: int64 (scored), the token that was expected, the lowest id of several.

    Examples:
        >>> import math
        >>> from tfm_core import Transformer, TransformerConfig, surprise
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> scored = surprise(Transformer(config).eval(), [5, 6, 7, 8])
        >>> scored.bits.shape
        torch.Size([3])
        >>> math.isclose(scored.perplexity, 2**scored.bits_per_token)
        True
    """

    tokens: Tensor
    log_probabilities: Tensor
    ranks: Tensor
    entropies: Tensor
    likeliest: Tensor

    @property
    def perplexity(self) -> float:
        """The number of equally likely tokens among which the model chose, on average."""
        return math.exp(-float(self.log_probabilities.mean()))

    @property
    def bits(self) -> Tensor:
        """float64 (scored), how many bits each token would take if the model encoded the text."""
        return -self.log_probabilities / math.log(2)

    @property
    def bits_per_token(self) -> float:
        """The mean of `bits`: the binary logarithm of the perplexity."""
        return float(self.bits.mean())

    def bits_per_byte(self, count: int) -> float:
        """All bits over the number of bytes that the scored tokens stand for.

        Raises:
            ValueError: for fewer than 1 byte.
        """
        if count < 1:
            raise ValueError(f"bits_per_byte: expected at least 1 byte, got {count}")
        return float(self.bits.sum()) / count


@torch.no_grad()
def surprise(model: Transformer, token_ids: Sequence[int], *, context: int | None = None) -> Surprise:
    """Score each token of a text but the first, given those before it.

    Args:
        model: a decoder in evaluation mode.
        token_ids: at least two; padding among them is hidden from the others.
        context: the longest text of a pass, at least 2; by default all of it, or max_len where positions end there.

    Raises:
        ValueError: naming what was expected and what came.

    Examples:
        >>> from tfm_core import Transformer, TransformerConfig, surprise
        >>> config = TransformerConfig(vocab_size=50, architecture="decoder", d_model=8, num_heads=2)
        >>> scored = surprise(Transformer(config).eval(), [5, 6, 7, 8])
        >>> scored.tokens.tolist(), bool((scored.log_probabilities < 0).all())
        ([6, 7, 8], True)
    """
    config = model.config
    if config.architecture != "decoder":
        raise ValueError(f"surprise: expected a decoder, got {config.architecture!r}")
    if context is None and POSITIONAL[config.positional].ends_at_max_len():
        context = min(config.max_len, len(token_ids))
    if len(token_ids) < 2 or (context is not None and context < 2):
        raise ValueError(
            f"surprise: expected at least 2 tokens and a context of at least 2; got {len(token_ids)} and {context}"
        )
    tokens = torch.tensor([token_ids], device=model.unembedding.weight.device)
    parts = []
    for begin, scored, end in windows(len(token_ids), context or len(token_ids)):
        logits = model(tokens[:, begin:end])[0]  # (seq, vocab)
        parts.append(_score(logits[scored - begin - 1 : -1], tokens[0, scored:end]))
    return Surprise(*map(torch.cat, zip(*parts, strict=True)))


def windows(length: int, context: int) -> Iterator[tuple[int, int, int]]:
    """Passes over a long text: where each begins, the first token that it scores, and where it ends.

    The first scores all of its tokens but the first; of each other, the first half is context alone.
    """
    scored, end = 1, min(context, length)
    yield 0, scored, end
    while end < length:
        scored, end = end, min(end + context - context // 2, length)
        yield max(0, scored - context // 2), scored, end


def _score(logits: Tensor, tokens: Tensor) -> tuple[Tensor, ...]:
    """The fields of `Surprise` for the tokens that came, under the distributions of logits (scored, vocab)."""
    logs = logits.double().log_softmax(-1)
    came = logs.gather(-1, tokens[:, None])  # (scored, 1)
    ranks = (logs > came).sum(-1) + 1
    entropies = -(logs.exp() * logs).nan_to_num(nan=0.0).sum(-1)  # 0 log 0 is 0
    return tokens, came[:, 0], ranks, entropies, logs.argmax(-1)
