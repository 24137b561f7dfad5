"""`python -m tfm_core.training compare reverse sort`: compare networks without the app, into the same store."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tfm_core.training.compare import compare
from tfm_core.training.comparison import Comparison
from tfm_core.training.outcomes import Outcomes
from tfm_core.training.store import SHIPPED

WORD = "compare"  # before the tasks


def compare_tasks(tasks: Sequence[str], *, ship: bool, out: Path | None, tell: Callable[[str, float], None]) -> int:
    """Compare the networks of these tasks, and keep what has come out; the exit code.

    Args:
        tasks: keys of `TASKS`.
        ship: whether the files are those that come with the app.
        out: the folder, otherwise; by default that of the runs.
        tell: what is being done, and how far it is.
    """
    outcomes = Outcomes(SHIPPED if ship else out)
    for task in tasks:
        for step in compare(task):
            tell(f"{task}: {step.doing}, {step.seconds_left:.0f} s left", step.share)
        outcomes.keep(step.comparison)
        sys.stdout.write(outcome(step.comparison))
        if outcomes.problem:
            sys.stderr.write(f"{outcomes.problem}\n")
            return 1
    sys.stdout.write(f"kept in {outcomes.folder}\n")
    return 0


def outcome(comparison: Comparison) -> str:
    """A line for each network, the best first: the median over the seeds."""
    best = sorted(comparison.contestants, key=lambda entry: -entry.median("accuracy"))
    lines = (f"  {entry.median('accuracy'):7.2%}  {entry.parameters:6d}  {entry.config.name}\n" for entry in best)
    return f"{comparison.task}, {comparison.seconds:.0f} s\n{''.join(lines)}"
