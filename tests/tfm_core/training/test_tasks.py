"""Each task against its definition, written down again with lists, loops and the standard library."""

from calendar import monthrange
from datetime import date, datetime

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.tfm_core.training.drawn import (
    COUNTS,
    LENGTHS,
    OF_TEXTS,
    PADDED,
    SEEDS,
    cells_of,
    right_answers,
    right_cells,
    rows,
    sampled,
    words,
)
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import IGNORED

WITH_PATTERNS = [name for name, task in TASKS.items() if task.patterns]
DRAWN = [name for name, task in TASKS.items() if not task.examples]


@pytest.mark.parametrize("name", LENGTHS)
@given(SEEDS, COUNTS, st.data())
def test_answers_are_those_of_the_definition(name, seed, count, data):
    length = data.draw(LENGTHS[name])
    for source, answers in rows(name, seed, count, length):
        known = right_answers(name, source)
        assert answers == [known.get(place) for place in range(length)]


def test_every_period_of_induction_comes_up():
    sources = [source for source, _ in rows("induction", 0, 400)]
    periods = {source.index(source[0], 1) for source in sources}
    assert periods == set(range(8, 17))


@given(SEEDS, COUNTS)
def test_dates(seed, count):
    for source, answers in rows("dates", seed, count):
        text = "".join(source).replace("␣", " ")
        day = datetime.strptime(text, "%d %b %Y").date()
        assert 1600 <= day.year <= 2399
        assert "".join(answers[:-1]) == day.isoformat()
        assert answers[-1] is None


def test_months_are_as_long_as_in_the_calendar(monkeypatch):
    """The last day of each of the 9,600 months: 2000 has a 29 february, 1900 has none."""
    months = [(year, month) for year in range(1600, 2400) for month in range(1, 13)]
    drawn = iter([torch.tensor([year for year, _ in months]), torch.tensor([month - 1 for _, month in months])])
    monkeypatch.setattr(torch, "randint", lambda *_, **__: next(drawn))
    monkeypatch.setattr(torch, "rand", lambda count, **_: torch.full((count,), 1 - 2**-24))
    days = [date.fromisoformat("".join(answers[:-1])) for _, answers in rows("dates", 0, len(months))]
    assert days == [date(year, month, monthrange(year, month)[1]) for year, month in months]


def test_every_day_and_every_year_come_up():
    days = {date.fromisoformat("".join(answers[:-1])) for _, answers in rows("dates", 1, 12_000)}
    assert len({(day.month, day.day) for day in days}) == 366
    assert {day.year for day in days} == set(range(1600, 2400))


@pytest.mark.parametrize("length", [9, 13, 25])
def test_about_half_of_the_brackets_are_balanced(length):
    """All balanced strings come up, too: as many as the Catalan number says."""
    drawn = rows("brackets", 2, 2000, length)
    share = sum(answer == "yes" for _, (answer, *_) in drawn) / len(drawn)
    assert 0.45 < share < 0.65
    if length == 9:
        assert len({tuple(source) for source, (answer, *_) in drawn if answer == "yes"}) == 14


@given(SEEDS, COUNTS, st.integers(1, 40), st.sampled_from(["reverse", "sort"]))
def test_a_decoder_reads_the_answers_one_place_later(seed, count, length, name):
    plain, shifted = sampled(name, seed, count, length), sampled(f"{name}-decoder", seed, count, length)
    assert shifted.source.tolist() == plain.source.tolist()
    assert shifted.answers.tolist() == plain.answers.tolist()
    for target, answers in zip(shifted.target.tolist(), shifted.answers.tolist(), strict=True):
        read = words(f"{name}-decoder", target)
        assert read == ["START", *words(f"{name}-decoder", answers)[:-1]]


@given(SEEDS, COUNTS, st.sampled_from(list(TASKS)))
def test_all_ids_are_in_the_vocabulary(seed, count, name):
    task, examples = TASKS[name], sampled(name, seed, count)
    assert examples.source.shape[1] == task.length
    parts = [examples.source] if examples.target is None else [examples.source, examples.target]
    for ids in parts:
        assert ids.min() >= (0 if name in PADDED else 1)
        assert ids.max() < task.vocab_size
    asked = examples.answers[examples.answers != IGNORED]
    assert len(asked)
    assert asked.min() >= 0
    assert asked.max() < task.outcomes
    assert len(set(task.vocabulary)) == len(task.vocabulary)


@given(SEEDS, st.sampled_from(DRAWN), st.integers(1, 4))
def test_other_lengths_where_there_are_some(seed, name, times):
    task = TASKS[name]
    assume(task.stretches)
    length = times * task.length + (times % 2 == 0) * (task.length % 2)  # odd remains odd, even remains even
    examples = sampled(name, seed, 3, length)
    assert examples.source.shape == (3, length)
    assert (examples.answers != IGNORED).any(1).all()


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_gives_the_same_examples_and_another_seed_others(name):
    first, again, others = (sampled(name, seed, 50) for seed in (3, 3, 4))
    assert first.source.equal(again.source)
    assert first.answers.equal(again.answers)
    assert not first.source.equal(others.source)


@pytest.mark.parametrize("name", list(TASKS))
def test_a_task_says_what_it_is(name):
    task = TASKS[name]
    assert task.about.endswith((".", "?"))
    assert not task.note or task.note.endswith(".")
    for pattern in task.patterns:
        assert pattern.why.endswith(".")
        assert pattern.kind in ({"self", "cross"} if task.architecture == "encoder-decoder" else {"self"})
    if not task.classes:
        assert set(task.labels) <= set(task.vocabulary)
    assert task.tokenizer.vocab_size == task.vocab_size


@pytest.mark.parametrize("name", [name for name in WITH_PATTERNS if name not in OF_TEXTS])
@given(SEEDS, COUNTS, st.data())
def test_cells_where_attention_should_look_are_those_of_the_definition(name, seed, count, data):
    examples = sampled(name, seed, count, data.draw(LENGTHS.get(name.removesuffix("-decoder"), st.just(0))))
    for place in range(len(examples)):
        part = examples[place : place + 1]
        expected = right_cells(name, words(name, part.source[0].tolist()), words(name, part.answers[0].tolist()))
        assert [cells_of(name, number, part)[0] for number in range(len(TASKS[name].patterns))] == expected
    assert TASKS[name].patterns[0].even == (name == "majority")


@given(SEEDS, COUNTS, st.sampled_from(WITH_PATTERNS))
def test_only_answers_that_are_asked_for_have_cells_or_those_of_a_layer_below(seed, count, name):
    """A decoder looks at nothing to come."""
    examples, task = sampled(name, seed, count), TASKS[name]
    for pattern in task.patterns:
        cells = pattern.cells(examples)
        if task.architecture == "decoder":
            assert not cells.triu(1).any()
        if pattern.name not in ("token before", "partner") and not task.spans:
            assert not cells[examples.answers == IGNORED].any()
