"""The view "parts": one configuration part by part, its parameters, FLOPs and time beside each other."""

from tfm_core.profiling import costs, profile
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.parts.costs_by_part import PartFlops, PartParameters, PartTimes, which_row
from tfm_ui.lenses.profiling.parts.pictures import PICTURES
from tfm_ui.lenses.profiling.plan import rows_of, why_no_row
from tfm_ui.lenses.profiling.row_controls import of_chosen_row, random_numbers
from tfm_ui.lenses.profiling.shown import comparison_of, notes
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ProfilingState) -> list[Block | None]:
    """Three charts side by side, which make one picture; below, which row it is."""
    comparison = comparison_of(model, state, "parts")
    if comparison is None:
        return [Note(why_no_row(model, state))]
    panels = [_parameters(comparison), _flops(comparison), _time(comparison)]
    said = notes(comparison, rows_of(model, state)[1])
    return [
        Columns([[panel] for panel in panels]),
        Note(which_row(comparison), "plain"),
        *said,
    ]


def _parameters(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_parts_parameters",
        title="Parameters",
        how_to_read="The numbers that training sets, counted by formula. Shares are rounded.",
        picture="profiling_parts_parameters",
        result=PartParameters(comparison),
        sources=[costs.parameters],
    )


def _flops(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_parts_flops",
        title="FLOPs",
        how_to_read="Of a forward pass, by formula. M means millions; shares are rounded.",
        picture="profiling_parts_flops",
        result=PartFlops(comparison),
        sources=[costs.flops],
    )


def _time(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_parts_time",
        title="Time",
        how_to_read="Of one forward pass, the median of those that torch.profiler watched.",
        picture="profiling_parts_time",
        result=PartTimes(comparison),
        sources=[profile],
    )


VIEW = View(
    title="By part",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=random_numbers,
    controls=of_chosen_row,
)
