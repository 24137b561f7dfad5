"""The textbook's classifier: 5,000 sequences of 30 tokens and 3 classes, with labels that mean something, and without.

Its layers are those of Vaswani et al. 2017: post-norm, sinusoidal positions, dropout 0.1, ReLU; Adam at a
constant rate. Without dropout the network begins to learn the random labels by heart within the five epochs, and the
held-out loss rises from ln 3 = 1.10 to 1.26.
"""

from functools import cache

import torch
from torch import Tensor

from tfm_core.model.initialization import generator
from tfm_core.training.tasks.task import Examples, Task, draw

GROUPS = "abc"
TOKENS = 499  # with padding there are 500 token ids
LENGTH = 30
TRAIN, HELD_OUT = 4_000, 1_000
EPOCH = -(-TRAIN // 64)  # batches
DEFAULTS = {
    "d_model": 64,
    "num_heads": 4,
    "num_layers": 3,
    "positional": "sinusoidal",
    "norm": "post",
    "learning_rate": 1e-3,
    "dropout": 0.1,
    "weight_decay": 0.0,  # AdamW is then Adam
    # Plain Adam, as a textbook has it: PyTorch's own betas, a constant rate, and gradients as they are.
    "activation": "relu",
    "beta2": 0.999,
    "schedule": "constant",
    "warmup": 0,
    "clip": 0.0,
    "steps": 5 * EPOCH,
}


def counts(source: Tensor) -> Tensor:
    """How many tokens of each group a sequence has, int64 (batch, group)."""
    group = (source - 1) % len(GROUPS)
    return torch.stack([(group == number).sum(1) for number in range(len(GROUPS))], 1)


def _most_frequent_group(generator: torch.Generator, count: int, length: int) -> Examples:
    """Sequences in which one group is ahead of both others: the label is that group."""
    source = torch.randint(1, 1 + TOKENS, (count, length), generator=generator)
    of_group = counts(source)
    most = of_group.topk(2, 1).values
    is_clear = (most[:, 0] > most[:, 1]).nonzero()[:, 0]
    return Examples(source[is_clear], of_group[is_clear].argmax(1))


@cache
def _with_meaning() -> Examples:
    numbers = generator(0, "textbook")
    train = draw(TEXTBOOK, numbers, TRAIN, held_out=False)
    held_out = draw(TEXTBOOK, numbers, HELD_OUT, held_out=True)
    return Examples(torch.cat([train.source, held_out.source]), torch.cat([train.answers, held_out.answers]))


@cache
def _without_meaning() -> Examples:
    """The same sequences; each label is drawn without a look at its sequence."""
    source = _with_meaning().source
    return Examples(source, torch.randint(0, len(GROUPS), (len(source),), generator=generator(0, "random labels")))


def _random_labels(numbers: torch.Generator, count: int, length: int) -> Examples:
    examples = _most_frequent_group(numbers, count, length)
    labels = torch.randint(0, len(GROUPS), (len(examples),), generator=numbers)
    return Examples(examples.source, labels)


VOCABULARY = tuple(f"{GROUPS[number % len(GROUPS)]}{number // len(GROUPS) + 1}" for number in range(TOKENS))
TEXTBOOK = Task(
    title="Textbook: three classes",
    about="Of 30 tokens, such as a12 or c7, say which letter is the most frequent: a, b or c.",
    vocabulary=VOCABULARY,
    architecture="encoder",
    length=LENGTH,
    sample=_most_frequent_group,
    labels=tuple(GROUPS),
    classes=len(GROUPS),
    examples=_with_meaning,
    stretches=False,
    defaults=DEFAULTS,
    accuracy="sequences",
)
RANDOM_LABELS = Task(
    title="Textbook: random labels",
    about="The same sequences, but each label is drawn at random: there is nothing to learn.",
    vocabulary=VOCABULARY,
    architecture="encoder",
    length=LENGTH,
    sample=_random_labels,
    labels=tuple(GROUPS),
    classes=len(GROUPS),
    examples=_without_meaning,
    stretches=False,
    defaults=DEFAULTS,
    note="Whatever the model does, about a third of the held-out labels are right.",
    accuracy="sequences",
)
