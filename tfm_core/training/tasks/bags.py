"""Naive Bayes over bags of tokens, which know no order. Pure functions of torch."""

import torch
import torch.nn.functional as F
from torch import Tensor

SMOOTHING = 1.0  # added to each count of a word: Laplace's rule


def shares(labels: Tensor, classes: int) -> Tensor:
    """The share of each label, float64 (label)."""
    return torch.bincount(labels, minlength=classes).double() / len(labels)


def naive_bayes(counts: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Multinomial naive Bayes: weights (label, vocab) and biases (label) of the logarithm of each label's likelihood.

    Args:
        counts: float64 (example, vocab), how often each token is there.
        labels: int64 (example).
        classes: how many labels there are.
    """
    of_label = F.one_hot(labels, classes).double().T @ counts + SMOOTHING
    return (of_label / of_label.sum(1, keepdim=True)).log(), shares(labels, classes).log()
