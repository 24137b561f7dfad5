"""Cells of attention, boolean (batch, query, key), and random tokens: what several tasks are made of."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from tfm_core.training.tasks.task import Examples

DIGITS = tuple("0123456789")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")


def random_tokens(generator: torch.Generator, count: int, length: int, kinds: int) -> Tensor:
    """Ids from 1 to `kinds`, each as likely as any other, int64 (count, length)."""
    return torch.randint(1, 1 + kinds, (count, length), generator=generator)


def same_in_all(places: Mapping[int, tuple[int, ...]], length: int) -> Callable[[Examples], Tensor]:
    """Cells that do not depend on the tokens.

    Args:
        places: query -> keys.
        length: of the sequences.
    """
    cells = torch.zeros((length, length), dtype=torch.bool)
    for query, keys in places.items():
        cells[query, list(keys)] = True
    return lambda examples: cells.expand(len(examples), -1, -1)


def equal_to_answer(examples: Examples) -> Tensor:
    """Every source token that is the answer."""
    return examples.answers[:, :, None] == examples.source[:, None, :]


def mirrored(examples: Examples) -> Tensor:
    """The anti-diagonal: the first answer with the last source token, the second with the last but one, and so on."""
    batch, length = examples.source.shape
    return torch.eye(length, dtype=torch.bool).flip(1).expand(batch, -1, -1)
