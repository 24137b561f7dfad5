"""`python -m tfm_core.training finetune`: the grids that the app comes with; `finetune rates` looks for rates."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from tfm_core.training.compare.finetuning.grid import RATES, TRIED, TRIED_ON, grid, rates
from tfm_core.training.compare.finetuning.grid_file import FOLDER, keep_grid
from tfm_core.training.compare.finetuning.labelled import SETS
from tfm_core.training.compare.finetuning.outcome import NAME as NAME
from tfm_core.training.compare.finetuning.outcome import SIZES, Grid
from tfm_core.training.compare.finetuning.ways import WAYS

LOOK = "rates"


def run(arguments: Sequence[str], out: Path | None, tell: Callable[[str, float], None]) -> int:
    """Do what is asked for; return the exit code.

    Args:
        arguments: after `finetune`: none for the grids of all tasks, some tasks for theirs, or "rates".
        out: where grids are kept; by default with those that the app comes with.
        tell: gets a line and the share that is done.

    Raises:
        ValueError: for other arguments.
    """
    if list(arguments) == [LOOK]:
        sys.stdout.write(
            f"share right of {TRIED_ON} sentences of the training side, after {TRIED}, the mean of {len(SETS)} tasks\n"
        )
        for number, (way, rate, share) in enumerate(rates(), 1):
            tell(way, number / (len(WAYS) * len(RATES)))
            sys.stdout.write(f"{way:8}  {rate:7g}  {share:7.2%}\n")
            sys.stdout.flush()
        return 0
    if any(task not in SETS for task in arguments):
        raise ValueError(f"{NAME}: expected {LOOK} or some of {', '.join(SETS)}; got {', '.join(arguments)}")
    for task in arguments or SETS:
        for share, made in grid(task):
            last = made.runs[-1].tuning
            tell(f"{task}: {last.way}, {last.examples} examples, seed {last.seed}", share)
        keep_grid(made, out or FOLDER)
        sys.stdout.write(table(made))
    return 0


def table(made: Grid) -> str:
    """A line for each way: the median share of right labels with each number of examples, and seconds."""
    bags = "".join(f"{made.bag(size):9.2%}" for size in SIZES)
    lines = [
        f"{made.task}, {made.tested} held out, {made.seconds:.0f} s\n",
        f"{'':13}{''.join(f'{size:9,d}' for size in SIZES)}  trained  seconds\n",
    ]
    for way in WAYS:
        shares = "".join(f"{median(made.accuracies(way, size)):9.2%}" for size in SIZES)
        runs = made.of(way, SIZES[-1])
        seconds = median(run.seconds for run in runs)
        lines.append(f"{way:13}{shares}{runs[0].trained:9,d}{seconds:9.1f}\n")
    return "".join([*lines, f"{'naive Bayes':13}{bags}\n", f"most frequent label {made.most_frequent:.2%}\n"])
