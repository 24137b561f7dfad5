"""Where single runs of fine-tuning are kept: beside trained runs. Grids come with the app."""

from contextlib import suppress

from tfm_core.training.compare.finetuning.grid_file import as_parts, read_run, shipped_grid
from tfm_core.training.compare.finetuning.outcome import NAME, Tuned, Tuning
from tfm_core.training.store import run_store


def kept_run(tuning: Tuning) -> Tuned | None:
    """The run that was computed here; None if there is none. What cannot be read counts as missing, and is removed."""
    shelf, name = run_store().shelf, f"{NAME}-{tuning.name}"
    for parts in shelf.contents(name):
        with suppress(ValueError):
            if (run := read_run(parts)).tuning == tuning:
                return run
        shelf.remove(name)
    return None


def keep_run(run: Tuned, owner: str = "") -> None:
    """Keep a run that has ended, in place of an earlier one of its kind.

    Args:
        run: that has ended.
        owner: whose it is; of too much the owner's oldest goes first.
    """
    run_store().shelf.write(f"{NAME}-{run.tuning.name}", as_parts(run), owner)


def find_run(tuning: Tuning) -> Tuned | None:
    """The run that was computed here, else the one of the grid that comes with the app; None if there is none."""
    if run := kept_run(tuning):
        return run
    grid = shipped_grid(tuning.task)
    return next((run for run in grid.runs if run.tuning == tuning), None) if grid else None
