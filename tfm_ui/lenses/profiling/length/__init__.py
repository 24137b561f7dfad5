"""The view "length": time, memory and the parts of a pass against the length of the sequence."""

from collections.abc import Sequence

from tfm_ui.lenses.profiling.length.costs import LengthMemory, LengthParts
from tfm_ui.lenses.profiling.length.times import LengthTime
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, plan_of_lengths, why_no_length
from tfm_ui.lenses.profiling.row_controls import of_lengths, random_numbers
from tfm_ui.lenses.profiling.rows import how_measured, in_common
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState


def _left_out(model: ModelState, state: ProfilingState) -> Note | None:
    """Which lengths are not asked for, and why."""
    reasons = why_no_length(model, state), beyond_budget(lengths_of(model, state)[1])
    return Note(" ".join(filter(None, reasons))) if any(reasons) else None


def _no_length(model: ModelState, state: ProfilingState) -> Sequence[Note | None]:
    """What stands there where there is no length."""
    return [] if plan_of_lengths(model, state) else [_left_out(model, state)]


VIEW = View(
    title="By length",
    shows=[LengthTime, _left_out, in_common, how_measured, LengthMemory, LengthParts],
    instead=_no_length,
    reads_instead=random_numbers,
    controls=of_lengths,
)
