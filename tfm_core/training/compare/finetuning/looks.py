"""What the heads of a network look at, over many sentences, and how far that has moved. Pure functions of torch."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tfm_core.model.recording import recording

Heads = tuple[tuple[float, ...], ...]  # (layer, head)
SITE = "*.self_attention.weights"


@dataclass(frozen=True)
class Looks:
    """Where heads look: mean weights over all tokens of all sentences, (layer, head).

    Attributes:
        first: on the first token, [CLS] of BERT.
        last: on the last token, [SEP] of BERT.
        previous: on the token before; the first token has none, and is left out.
    """

    first: Heads
    last: Heads
    previous: Heads


@torch.no_grad()
def weights_of(model: nn.Module, source: Tensor) -> Tensor:
    """The weights of all heads on these sentences, (layer, sentence, head, query, key)."""
    with recording(SITE) as trace:
        model(source)
    return torch.stack(sorted_by_layer(trace))


def sorted_by_layer(trace: Mapping[str, Tensor]) -> list[Tensor]:
    """What was recorded, the first layer first."""
    numbers = {site: int(number.group()) for site in trace if (number := re.search(r"\d+", site))}
    return [trace[site] for site in sorted(numbers, key=numbers.__getitem__)]


def looks_of(weights: Tensor, read: Tensor) -> Looks:
    """Where heads look.

    Args:
        weights: (layer, sentence, head, query, key).
        read: boolean (sentence, seq), which places are tokens and no padding.
    """
    last = (read.sum(1) - 1)[None, :, None, None, None].expand(*weights.shape[:-1], 1)
    previous = weights.diagonal(-1, -2, -1)  # (layer, sentence, head, query - 1)
    return Looks(
        first=_mean(weights[..., 0], read),
        last=_mean(weights.gather(-1, last)[..., 0], read),
        previous=_mean(previous, read[:, 1:]),
    )


def moved(before: Tensor, after: Tensor, read: Tensor) -> Heads:
    """How much of its weight each head has put elsewhere: the mean total variation distance of its rows.

    0 where nothing has changed, 1 where a head looks at other tokens altogether.
    """
    return _mean((before - after).abs().sum(-1) / 2, read)


def _mean(rows: Tensor, read: Tensor) -> Heads:
    """The mean over the rows of tokens: (layer, sentence, head, query) -> (layer, head)."""
    kept = torch.where(read[None, :, None], rows, 0).sum((1, 3)) / read.sum()
    return tuple(tuple(layer) for layer in kept.tolist())
