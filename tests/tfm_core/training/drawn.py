"""Examples as plain lists of tokens, strategies that draw them, and the definitions of tasks in plain Python."""

from collections import Counter
from itertools import accumulate

import torch
from hypothesis import strategies as st

from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED, Examples

SEEDS = st.integers(0, 2**63 - 1)
COUNTS = st.integers(1, 12)
OF_TEXTS = ("translation", "question-answering", "summary")  # their definitions are in texts.py
PADDED = ("authors", *OF_TEXTS)
EVEN = st.integers(1, 20).map(lambda half: 2 * half)
# Lengths of the tasks that have several.
LENGTHS = {"copy": EVEN, "majority": EVEN, "brackets": EVEN.map(lambda even: even + 1)}
LENGTHS |= dict.fromkeys(["reverse", "sort", "first-again"], st.integers(2, 40)) | {"induction": st.integers(17, 64)}


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
    queries = examples.source if TASKS[name].spans else examples.answers  # a span is two places of the source
    assert cells.shape[:2] == queries.shape
    assert cells.shape[2] == examples.source.shape[1]
    return [{(query, key) for query, key in part.nonzero().tolist()} for part in cells]


def right_answers(task: str, tokens: list[str]) -> dict[int, str]:
    """What a task asks of these tokens, which it may draw: place -> its answer."""
    half = len(tokens) // 2
    match task:
        case "reverse" | "reverse-decoder":
            return dict(enumerate(reversed(tokens)))
        case "sort" | "sort-decoder":
            return dict(enumerate(sorted(tokens, key=int)))
        case "copy":
            assert tokens[:half] == tokens[half:]
            return {place: tokens[place + 1] for place in range(half - 1, 2 * half - 1)}
        case "first-again":
            return {0: "yes" if tokens[0] in tokens[1:] else "no"}
        case "induction":
            period = tokens.index(tokens[0], 1)
            assert 8 <= period <= 16
            assert len(set(tokens[:period])) == period
            assert tokens == [tokens[place % period] for place in range(len(tokens))]
            return {place: tokens[place + 1] for place in range(period, len(tokens) - 1)}
    cls, *others = tokens
    assert cls == "CLS"
    if task == "majority":
        assert len(others) % 2 == 1
        assert set(others) <= {"A", "B"}
        return {0: Counter(others).most_common(1)[0][0]}
    assert task == "brackets"
    assert Counter(others) == {"(": half, ")": half}
    heights = accumulate(1 if bracket == "(" else -1 for bracket in others)
    return {0: "yes" if min(heights) == 0 else "no"}


def right_cells(task: str, tokens: list[str], answers: list[str | None]) -> list[set[tuple[int, int]]]:
    """Where attention should look, for each pattern of a task, as (query, key)."""
    asked = [query for query, answer in enumerate(answers) if answer is not None]
    match task:
        case "reverse" | "reverse-decoder":
            return [{(query, len(tokens) - 1 - query) for query in asked}]
        case "sort" | "sort-decoder":
            return [{(query, key) for query in asked for key, token in enumerate(tokens) if token == answers[query]}]
        case "copy":
            return [{(query, query - len(tokens) // 2 + 1) for query in asked}]
        case "first-again":
            return [{(0, key) for key, token in enumerate(tokens) if key and token == tokens[0]}]
        case "majority":
            return [{(0, key) for key in range(1, len(tokens))}]
        case "induction":
            behind = {(query, key + 1) for query in asked for key in range(query) if tokens[key] == tokens[query]}
            return [behind, {(query, query - 1) for query in range(1, tokens.index(tokens[0], 1))}]
        case "dates":  # "03 may 1999" -> "1999-05-03"
            return [{(0, 7), (1, 8), (2, 9), (3, 10), (8, 0), (9, 1)}, {(q, k) for q in (5, 6) for k in (3, 4, 5)}]
    assert task == "brackets"
    partners, opened = set(), []
    for place, bracket in enumerate(tokens[1:], 1):
        if bracket == "(":
            opened.append(place)
        elif opened:
            partner = opened.pop()
            partners |= {(place, partner), (partner, place)}
    return [partners if answers[0] == "yes" else set()]
