"""Decoding with an encoder-decoder: each token is the likeliest next one, and is read by the step after it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tfm_core.model.recording import recording
from tfm_core.model.transformer import Transformer


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
def decode_greedily(model: Transformer, source: Tensor, *, start: int, steps: int) -> Decoded:
    """Write `steps` tokens, each the likeliest after all that was written before.

    Args:
        model: an encoder-decoder in evaluation mode.
        source: token ids (1, seq) of the encoder.
        start: the id that the decoder reads first.
        steps: how many tokens are written, at least 1.

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
    return Decoded(
        read=target[0, :-1],
        written=target[0, 1:],
        probabilities=torch.stack(rows),
        cross={site: torch.stack([look[site] for look in looks], 1) for site in looks[0]},
    )
