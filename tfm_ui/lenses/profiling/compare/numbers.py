"""Configurations beside each other: which rows there are, what was measured of each, and what that comes to."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd

from tfm_core.profiling import Blocks, Measured, Plan, Report, files
from tfm_core.profiling.report import FEWEST
from tfm_ui.lenses.profiling import measurements
from tfm_ui.lenses.profiling.state import ProfilingState, line_of, plan_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

LISTED = 8  # rows that a sentence names one by one
FORWARD, TRAINING = "forward", "forward + backward"


@dataclass(frozen=True)
class Compared:
    """The rows that the controls ask for, and their measurement.

    Attributes:
        plan: what is asked for.
        report: a measurement of it; None if there is none.
        rows: a measurement for each row of the plan, an empty one where there is none.
        baseline: the number of the row, from 1, that others are compared with.
    """

    plan: Plan
    report: Report | None
    rows: list[Measured]
    baseline: int

    def name(self, number: int) -> str:
        """Of a row, counted from 1: 3 · with weights."""
        return f"{number} · {self.plan.rows[number - 1].target}"

    def size(self, number: int) -> str:
        """Of a row, counted from 1, as in the text box."""
        return line_of(self.plan.rows[number - 1].size)

    def kinds(self, number: int) -> dict[str, Blocks]:
        """What was to be timed of a row, counted from 1: forward, and forward + backward if that was asked for."""
        one = self.rows[number - 1]
        backward = {TRAINING: one.training or Blocks()} if self.plan.setup.backward else {}
        return {FORWARD: one.forward} | backward

    @property
    def measured(self) -> list[int]:
        """The numbers of the rows whose forward pass has a time."""
        return self.timed(FORWARD)

    def timed(self, kind: str) -> list[int]:
        """The numbers of the rows that have a time of this kind."""
        return [number for number in range(1, len(self.rows) + 1) if self.kinds(number)[kind].sample]

    def under_load(self, *kinds: str) -> str:
        """Which rows' times are of contended blocks too, a sentence; "" if none are.

        Args:
            kinds: of `kinds`, or "parts"; those that are shown.
        """
        return under_load(
            self.rows, kinds, lambda rows: "all rows" if len(rows) == len(self.rows) > 1 else listed_rows(rows)
        )

    @property
    def nothing(self) -> str:
        """Said where no row has a figure for its forward pass."""
        if self.plan.setup.backward and self.timed(TRAINING):
            return "No row has a time of its forward pass."
        return "No row has a time."

    @property
    def setting(self) -> str:
        """Where and how, in short."""
        setup = self.plan.setup
        where = self.report.machine.device if self.report else setup.device
        threads = [look.plural(setup.threads, "thread")] if setup.device == "cpu" else []
        version = [f"torch {self.report.machine.torch}"] if self.report else []
        shared = [f"batch {self.plan.rows[0].size.batch}", f"seed {setup.seed}"]
        return " · ".join([where, *threads, setup.dtype, *shared, *version])

    @property
    def foot(self) -> str:
        """Where and how it was measured, and the measurement's name; "" of what was not."""
        if not self.report:
            return ""
        machine, began = self.report.machine, self.report.started[:10]
        processor = [machine.processor] if machine.processor not in ("", machine.device) else []
        kind = self.plan.rows[0].size.in_words()
        return " · ".join(
            [self.setting, kind, *processor, *([began] if began else []), f"measurement {self.report.id}"]
        )

    def stamped(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with where, when and how it was measured behind each line."""
        return table.assign(**files.provenance(self.report)) if self.report else table

    def reason(self, number: int, kind: str = FORWARD) -> str:
        """Why a row, counted from 1, has no figure of this kind; "" if it has one."""
        one, kinds = self.rows[number - 1], self.kinds(number)
        if kinds[kind].sample:
            return ""
        if one.problem and (kind == TRAINING or not one.problem.startswith(TRAINING)):
            return one.problem
        rounds = {len(blocks.every) for blocks in kinds.values() if not blocks.sample}
        apart = one.problem or len(rounds) > 1 or any(blocks.sample for blocks in kinds.values())
        return _too_few(len(kinds[kind].every), f" of {kind}" if apart else "")

    def reasons(self, number: int) -> list[str]:
        """Why a row, counted from 1, lacks figures of any kind that was asked for, each once."""
        return [reason for reason in dict.fromkeys(self.reason(number, kind) for kind in self.kinds(number)) if reason]


def compared(model: ModelState, state: ProfilingState) -> Compared | None:
    """What is asked for, as far as it was measured; None if no row is asked for."""
    plan = plan_of(model, state)
    if plan is None:
        return None
    report = measurements.find(plan, state.run)
    return Compared(plan, report, aligned(plan, report), min(state.baseline, len(plan.rows)))


def aligned(plan: Plan, report: Report | None) -> list[Measured]:
    """A measurement for each row of the plan: of a run that was stopped, some rows have none."""
    if report is None:
        return [Measured(row, problem="not measured yet") for row in plan.rows]
    left, found = list(report.measured), []
    missing = "not measured" if report.complete else "the run was stopped before"
    for row in plan.rows:
        there = bool(left) and left[0].row == row
        found.append(left.pop(0) if there else Measured(row, problem=missing))
    return found


def listed_rows(numbers: list[int]) -> str:
    """Row 3; rows 1, 2 and 5; rows 1 to 40 where they follow each other; of many others, how many."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"rows {numbers[0]} to {numbers[-1]}"
    if len(numbers) > LISTED:
        return f"{len(numbers)} rows"
    return f"row{'s' if len(numbers) > 1 else ''} {look.listed([str(number) for number in numbers])}"


def under_load(rows: Sequence[Measured], kinds: Sequence[str], name: Callable[[list[int]], str]) -> str:
    """`Compared.under_load`, with words for rows by their numbers, from 1."""
    marked = [[number for number, one in enumerate(rows, 1) if kind in one.under_load] for kind in kinds]
    if not any(marked):
        return ""
    if all(numbers == marked[0] for numbers in marked):
        return f"Measured under load: {name(marked[0])}."
    each = [f"{kind} of {name(numbers)}" for kind, numbers in zip(kinds, marked, strict=True) if numbers]
    return f"Measured under load: {'; '.join(each)}."


def _too_few(rounds: int, what: str) -> str:
    if rounds:
        return f"{look.plural(rounds, 'round')}{what} alone, where a time takes {FEWEST}"
    return f"no round{what} was measured"


def recipe(plan: Plan, *more: str) -> str:
    """Lines of Python that measure the plan and leave the `report`, and each row's median in `medians`, in seconds."""
    return "\n".join(
        [
            "from tfm_core.profiling import Plan, Row, Setup, Size, profile",
            "",
            "rows = (",
            *(f"    {row!r}," for row in plan.rows),
            ")",
            f"for progress in profile(Plan(rows, {plan.setup!r})):",
            '    print(f"{progress.share:.0%} {progress.doing}")',
            "report = progress.report",
            "medians = [measured.forward.median for measured in report.measured]",
            *more,
        ]
    )
