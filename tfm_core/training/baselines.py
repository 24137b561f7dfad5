"""What a classifier is measured against: the most frequent label, and bags of words, which know no order.

All of them learn from the examples that the run trains on, and are measured on the same held-out ones.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor

from tfm_core.training.config import TrainingConfig
from tfm_core.training.examples import FINAL, batches, held_out, side
from tfm_core.training.tasks.bags import naive_bayes as naive_bayes
from tfm_core.training.tasks.bags import shares
from tfm_core.training.tasks.task import Examples, Task, joined

PENALTY = 1e-3  # of logistic regression: times half of the sum of squared weights
ROUNDS, FLAT = 200, 1e-5  # of L-BFGS: how many at most, and how small the gradient is at its end
REMEMBERED, SHORTEST = 20, 1e-6  # of L-BFGS: pairs, and the shortest step
MOST = 20_000  # examples that a baseline learns from


@dataclass(frozen=True)
class Baseline:
    """A way to answer that is no network.

    Attributes:
        name: of the way.
        accuracy: share of held-out examples whose label is right.
        loss: cross-entropy on them, nats.
        log_probabilities: float64 (example, label), of the held-out examples.
    """

    name: str
    accuracy: float
    loss: float
    log_probabilities: Tensor


def label_ids(task: Task) -> Tensor:
    """The answer that stands for each label: a class, or the id of a token."""
    return torch.arange(task.classes) if task.classes else task.ids(*task.labels)


def labels_of(task: Task, examples: Examples) -> Tensor:
    """The number of each example's label, from 0, int64 (batch)."""
    answers = examples.answers if task.classes else examples.answers[:, 0]
    return (answers[:, None] == label_ids(task)).long().argmax(1)


def bags(task: Task, source: Tensor) -> Tensor:
    """How often each token is in each sequence, float64 (batch, vocab); padding is not counted."""
    counts = torch.zeros(len(source), task.vocab_size, dtype=torch.float64)
    counts.scatter_add_(1, source, torch.ones(source.shape, dtype=torch.float64))
    counts[:, 0] = 0
    return counts


def logistic_regression(counts: Tensor, labels: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """Weights (label, vocab) and biases (label) that minimise `regression_loss`.

    Args:
        counts: as for `naive_bayes`.
        labels: int64 (example).
        classes: how many labels there are.
    """
    sparse, turned = counts.to_sparse(), counts.T.to_sparse()  # nearly all counts are 0
    right, vocab = F.one_hot(labels, classes).double(), counts.shape[1]

    def slope(flat: Tensor) -> tuple[float, Tensor]:
        """The loss, and its gradient."""
        weights, biases = flat[: classes * vocab].view(vocab, classes), flat[classes * vocab :]
        told = (torch.sparse.mm(sparse, weights) + biases).log_softmax(1)
        loss = -(told * right).sum() / len(labels) + PENALTY / 2 * weights.square().sum()
        error = (told.exp() - right) / len(labels)
        return float(loss), torch.cat([(torch.sparse.mm(turned, error) + PENALTY * weights).flatten(), error.sum(0)])

    best = lowest(slope, torch.zeros((vocab + 1) * classes, dtype=torch.float64))
    return best[: classes * vocab].view(vocab, classes).T, best[classes * vocab :]


def regression_loss(counts: Tensor, labels: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    """Cross-entropy, and a penalty on large weights."""
    return F.cross_entropy(F.linear(counts, weights, biases), labels) + PENALTY / 2 * weights.square().sum()


def lowest(slope: Callable[[Tensor], tuple[float, Tensor]], begin: Tensor) -> Tensor:
    """Where a smooth convex function is lowest: L-BFGS (Nocedal and Wright 2006, algorithm 7.4) with steps that halve.

    torch's own would load its compiler, which takes seconds.

    Args:
        slope: a point -> the value there, and the gradient.
        begin: a point.
    """
    at, (value, gradient) = begin, slope(begin)
    pairs: list[tuple[Tensor, Tensor]] = []  # steps, and what they changed of the gradient
    for _ in range(ROUNDS):
        if float(gradient.abs().max()) < FLAT:
            break
        way, step = -_turned(gradient, pairs), 1.0
        downhill = float(way @ gradient)
        there = slope(at + step * way)
        while there[0] > value + 1e-4 * step * downhill and step > SHORTEST:
            step /= 2
            there = slope(at + step * way)
        if float((there[1] - gradient) @ way) > 0:
            pairs = [*pairs[1 - REMEMBERED :], (step * way, there[1] - gradient)]
        at, (value, gradient) = at + step * way, there
    return at


def _turned(gradient: Tensor, pairs: list[tuple[Tensor, Tensor]]) -> Tensor:
    """The gradient times an estimate of the inverse Hessian: the two loops of L-BFGS."""
    shares: list[Tensor] = []
    for step, change in reversed(pairs):
        shares.append((step @ gradient) / (step @ change))
        gradient = gradient - shares[-1] * change
    if pairs:
        step, change = pairs[-1]
        gradient = gradient * (step @ change) / (change @ change)
    for (step, change), share in zip(pairs, reversed(shares), strict=True):
        gradient = gradient + step * (share - (change @ gradient) / (step @ change))
    return gradient


def trained_on(config: TrainingConfig) -> Examples:
    """The examples that a run of this configuration trains on, each once; of generated ones at most `MOST`."""
    if config.about.examples:
        return side(config, held_out=False)
    steps = min(config.steps, -(-MOST // config.batch_size))
    return joined(list(islice(batches(config), steps)))[:MOST]


def baselines(config: TrainingConfig) -> list[Baseline]:
    """The most frequent label, and two bags of words.

    Raises:
        ValueError: if the task has no labels.
    """
    task = config.about
    if not task.labels:
        raise ValueError(f"task: expected one with a label for the whole sequence, got {config.task!r}")
    train, test = trained_on(config), held_out(config, FINAL)
    labels, expected, count = labels_of(task, train), labels_of(task, test), len(task.labels)
    learned, unseen = bags(task, train.source), bags(task, test.source)
    nothing = torch.zeros(count, task.vocab_size, dtype=torch.float64)
    ways = {
        "most frequent label": (nothing, shares(labels, count).log()),
        "naive Bayes": naive_bayes(learned, labels, count),
        "logistic regression": logistic_regression(learned, labels, count),
    }
    return [_measured(name, F.linear(unseen, *way), expected) for name, way in ways.items()]


def _measured(name: str, logits: Tensor, expected: Tensor) -> Baseline:
    told = logits.log_softmax(1)
    accuracy = (told.argmax(1) == expected).double().mean()
    return Baseline(name, float(accuracy), float(F.nll_loss(told, expected)), told)
