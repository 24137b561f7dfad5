"""Examples as plain lists of tokens, and strategies that draw them."""

import torch
from hypothesis import strategies as st

from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED, Examples

SEEDS = st.integers(0, 2**63 - 1)
COUNTS = st.integers(1, 12)


def sampled(name, seed, count, length=0) -> Examples:
    """Sampled examples, at least one. A first draw may have none: the textbook leaves out unclear sequences."""
    task, numbers = TASKS[name], torch.Generator().manual_seed(seed)
    while not len(examples := task.sample(numbers, count, length or task.length)):
        pass
    return examples


def words(name, ids) -> list[str | None]:
    """Tokens; None where nothing is asked."""
    vocabulary = TASKS[name].vocabulary
    return [None if number == IGNORED else vocabulary[number - 1] for number in ids]


def rows(name, seed, count, length=0) -> list[tuple[list, list]]:
    """Source and answers of each example, as tokens."""
    examples = sampled(name, seed, count, length)
    return [
        (words(name, source), words(name, answers))
        for source, answers in zip(examples.source.tolist(), examples.answers.tolist(), strict=True)
    ]


def cells_of(name, place, examples) -> list[set[tuple[int, int]]]:
    """The cells of a pattern, as (query, key) for each example."""
    cells = TASKS[name].patterns[place].cells(examples)
    assert cells.dtype == torch.bool
    assert cells.shape[:2] == examples.answers.shape
    assert cells.shape[2] == examples.source.shape[1]
    return [{(query, key) for query, key in part.nonzero().tolist()} for part in cells]
