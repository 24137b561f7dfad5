"""What is held out has never been trained on."""

from itertools import islice

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.training.drawn import SEEDS, sampled
from tests.tfm_core.training.runs import small
from tfm_core.training.config import of_task
from tfm_core.training.examples import EVALUATED, PROBES, batches, held_out, probes, side
from tfm_core.training.tasks.table import TASKS
from tfm_core.training.tasks.task import draw, is_held_out

IDS = st.integers(0, 499)
PRIME = 2**31 - 1


@st.composite
def batch(draw_from):
    length = draw_from(st.integers(1, 12))
    rows = st.lists(st.lists(IDS, min_size=length, max_size=length), min_size=1, max_size=12)
    return draw_from(rows)


@given(batch())
def test_a_side_depends_on_the_sequence_alone(rows):
    together = is_held_out(torch.tensor(rows)).tolist()
    assert together == [bool(is_held_out(torch.tensor([row]))) for row in rows]
    assert together == [by_hand(row) for row in rows]


def by_hand(row) -> bool:
    """The side by whole numbers of any size: nothing overflows."""
    hashed = 17
    for token in row:
        hashed = (hashed * 48_271 + token + 1) % PRIME
    return hashed * 16_807 % PRIME % 5 == 0


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if not task.examples])
def test_about_a_fifth_is_held_out(name):
    source = sampled(name, 5, 4000).source.unique(dim=0)
    share = is_held_out(source).float().mean().item()
    assert abs(share - 0.2) < 4 * (0.2 * 0.8 / len(source)) ** 0.5  # four standard deviations of a fair draw


@pytest.mark.parametrize("name", [name for name, task in TASKS.items() if task.examples])
def test_a_fifth_of_a_fixed_set_is_held_out_and_none_of_it_is_trained_on(name):
    out, trained = (side(of_task(name), held_out=is_out).source.tolist() for is_out in (True, False))
    assert not {tuple(row) for row in out} & {tuple(row) for row in trained}
    assert len(out) + len(trained) == len(TASKS[name].examples())
    assert 0.18 < len(out) / (len(out) + len(trained)) < 0.22


@given(SEEDS, st.integers(1, 40), st.booleans(), st.sampled_from(list(TASKS)))
def test_a_draw_never_mixes_sides(seed, count, is_out, name):
    task = TASKS[name]
    drawn = draw(task, torch.Generator().manual_seed(seed), count, held_out=is_out)
    assert len(drawn) == len(drawn.answers) == count
    assert (drawn.target is None) == (task.architecture != "encoder-decoder")
    assert (task.split(drawn.source) == is_out).all()


@given(st.integers(0, 9999), st.integers(0, 300), st.sampled_from(list(TASKS)))
def test_no_batch_has_an_example_that_is_held_out(seed, begin, name):
    config = small(name, seed=seed, batch_size=16)
    sources = [tuple(row) for step in islice(batches(config, begin), 5) for row in step.source.tolist()]
    out = {tuple(row) for row in held_out(config, 2048).source.tolist()}
    assert not out & set(sources)
    assert not TASKS[name].split(torch.tensor(sources)).any()


@pytest.mark.parametrize("name", ["reverse", "sort-decoder", "authors"])
def test_batches_begin_anywhere(name):
    config = small(name, batch_size=32)
    all_of_it = list(islice(batches(config), 140))
    for begin in (1, 63, 64, 65, 128):
        for got, expected in zip(islice(batches(config, begin), 8), all_of_it[begin:], strict=False):
            assert got.source.equal(expected.source)
            assert got.answers.equal(expected.answers)
            assert (got.target is None) == (expected.target is None)
            assert got.target is None or got.target.equal(expected.target)


def test_batches_are_not_repeated():
    config = small(batch_size=8)
    steps = [step.source for step in islice(batches(config), 130)]
    assert len(torch.cat(steps).unique(dim=0)) > 0.99 * 8 * 130
    other = next(batches(small(batch_size=8, seed=1)))
    assert not other.source.equal(steps[0])


@pytest.mark.parametrize("name", list(TASKS))
def test_probes_are_the_first_held_out_examples_for_all_seeds(name):
    config = small(name)
    expected = held_out(config, EVALUATED)
    for seed in (0, 1):
        shown = probes(small(name, seed=seed))
        assert len(shown) == PROBES
        assert shown.source.equal(expected.source[:PROBES])
        assert shown.answers.equal(expected.answers[:PROBES])
    assert TASKS[name].split(expected.source).all()
