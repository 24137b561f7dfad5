"""What a view asks for, what became of each row of it, and how rows are named."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tfm_core.profiling import Blocks, Measured, Plan, Report, Row
from tfm_ui import measurements
from tfm_ui.figures import look
from tfm_ui.model_state import ModelState
from tfm_ui.profiling_lens.state import ProfilingState, plan_of

FIELDS = ("d_model", "num_heads", "num_layers", "seq_len")  # of a configuration, in the order in which they are typed
UNMEASURED = "Nothing of this is measured yet: press Measure."
NOTHING = "There is no configuration to show: enter one in the view “compare”."


@dataclass(frozen=True)
class Asked:
    """A view's plan, and its measurement if there is one.

    Attributes:
        plan: what the button measures; None if there is nothing.
        report: what was measured of it.
    """

    plan: Plan | None
    report: Report | None

    @property
    def rows(self) -> tuple[Row, ...]:
        """What is to be measured."""
        return self.plan.rows if self.plan else ()

    @cached_property
    def measured(self) -> list[Measured]:
        """One for each row of the plan; of a row that was not measured, an empty one."""
        left = list(self.report.measured) if self.report else []
        found = []
        for row in self.rows:
            at = next((i for i, one in enumerate(left) if one.row == row), None)
            found.append(Measured(row) if at is None else left.pop(at))
        return found


def asked(model: ModelState, state: ProfilingState, view: str) -> Asked:
    """What this view shows, whichever is on screen."""
    plan = plan_of(model, replace(state, view=view))
    return Asked(plan, measurements.find(plan, state.run))


def why_not(one: Measured, blocks: Blocks) -> str:
    """Why these blocks of a row have no median; "" if they have one."""
    if blocks.seconds:
        return ""
    return one.problem or ("no clean block" if blocks.contended else "not measured")


def label(plan: Plan, number: int) -> str:
    """A row in a picture: its number, its target where there are several, and its configuration."""
    row = plan.rows[number]
    several = len({other.target for other in plan.rows}) > 1
    size = ", ".join(str(getattr(row.size, field)) for field in FIELDS)
    return f"{number + 1}: {row.target + ', ' if several else ''}{size}"


def described(row: Row) -> str:
    """A row in words: with weights, d_model 64, 4 heads, 2 layers, 50 tokens, batch 16."""
    size = row.size
    heads, layers = look.plural(size.num_heads, "head"), look.plural(size.num_layers, "layer")
    tokens = look.plural(size.seq_len, "token")
    return f"{row.target}, d_model {size.d_model}, {heads}, {layers}, {tokens}, batch {size.batch}"


def numbered(numbers: Sequence[int]) -> str:
    """Row 2; rows 1 to 4; rows 1, 3 and 7. Counted from 1; there is at least one."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"rows {numbers[0]} to {numbers[-1]}"
    return ("row " if len(numbers) == 1 else "rows ") + look.listed([str(number) for number in numbers])


def script(plan: Plan | None, *end: str, imports: Sequence[str] = (), measures: bool = True) -> str:
    """Lines of Python that need tfm_core alone: the plan's rows and setting, its measurement, and what follows.

    Args:
        plan: what is on screen; without one there is no script.
        end: lines that read `rows`, `setup`, and `measured`.
        imports: lines, beside those that every script has.
        measures: whether these lines read `measured`, which is made anew: other times, of the same things.
    """
    if plan is None:
        return ""
    names = "Plan, Row, Setup, Size, profile" if measures else "Row, Setup, Size"
    lines = [f"from tfm_core.profiling import {names}", *imports, "", f"setup = {plan.setup!r}", "rows = ("]
    lines += [f"    {row!r}," for row in plan.rows] + [")"]
    if measures:
        lines += ["*_, last = profile(Plan(rows, setup))  # measures anew", "measured = last.report.measured"]
    return "\n".join([*lines, *end])
