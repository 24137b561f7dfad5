"""What a language model should beat: counting. A 5-gram model with interpolated Kneser-Ney smoothing, and xz.

Chen and Goodman 1999, section 3.1 and equation for interpolated modified Kneser-Ney: the probability of a token after
four others comes from how often it followed them, less a discount; the discounts go to the estimate from three, and so
on. In the shorter ones it counts after how many different tokens a token comes, not how often.
"""

import lzma
import math
from collections.abc import Sequence

import torch
from torch import Tensor

ORDER = 5
DISCOUNTS = 3  # of counts of 1, of 2, and of 3 or more
PLAIN = 0.75


class NGrams:
    """A model of a few tokens in a row.

    Args:
        tokens: int64 (token), the training text; ids from 0.
        vocab_size: at most 4,096, so that five ids fit into one number of 64 bits.

    Raises:
        ValueError: for a larger vocabulary.
    """

    def __init__(self, tokens: Tensor, vocab_size: int, order: int = ORDER) -> None:
        if vocab_size > 2 ** (63 // order):
            raise ValueError(f"vocab_size: expected at most {2 ** (63 // order)}, got {vocab_size}")
        self.vocab_size, self.order = vocab_size, order
        self.levels = list[_Level]()
        keys, counts = torch.unique(self._keys(tokens, order), return_counts=True)
        for length in range(order, 0, -1):
            self.levels.insert(0, _Level(keys, counts, vocab_size))
            # After how many different tokens: of each sequence once, without its first token.
            shorter = keys % vocab_size ** (length - 1)
            keys, counts = torch.unique(shorter, return_counts=True)

    def log_probabilities(self, tokens: Tensor) -> Tensor:
        """The natural logarithm of the probability of each token but the first `order - 1`, float64 (token)."""
        count = len(tokens) - self.order + 1
        probability = torch.full((count,), 1 / self.vocab_size, dtype=torch.float64)
        for length, level in enumerate(self.levels, 1):
            keys = self._keys(tokens[self.order - length :], length)
            probability = level.discounted(keys) + level.left_over(keys) * probability
        return probability.log()

    def bits_per_byte(self, tokens: Tensor, count: int) -> float:
        """The loss on a text of so many bytes; the first tokens count as much as the others do on average."""
        bits = -self.log_probabilities(tokens).mean().item() / math.log(2)
        return bits * len(tokens) / count

    def _keys(self, tokens: Tensor, length: int) -> Tensor:
        """Each sequence of `length` tokens as one number, int64."""
        keys = torch.zeros(len(tokens) - length + 1, dtype=torch.int64)
        for place in range(length):
            keys = keys * self.vocab_size + tokens[place : len(tokens) - length + 1 + place]
        return keys


class _Level:
    """Sequences of one length, with their counts, and the same of the contexts that they begin with."""

    def __init__(self, keys: Tensor, counts: Tensor, vocab_size: int) -> None:
        self.keys, self.counts, self.vocab_size = keys, counts.double(), vocab_size
        self.discounts = torch.tensor([0.0, *_discounts(counts)], dtype=torch.float64)
        contexts, place = torch.unique(keys // vocab_size, return_inverse=True)
        self.contexts = contexts
        self.totals = torch.zeros(len(contexts), dtype=torch.float64).index_add_(0, place, self.counts)
        kinds = self.discounts[counts.clamp(max=DISCOUNTS)]
        self.taken = torch.zeros(len(contexts), dtype=torch.float64).index_add_(0, place, kinds)

    def discounted(self, keys: Tensor) -> Tensor:
        """The share of each sequence among those with its context, less its discount; 0 where it never came."""
        at, known = _find(self.keys, keys)
        counts = torch.where(known, self.counts[at], 0.0)
        counts = counts - self.discounts[counts.long().clamp(max=DISCOUNTS)]
        place, has_context = _find(self.contexts, keys // self.vocab_size)
        return torch.where(has_context, counts / self.totals[place], 0.0)

    def left_over(self, keys: Tensor) -> Tensor:
        """What the discounts of each context leave for shorter ones; all where the context never came."""
        place, has_context = _find(self.contexts, keys // self.vocab_size)
        return torch.where(has_context, self.taken[place] / self.totals[place], 1.0)


def _discounts(counts: Tensor) -> Sequence[float]:
    """What is taken off counts of 1, of 2, and of 3 or more: Chen and Goodman 1999, equation 26.

    In a small text a count of 1, 2 or 3 may never occur, or a discount may be no number between 0 and its count: then
    0.75 is taken off all of them, as in absolute discounting.
    """
    of = [int((counts == number).sum()) for number in range(DISCOUNTS + 2)]
    if not all(of[1 : DISCOUNTS + 1]):
        return [PLAIN] * DISCOUNTS
    share = of[1] / (of[1] + 2 * of[2])
    each = [number - (number + 1) * share * of[number + 1] / of[number] for number in range(1, DISCOUNTS + 1)]
    return each if all(0 < taken < number for number, taken in enumerate(each, 1)) else [PLAIN] * DISCOUNTS


def _find(sorted_keys: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Where each key stands among sorted ones, and whether it is there at all."""
    at = torch.searchsorted(sorted_keys, keys).clamp(max=len(sorted_keys) - 1)
    return at, sorted_keys[at] == keys


def xz_bits_per_byte(training: bytes, held_out: bytes) -> float:
    """What the compressor xz needs for the held-out text after the training text, as it learns from both."""

    def size(content: bytes) -> int:
        return len(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))

    return 8 * (size(training + held_out) - size(training)) / len(held_out)
