"""Scripts of the view "surprise"."""

from collections.abc import Sequence

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, surprise


def rated(
    *, sides: Sequence[tuple[TransformerConfig, Sequence[int]]], context: int
) -> tuple[list[Tensor], list[float]]:
    """The surprise of each token but the first in bits, (token), and the perplexity, for each side."""
    scores = [surprise(Transformer(config).eval(), ids, context=context) for config, ids in sides]
    bits = [score.bits for score in scores]
    perplexities = [score.perplexity for score in scores]
    return bits, perplexities


def remembered(
    *, config: TransformerConfig, ids: Sequence[int], context: int, memory: int
) -> tuple[list[Tensor], list[float]]:
    """The same of one text: given all before a token, and given the last few tokens alone."""
    model = Transformer(config).eval()
    whole = surprise(model, ids, context=context)
    short = []
    with torch.no_grad():
        for place in range(1, len(ids)):
            logits = model(torch.tensor([ids[max(0, place - memory) : place]]))[0, -1]
            short.append(-logits.double().log_softmax(-1)[ids[place]])
    few = torch.stack(short)
    bits = [whole.bits, few / torch.log(torch.tensor(2.0, dtype=torch.float64))]
    perplexities = [whole.perplexity, float(few.mean().exp())]
    return bits, perplexities
