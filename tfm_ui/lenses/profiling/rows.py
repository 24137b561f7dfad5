"""Rows of a plan beside each other: what every panel of the lens knows of them, and how rows are named in words."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, ClassVar

import pandas as pd

from tfm_core.profiling import Blocks, Measured, Plan, Report, Row, Size, costs, files, profile
from tfm_core.profiling.files_text import differences
from tfm_core.profiling.report import FEWEST
from tfm_ui.lenses.profiling import measure_words
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.lenses.profiling.pace import Pace, Ratio
from tfm_ui.lenses.profiling.plan import NO_CONFIGURATION, line_of, plan_of, plan_of_rows, rows_of, why_no_row
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live.script import Code, script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, provenance

LISTED = 8  # rows that a sentence names one by one
FORWARD, TRAINING = "forward", "forward + backward"
NOT_MEASURED = "Nothing is measured yet: press Measure."
UNMEASURED = "Nothing of this is measured yet: press Measure."
ORDER = (
    "embedding", "positions", "projections", "products", "softmax", "feed-forward", "norms", "recurrence",
    "convolution", "output", "logits", "rest",
)  # fmt: skip
SEPARATE_PASSES = "torch.profiler timed passes of its own"  # said where no time of a call is shown


def measure(plan: Plan) -> Report:
    """Measure it, and print how far that is: what every recipe of this lens begins with."""
    for progress in profile(plan):
        print(f"{100 * progress.share:.0f} % {progress.doing}")
    return progress.report


def total_flops(row: Row) -> int:
    """FLOPs of a forward pass of all of a row's batch, in closed form."""
    return sum(costs.flops(row).values())


class ProfilingPanel(Panel):
    """A panel on the rows that the controls ask for, and their measurement. Rows are counted from 1.

    It is the same in each view that shows rows: these views show one measurement.
    """

    state: ProfilingState
    canvas: ClassVar[Canvas | None] = CHART

    @cached_property
    def asked(self) -> Plan | None:
        """What the controls ask for; None if there is no row."""
        return plan_of_rows(self.model, self.state)

    @property
    def plan(self) -> Plan:
        """What the controls ask for, where there is a row."""
        assert self.asked
        return self.asked

    @property
    def why_nothing(self) -> str:
        """Why there is no row."""
        return why_no_row(self.model, self.state)

    @cached_property
    def report(self) -> Report | None:
        """A measurement of the plan; None if there is none."""
        return measurements.find(self.asked, self.state.run)

    @cached_property
    def rows(self) -> list[Measured]:
        """A measurement for each row of the plan, an empty one where there is none."""
        return aligned(self.plan, self.report)

    @property
    def numbers(self) -> range:
        """The numbers of all rows, from 1."""
        return range(1, len(self.rows) + 1)

    def row_name(self, number: int) -> str:
        """The name of a row: 3 · with weights."""
        return f"{number} · {self.plan.rows[number - 1].target}"

    def size(self, number: int) -> str:
        """The size of a row, as in the text box."""
        return line_of(self.plan.rows[number - 1].size)

    def parameters_of(self, number: int) -> int:
        """All of a row's, in closed form."""
        return sum(costs.parameters(self.plan.rows[number - 1]).values())

    def flops_of(self, number: int) -> int:
        """FLOPs of a forward pass of all of a row's batch, in closed form."""
        return total_flops(self.plan.rows[number - 1])

    def kinds(self, number: int) -> dict[str, Blocks]:
        """What was to be timed of a row: forward, and forward + backward if that was asked for."""
        measured = self.rows[number - 1]
        backward = {TRAINING: measured.training or Blocks()} if self.plan.setup.backward else {}
        return {FORWARD: measured.forward} | backward

    @cached_property
    def measured(self) -> list[int]:
        """The numbers of the rows whose forward pass has a time."""
        return self.timed(FORWARD)

    def timed(self, kind: str) -> list[int]:
        """The numbers of the rows that have a time of this kind."""
        return [number for number in self.numbers if self.kinds(number)[kind].sample]

    def ratio(self, this: int, other: int, kind: str = FORWARD) -> Ratio:
        """One row's time over another's."""
        paces = [Pace(self.kinds(number)[kind]) for number in (this, other)]
        return paces[0].over(paces[1])

    def under_load(self, *kinds: str) -> str:
        """Which rows' times are of contended blocks too, a sentence; "" if none are.

        Args:
            kinds: of `kinds`, or "parts"; those that are shown.
        """
        marked = [[number for number, row in enumerate(self.rows, 1) if kind in row.under_load] for kind in kinds]
        if not any(marked):
            return ""
        if all(numbers == marked[0] for numbers in marked):
            return f"Measured under load: {self.listed(marked[0])}."
        each = [f"{kind} of {self.listed(numbers)}" for kind, numbers in zip(kinds, marked, strict=True) if numbers]
        return f"Measured under load: {'; '.join(each)}."

    def listed(self, numbers: list[int]) -> str:
        """These rows in words."""
        return "all rows" if len(numbers) == len(self.rows) > 1 else listed_rows(numbers)

    @property
    def nothing(self) -> str:
        """The sentence for rows without a figure for their forward pass."""
        if self.plan.setup.backward and self.timed(TRAINING):
            return "No row has a time of its forward pass."
        return "No row has a time."

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
        processor, began = provenance.processor(self.report.machine), self.report.started[:10]
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

    def chart(self) -> Content:
        """What is drawn of the rows."""
        raise NotImplementedError(f"expected {type(self).__name__} to have a chart, as it has a canvas")

    def picture(self) -> Content:
        """The chart, with the foot that all of its files have; empty where there are no rows."""
        header, numbers = self.chart() if self.asked else lines.content([], about=NO_CONFIGURATION)
        return {**header, "foot": self.foot}, numbers

    def script(self, recipe: Callable[..., Any], **arguments: Any) -> str:
        """A recipe of this lens as a script; all of them measure the plan.

        Args:
            recipe: a function of the plan's `rows` and `setup`.
            arguments: what else it asks for.
        """
        rows = "".join(f"    {row!r},\n" for row in self.plan.rows)
        return script(recipe, rows=Code(f"(\n{rows})"), setup=self.plan.setup, **arguments)


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


def in_order(names: Iterable[str]) -> list[str]:
    """Each once: parts in the order of a pass, then operators as they came."""
    distinct = dict.fromkeys(names)
    return [name for name in ORDER if name in distinct] + [name for name in distinct if name not in ORDER]


def kind_in_words(size: Size) -> str:
    """What a size has in common with the sidebar's model; a stack that sees no later token is called decoder-only."""
    words = size.in_words()
    for stack in ("encoder, causal,", "decoder,"):
        if words.startswith(stack):
            return f"decoder-only,{words.removeprefix(stack)}"
    return words


def listed_rows(numbers: list[int]) -> str:
    """Row 3; rows 1, 2 and 5; rows 1 to 40 where they follow each other; of many others, how many."""
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"rows {numbers[0]} to {numbers[-1]}"
    if len(numbers) > LISTED:
        return f"{len(numbers)} rows"
    return f"row{'s' if len(numbers) > 1 else ''} {formats.listed([str(number) for number in numbers])}"


def _too_few(rounds: int, what: str) -> str:
    if rounds:
        return f"{formats.plural(rounds, 'round')}{what} alone, where a time takes {FEWEST}"
    return f"no round{what} was measured"


# what stands below the main picture of a view, and in place of it


def left_out(model: ModelState, state: ProfilingState) -> Note | None:
    """What was not taken of the controls, and why."""
    problems = rows_of(model, state)[1]
    return Note(" ".join(problems), "warning") if problems else None


def in_common(model: ModelState, state: ProfilingState) -> Note:
    """What the rows have of the sidebar's model, in a sentence; and which targets differ from it, in one each."""
    plan = plan_of(model, state)
    assert plan
    words = kind_in_words(plan.rows[0].size)
    shared = model.config.num_kv_heads
    keys = [f"Heads share {shared} keys and values, in rows whose heads {shared} divides."] if shared else []
    said = [f"Every row is a model of the sidebar’s kind: {words}.", *keys, *differences(plan.rows)]
    return Note(" ".join(said), "plain")


def how_measured(model: ModelState, state: ProfilingState) -> Note | None:
    """When, where and how the rows were measured."""
    report = measurements.find(plan_of(model, state), state.run)
    return Note(measure_words.facts(report), "plain") if report else None


NOTES = (left_out, in_common, how_measured)


def no_rows(model: ModelState, state: ProfilingState, icon: str | None = None) -> list[Note]:
    """Why there are no rows, in place of them; nothing if there are any."""
    return [] if plan_of_rows(model, state) else [Note(why_no_row(model, state), icon=icon)]
