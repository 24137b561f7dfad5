"""Where attention should look, cell by cell, against loops over the tokens."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.training.drawn import COUNTS, SEEDS, cells_of, sampled, words
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED

LENGTHS = st.integers(2, 24)


def examples_of(name, seed, count, length=0):
    """Cells of the first pattern, tokens and answers, example by example."""
    examples = sampled(name, seed, count, length)
    for place in range(len(examples)):
        part = examples[place : place + 1]
        yield part, words(name, part.source[0].tolist()), words(name, part.answers[0].tolist())


@given(SEEDS, COUNTS, LENGTHS, st.sampled_from(["reverse", "reverse-decoder"]))
def test_mirror(seed, count, length, name):
    examples = sampled(name, seed, count, length)
    mirror = {(place, length - 1 - place) for place in range(length)}
    assert cells_of(name, 0, examples) == [mirror] * count


@given(SEEDS, COUNTS, LENGTHS, st.sampled_from(["sort", "sort-decoder"]))
def test_rank(seed, count, length, name):
    for part, source, answers in examples_of(name, seed, count, length):
        equal = {
            (query, key) for query, answer in enumerate(answers) for key, token in enumerate(source) if token == answer
        }
        assert cells_of(name, 0, part) == [equal]


@given(SEEDS, COUNTS, st.integers(2, 16))
def test_one_period_back(seed, count, half):
    for part, source, answers in examples_of("copy", seed, count, 2 * half):
        (cells,) = cells_of("copy", 0, part)
        assert cells == {(place, place - half + 1) for place in range(half - 1, 2 * half - 1)}
        assert all(source[key] == answers[query] for query, key in cells)
        assert {query for query, _ in cells} == {place for place, answer in enumerate(answers) if answer}


@given(SEEDS, COUNTS)
def test_induction_looks_behind_the_same_letter(seed, count):
    for part, source, answers in examples_of("induction", seed, count):
        behind = set()
        for query, answer in enumerate(answers):
            for earlier in range(query):
                if answer is not None and source[earlier] == source[query]:
                    behind.add((query, earlier + 1))
        (cells,) = cells_of("induction", 0, part)
        assert cells == behind
        assert all(source[key] == answers[query] for query, key in cells)
        period = source.index(source[0], 1)
        before = {(query, query - 1) for query in range(1, period)}
        assert cells_of("induction", 1, part) == [before]


@given(SEEDS, COUNTS, LENGTHS)
def test_first_again_looks_at_others_like_it(seed, count, length):
    for part, source, _ in examples_of("first-again", seed, count, length):
        others = {(0, key) for key in range(1, length) if source[key] == source[0]}
        assert cells_of("first-again", 0, part) == [others]


@given(SEEDS, COUNTS, st.integers(1, 12))
def test_majority_looks_at_all_letters(seed, count, half):
    examples = sampled("majority", seed, count, 2 * half)
    assert cells_of("majority", 0, examples) == [{(0, key) for key in range(1, 2 * half)}] * count
    assert TASKS["majority"].patterns[0].even


@given(SEEDS, COUNTS, st.integers(1, 12))
def test_brackets_look_at_their_partners(seed, count, pairs):
    for part, (_, *brackets), (answer, *_) in examples_of("brackets", seed, count, 1 + 2 * pairs):
        partners, stack = set(), []
        for place, bracket in enumerate(brackets, 1):
            if bracket == "(":
                stack.append(place)
            elif stack:
                partner = stack.pop()
                partners |= {(place, partner), (partner, place)}
        assert cells_of("brackets", 0, part) == [partners if answer == "yes" else set()]


@given(SEEDS, COUNTS)
def test_each_digit_of_a_date_is_copied_from_its_place(seed, count):
    for part, source, answers in examples_of("dates", seed, count):
        (digits,), (month,) = cells_of("dates", 0, part), cells_of("dates", 1, part)
        assert all(source[key] == answers[query] for query, key in digits)
        assert {query for query, _ in digits} == {0, 1, 2, 3, 8, 9}
        assert len(digits) == 6
        assert "".join(source[key] for query, key in sorted(month) if query == 5).isalpha()
        assert {query for query, _ in month} == {5, 6}
        assert {source[key] for _, key in month} == set("".join(source[3:6]))


@given(SEEDS, COUNTS, st.sampled_from([name for name, task in TASKS.items() if task.patterns]))
def test_only_answers_that_are_asked_for_have_cells_or_those_of_a_layer_below(seed, count, name):
    """A decoder looks at nothing to come."""
    examples, task = sampled(name, seed, count), TASKS[name]
    for pattern in task.patterns:
        cells = pattern.cells(examples)
        if task.architecture == "decoder":
            assert not cells.triu(1).any()
        if pattern.name not in ("token before", "partner"):
            assert not cells[examples.answers == IGNORED].any()
        assert cells.dtype == torch.bool
