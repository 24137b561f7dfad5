"""Stopped and continued, a run comes out as if it had never been stopped: to the last digit."""

from dataclasses import replace
from itertools import product

import pytest
import torch

from tests.tfm_core.training.runs import same_numbers, small, to_the_end, trained
from tfm_core.positional.schemes import POSITIONAL
from tfm_core.training import files
from tfm_core.training.config import of_task
from tfm_core.training.folder import Folder
from tfm_core.training.store import RunStore
from tfm_core.training.train import train, untrained
from tfm_core.training.weights_file import as_file, from_file

KINDS = [
    ("reverse", {}),
    ("reverse", {"dropout": 0.3}),
    ("induction", {"num_layers": 2, "num_heads": 2, "positional": "alibi", "norm": "post", "dropout": 0.1}),
    ("sort-decoder", {"dropout": 0.1}),
    ("first-again", {"network": "gru", "num_layers": 2}),
    ("textbook", {"dropout": 0.1, "pooling": "first"}),
]
APART = 11  # steps between two points of the curve, in place of 50
FINAL = 64  # held-out examples of a last point, in place of 2,048
STEPS = APART + 3  # neither a point nor a snapshot
STOPS = (1, 9, APART)


@pytest.fixture(autouse=True, scope="module")
def runs_are_short():
    """Runs have all that runs have, in few steps. Runs that are trained once for all are none of other files'."""
    trained.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tfm_core.training.schedule.APART", APART)
        patch.setattr("tfm_core.training.train.FINAL", FINAL)
        yield
    trained.cache_clear()


def pytest_generate_tests(metafunc):
    """Each kind goes on from one step, and one kind from all; all kinds from all steps with `--all`.

    All kinds go on from four other steps in the test after the next.
    """
    if "stop" in metafunc.fixturenames:
        few = [*zip(STOPS * 2, KINDS, strict=True), *((stop, KINDS[0]) for stop in STOPS[1:])]
        is_full = metafunc.config.getoption("all_combinations")
        metafunc.parametrize(("stop", "kind"), list(product(STOPS, KINDS)) if is_full else few)


def test_from_a_shorter_run(stop, kind):
    task, changes = kind
    shorter = to_the_end(small(task, steps=stop, **changes))
    run = to_the_end(small(task, steps=STEPS, **changes), shorter)
    same_numbers(run, trained(task, steps=STEPS, **changes))
    assert run.seconds > shorter.seconds


@pytest.mark.parametrize(("task", "changes"), KINDS)
def test_closed_at_any_report_and_through_files(task, changes, monkeypatch):
    monkeypatch.setattr("tfm_core.training.train.REPORT_SECONDS", 0.0)
    config = small(task, steps=STEPS, **changes)
    run = None
    for stop in (3, 4, APART, 13):
        reports = train(config, run)
        run = next(report.run for report in reports if report.run.done == stop)
        reports.close()
        run = files.read(files.as_tensors(run), files.as_json(run))
    same_numbers(to_the_end(config, run), trained(task, steps=STEPS, **changes))


def test_step_by_step_through_a_store(tmp_path):
    config = small(dropout=0.2, steps=STEPS)
    for steps in (3, 5, 10, STEPS):
        longer = replace(config, steps=steps)
        RunStore(Folder(tmp_path)).keep(to_the_end(longer, RunStore(Folder(tmp_path)).beginning(longer)))
    same_numbers(RunStore(Folder(tmp_path)).find(config), trained(dropout=0.2, steps=STEPS))


def test_across_an_epoch_of_a_fixed_set():
    changes = {"batch_size": 1000, "steps": 9}  # four batches an epoch
    run = to_the_end(small("textbook", **changes), to_the_end(small("textbook", **{**changes, "steps": 6})))
    same_numbers(run, to_the_end(small("textbook", **changes)))


def test_a_run_that_is_complete_stays_as_it_is():
    run = trained(steps=STEPS)
    same_numbers(to_the_end(run.config, run), run)


def test_from_before_the_first_step():
    config = small()
    same_numbers(to_the_end(config, untrained(config)), trained())


def test_what_it_begins_from_stays_as_it_is():
    shorter = to_the_end(small(steps=4))
    kept = files.read(files.as_tensors(shorter), files.as_json(shorter))
    to_the_end(small(steps=8), shorter)
    same_numbers(shorter, kept)


@pytest.mark.parametrize(
    ("begin", "config", "words"),
    [
        (trained, small(seed=1), "expected a shorter run of reverse,.*seed=1"),
        (trained, small(learning_rate=0.02), "learning_rate=0.02"),
        (trained, small(dropout=0.1), "dropout=0.1"),
        (trained, small(steps=8), "got 9 steps of reverse"),
        (trained, small("copy"), "expected a shorter run of copy"),
        (lambda: replace(trained(), optimizer={}), small(steps=12), "expected a run with its optimizer"),
        (lambda: from_file(as_file(trained())), small(), "expected a shorter run"),
    ],
)
def test_of_another_run_or_without_its_optimizer_nothing_is_continued(begin, config, words):
    with pytest.raises(ValueError, match=words):
        to_the_end(config, begin())


def test_weights_of_a_file_are_not_trained():
    run = from_file(as_file(trained()))
    with pytest.raises(ValueError, match=f"got weights of a file, {run.config.file}"):
        to_the_end(run.config, run)


@pytest.mark.parametrize("scheme", list(POSITIONAL))
def test_every_parameter_is_remembered_by_the_optimizer(scheme):
    """A run with a parameter that gets no gradient could otherwise not be continued."""
    config = of_task("copy", positional=scheme, steps=2, batch_size=4)
    run = to_the_end(config)
    same_numbers(to_the_end(replace(config, steps=4), run), to_the_end(replace(config, steps=4)))
    assert torch.isfinite(run.losses).all()
