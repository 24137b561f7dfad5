"""What a view shows: the rows that it asks for, with their measurement; and its pictures, made from these."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from tfm_ui.lenses.profiling import measure_words, measurements
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.live import passes
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.panel import Note
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState


def comparison_of(model: ModelState, state: ProfilingState, view: str) -> Comparison | None:
    """The rows of this view, whichever the link is on, as far as they were measured; None if there are no rows."""
    plan = plan_of(model, replace(state, view=view))
    if plan is None:
        return None
    return Comparison.of(plan, measurements.find(plan, state.run), baseline=state.baseline, chosen=state.row)


def notes(comparison: Comparison, left_out: Sequence[str] = ()) -> list[Note | None]:
    """What stands below the main picture: what was left out of the rows; what they have in common; when, where and how.

    Args:
        comparison: the rows.
        left_out: what was not taken of the controls, and why, in sentences.
    """
    report = comparison.report
    missing = [Note(" ".join(left_out), "warning")] if left_out else []
    return [*missing, Note(comparison.kind, "plain"), Note(measure_words.facts(report), "plain") if report else None]


def picture(view: str, canvas: Canvas, content: Callable[[Comparison], Content], *, empty: Content) -> Picture:
    """A picture of a view's rows. Its foot, which all of its files have, says where and how they were measured.

    Args:
        view: whose rows it shows.
        canvas: how it is drawn.
        content: what from.
        empty: what is drawn where there are no rows.
    """

    def with_foot(model: ModelState, state: ProfilingState) -> Content:
        comparison = comparison_of(model, state, view)
        header, numbers = content(comparison) if comparison else empty
        return {**header, "foot": comparison.foot if comparison else ""}, numbers

    return Picture(canvas, with_foot, needs=passes.needs)
