"""What counting alone guesses of a hidden word: the most frequent token, or what its neighbours make likely.

The neighbours are read as they stand in the text, also where the model reads [MASK] in their place.
"""

import torch
from torch import Tensor

from tfm_core.language.wordpiece import SPECIAL

ITERATIONS = 6  # of the search for singular vectors
PRIOR = 4.0  # how many tokens of plain frequency are added to the counts of each neighbour


class Guesses:
    """Counts of a text, and what they guess.

    Args:
        tokens: int64 (token).
        vocab_size: of the ids.
    """

    def __init__(self, tokens: Tensor, vocab_size: int) -> None:
        keys, counts = torch.unique(tokens[:-1] * vocab_size + tokens[1:], return_counts=True)
        self.pairs = torch.zeros(vocab_size * vocab_size)
        self.pairs[keys] = counts.float()
        self.pairs = self.pairs.view(vocab_size, vocab_size)
        self.shares = torch.bincount(tokens, minlength=vocab_size).float() / len(tokens)
        self.counts = self.shares * len(tokens)

    def most_frequent(self) -> int:
        """The token that occurs most often."""
        return int(self.shares.argmax())

    def of_left(self, left: Tensor) -> Tensor:
        """The likeliest token after each of these, int64 (word)."""
        return self._after(left).argmax(-1)

    def of_both(self, left: Tensor, right: Tensor) -> Tensor:
        """The likeliest token between these neighbours, int64 (word): p(token | left) p(right | token).

        A special token tells nothing.
        """
        smoothed = self.pairs[:, right].T + PRIOR * self.shares[right, None]
        before = (smoothed / (self.counts + PRIOR)).clamp(min=1e-12).log()
        before = torch.where((right < len(SPECIAL))[:, None], 0.0, before)
        return (self._after(left).clamp(min=1e-12).log() + before).argmax(-1)

    def _after(self, left: Tensor) -> Tensor:
        """The probability of each token after these, (word, vocab)."""
        return (self.pairs[left] + PRIOR * self.shares) / (self.counts[left, None] + PRIOR)


def word_vectors(tokens: Tensor, vocab_size: int, width: int, random: torch.Generator) -> Tensor:
    """A vector of length 1 for each token, so that tokens with the same neighbours have vectors alike.

    The largest singular vectors of the positive pointwise mutual information of each token with those before and after
    it, times the roots of their singular values: Levy, Goldberg and Dagan 2015, section 3.

    Args:
        tokens: int64 (token).
        vocab_size: of the ids.
        width: of the vectors.
        random: of the first directions, from which subspace iteration finds the largest.
    """
    pairs = Guesses(tokens, vocab_size).pairs
    expected = pairs.sum(1, keepdim=True) * pairs.sum(0) / pairs.sum()
    after = (pairs / expected.clamp(min=1e-9)).clamp(min=1).log()
    table = torch.cat([after, after.T], 1)  # (token, those after it and those before it)
    directions = torch.linalg.qr(torch.randn((2 * vocab_size, width), generator=random)).Q
    for _ in range(ITERATIONS):
        directions = torch.linalg.qr(table.T @ (table @ directions)).Q
    projected = table @ directions
    sizes = projected.norm(dim=0)
    projected = projected / sizes.clamp(min=1e-9).sqrt()
    vectors: Tensor = projected / projected.norm(dim=1, keepdim=True).clamp(min=1e-9)
    return vectors
