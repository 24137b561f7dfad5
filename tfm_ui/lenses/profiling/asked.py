"""What a view asks for, whichever is on screen; and how its rows are named."""

from dataclasses import dataclass, replace

from tfm_core.profiling import Plan, Row
from tfm_core.profiling.files_text import differences
from tfm_ui.lenses.profiling.compare.numbers import Compared, compared, listed_rows, under_load
from tfm_ui.lenses.profiling.state import LENGTHS, ProfilingState, cannot, rows_of, sizes_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look

UNMEASURED = "Nothing of this is measured yet: press Measure."
NOTHING = "There is no configuration to show: enter one in the view “compare”."


def asked(model: ModelState, state: ProfilingState, view: str) -> Compared | None:
    """The rows of this view, and their measurement; None if there are no rows."""
    return compared(model, replace(state, view=view))


def nothing(model: ModelState, state: ProfilingState, without_lines: str = NOTHING) -> str:
    """Why there is no row: no line describes a configuration, or no target can be of the sidebar's kind."""
    if not sizes_of(state.sizes, state.batch)[0]:
        return without_lines
    return " ".join(rows_of(model, state)[1])


def no_length(model: ModelState, state: ProfilingState) -> str:
    """Why some lengths, or all, cannot be: the first reason; "" where all can."""
    reasons = (cannot(model, state, length) for length in LENGTHS if length <= state.longest)
    return next(filter(None, reasons), "")


def kind(plan: Plan) -> str:
    """What the rows have of the sidebar's model, in a sentence; and which targets differ from it, in one each."""
    words = plan.rows[0].size.in_words()
    return " ".join([f"Rows are of the sidebar’s kind: {words}.", *differences(plan.rows)])


@dataclass(frozen=True)
class Lengths:
    """One target at several lengths.

    Attributes:
        of: its rows, and their measurement.
    """

    of: Compared

    @property
    def lengths(self) -> list[int]:
        """That are asked for."""
        return [row.size.seq_len for row in self.of.plan.rows]

    def under_load(self, *kinds: str) -> str:
        """At which lengths these are of contended blocks too, a sentence; "" if at none."""
        return under_load(self.of.rows, kinds, self._named)

    def _named(self, numbers: list[int]) -> str:
        if len(numbers) == len(self.lengths):
            return "all lengths"
        lengths = look.listed([look.count(self.lengths[number - 1]) for number in numbers])
        return f"{lengths} {'token' if lengths == '1' else 'tokens'}"


def described(row: Row) -> str:
    """A row in words: with weights, d_model 64, 4 heads, 2 layers, 50 tokens, batch 16."""
    size = row.size
    heads, layers = look.plural(size.num_heads, "head"), look.plural(size.num_layers, "layer")
    tokens = look.plural(size.seq_len, "token")
    return f"{row.target}, d_model {size.d_model}, {heads}, {layers}, {tokens}, batch {size.batch}"


def label(seen: Compared, number: int) -> str:
    """A row in a picture, counted from 1: its target where there are several, and its line of the text box."""
    several = len({row.target for row in seen.plan.rows}) > 1
    return f"{seen.name(number) if several else number}: {seen.size(number)}"


def without(seen: Compared) -> str:
    """Which rows have no figure, and why; "" where all have one."""
    found: dict[str, list[int]] = {}
    for number in range(1, len(seen.rows) + 1):
        if reason := seen.reason(number):
            found.setdefault(reason, []).append(number)
    return " ".join(f"{listed_rows(rows).capitalize()}: {reason}." for reason, rows in found.items())
