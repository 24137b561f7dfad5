"""Rows of a plan beside each other: what was measured of each, and how rows are named in words."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from tfm_core.profiling import Blocks, Measured, Plan, Report, Size, costs, files
from tfm_core.profiling.files_text import differences
from tfm_core.profiling.report import FEWEST
from tfm_ui.live.script import Code, script
from tfm_ui.text import formats

LISTED = 8  # rows that a sentence names one by one
FORWARD, TRAINING = "forward", "forward + backward"
NOT_MEASURED = "Nothing is measured yet: press Measure."
UNMEASURED = "Nothing of this is measured yet: press Measure."


@dataclass(frozen=True)
class Comparison:
    """The rows that the controls ask for, and their measurement. Rows are counted from 1.

    Attributes:
        plan: what is asked for.
        report: a measurement of it; None if there is none.
        rows: a measurement for each row of the plan, an empty one where there is none.
        baseline: the number of the row that others are compared with.
        chosen: the number of the row that is looked at part by part.
    """

    plan: Plan
    report: Report | None
    rows: list[Measured]
    baseline: int = 1
    chosen: int = 1

    @classmethod
    def of(cls, plan: Plan, report: Report | None, *, baseline: int = 1, chosen: int = 1) -> "Comparison":
        """A plan with a measurement of it; of rows that there are not, the last is taken."""
        most = len(plan.rows)
        return cls(plan, report, aligned(plan, report), min(baseline, most), min(chosen, most))

    @property
    def numbers(self) -> range:
        """The numbers of all rows, from 1."""
        return range(1, len(self.rows) + 1)

    def name(self, number: int) -> str:
        """The name of a row: 3 · with weights."""
        return f"{number} · {self.plan.rows[number - 1].target}"

    def size(self, number: int) -> str:
        """The size of a row, as in the text box."""
        return line_of(self.plan.rows[number - 1].size)

    def label(self, number: int) -> str:
        """A row in a picture: its target where there are several, and its line of the text box."""
        several = len({row.target for row in self.plan.rows}) > 1
        return f"{self.name(number) if several else number}: {self.size(number)}"

    def parameters(self, number: int) -> int:
        """All of a row's, in closed form."""
        return sum(costs.parameters(self.plan.rows[number - 1]).values())

    def flops(self, number: int) -> int:
        """FLOPs of a forward pass of all of a row's batch, in closed form."""
        return sum(costs.flops(self.plan.rows[number - 1]).values())

    def kinds(self, number: int) -> dict[str, Blocks]:
        """What was to be timed of a row: forward, and forward + backward if that was asked for."""
        measured = self.rows[number - 1]
        backward = {TRAINING: measured.training or Blocks()} if self.plan.setup.backward else {}
        return {FORWARD: measured.forward} | backward

    @property
    def measured(self) -> list[int]:
        """The numbers of the rows whose forward pass has a time."""
        return self.timed(FORWARD)

    def timed(self, kind: str) -> list[int]:
        """The numbers of the rows that have a time of this kind."""
        return [number for number in self.numbers if self.kinds(number)[kind].sample]

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
        """The sentence for rows without a figure for their forward pass."""
        if self.plan.setup.backward and self.timed(TRAINING):
            return "No row has a time of its forward pass."
        return "No row has a time."

    @property
    def kind(self) -> str:
        """What the rows have of the sidebar's model, in a sentence; and which targets differ from it, in one each."""
        words = kind_in_words(self.plan.rows[0].size)
        return " ".join([f"Every row is a model of the sidebar’s kind: {words}.", *differences(self.plan.rows)])

    @property
    def setting(self) -> str:
        """Where and how, in short."""
        setup = self.plan.setup
        where = self.report.machine.device if self.report else setup.device
        threads = [formats.plural(setup.threads, "thread")] if setup.device == "cpu" else []
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
        kind = kind_in_words(self.plan.rows[0].size)
        return " · ".join(
            [self.setting, kind, *processor, *([began] if began else []), f"measurement {self.report.id}"]
        )

    def stamped(self, table: pd.DataFrame) -> pd.DataFrame:
        """A table with where, when and how it was measured after each line."""
        return table.assign(**files.provenance(self.report)) if self.report else table

    def reason(self, number: int, kind: str = FORWARD) -> str:
        """Why a row has no figure of this kind; "" if it has one."""
        problem, kinds = self.rows[number - 1].problem, self.kinds(number)
        if kinds[kind].sample:
            return ""
        if problem and (kind == TRAINING or not problem.startswith(TRAINING)):
            return problem
        rounds = {len(blocks.every) for blocks in kinds.values() if not blocks.sample}
        apart = problem or len(rounds) > 1 or any(blocks.sample for blocks in kinds.values())
        return _too_few(len(kinds[kind].every), f" of {kind}" if apart else "")

    def reasons(self, number: int) -> list[str]:
        """Why a row lacks figures of any kind that was asked for, each once."""
        return [reason for reason in dict.fromkeys(self.reason(number, kind) for kind in self.kinds(number)) if reason]

    def recipe(self, function: Callable[..., Any], **arguments: Any) -> str:
        """A recipe of this lens as a script; all of them measure the plan.

        Args:
            function: of recipes.py.
            arguments: what it asks for beside the plan.
        """
        rows = "".join(f"    {row!r},\n" for row in self.plan.rows)
        return script(function, rows=Code(f"(\n{rows})"), setup=self.plan.setup, **arguments)

    @property
    def without_time(self) -> str:
        """Which rows have no time of their forward pass, and why; "" where all have one."""
        pairs = ((self.reason(number), number) for number in self.numbers)
        by_reason = grouped((reason, number) for reason, number in pairs if reason)
        return " ".join(f"{listed_rows(rows).capitalize()}: {reason}." for reason, rows in by_reason.items())


def aligned(plan: Plan, report: Report | None) -> list[Measured]:
    """A measurement for each row of the plan: of a run that was stopped, some rows have none."""
    if report is None:
        return [Measured(row, problem="not measured yet") for row in plan.rows]
    left, rows = list(report.measured), []
    missing = "not measured" if report.complete else "the run was stopped before"
    for row in plan.rows:
        there = bool(left) and left[0].row == row
        rows.append(left.pop(0) if there else Measured(row, problem=missing))
    return rows


def grouped(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    """The numbers of each word, both in the order in which they came."""
    groups: dict[str, list[int]] = {}
    for word, number in pairs:
        groups.setdefault(word, []).append(number)
    return groups


def kind_in_words(size: Size) -> str:
    """What a size has in common with the sidebar's model; a stack that sees no later token is called decoder-only."""
    words = size.in_words()
    for stack in ("encoder, causal,", "decoder,"):
        if words.startswith(stack):
            return f"decoder-only,{words.removeprefix(stack)}"
    return words


def line_of(size: Size) -> str:
    """The line of the text box that describes a size, without its batch: `sizes_of` in sizes.py reads it."""
    numbers = [size.d_model, size.num_heads, size.num_layers, size.seq_len]
    return ", ".join(map(str, numbers + ([size.d_ff] if size.d_ff else [])))


def listed_rows(numbers: list[int]) -> str:
    """Row 3; rows 1, 2 and 5; rows 1 to 40 where they follow each other; of many others, how many."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"rows {numbers[0]} to {numbers[-1]}"
    if len(numbers) > LISTED:
        return f"{len(numbers)} rows"
    return f"row{'s' if len(numbers) > 1 else ''} {formats.listed([str(number) for number in numbers])}"


def under_load(rows: Sequence[Measured], kinds: Sequence[str], name: Callable[[list[int]], str]) -> str:
    """`Comparison.under_load`, with words for rows by their numbers."""
    marked = [[number for number, row in enumerate(rows, 1) if kind in row.under_load] for kind in kinds]
    if not any(marked):
        return ""
    if all(numbers == marked[0] for numbers in marked):
        return f"Measured under load: {name(marked[0])}."
    each = [f"{kind} of {name(numbers)}" for kind, numbers in zip(kinds, marked, strict=True) if numbers]
    return f"Measured under load: {'; '.join(each)}."


def _too_few(rounds: int, what: str) -> str:
    if rounds:
        return f"{formats.plural(rounds, 'round')}{what} alone, where a time takes {FEWEST}"
    return f"no round{what} was measured"
