"""The view "compare": configurations as rows, their costs beside each other."""

from functools import partial

from tfm_core.profiling import costs, files, profile, statistics
from tfm_ui.lenses.profiling import row_controls
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.pictures import PICTURES
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.compare.table_columns import columns
from tfm_ui.lenses.profiling.compare.times import Times
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import rows_of, why_no_row
from tfm_ui.lenses.profiling.shown import comparison_of, notes
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState

JSON = "application/json"


def blocks(model: ModelState, state: ProfilingState) -> list[Block | None]:
    """Parameters beside time as the main picture; the table, every run if it was measured, and the ratios."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return [Note(why_no_row(model, state), icon=":material/edit:")]
    every_run = _times(comparison) if comparison.report else None
    said = notes(comparison, rows_of(model, state)[1])
    return [
        _parameters(comparison),
        *said,
        _table(comparison),
        every_run,
        _ratios(comparison),
    ]


def _table(comparison: Comparison) -> Panel:
    report, result = comparison.report, CostTable(comparison)
    return Box(
        key="profiling_table",
        title="What each configuration costs",
        how_to_read="Click the head of a column to sort by it. Times are medians over the rounds; memory is "
        "counted without weights and input.",
        shape=comparison.setting,
        result=result,
        open_table=OpenTable(columns(result.table(), comparison)),
        files={"JSON": ("every block, and where", partial(files.as_json, report), JSON)} if report else {},
        sources=[costs.parameters, costs.flops, costs.peak_memory, files.table, profile],
    )


def _times(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_times",
        title="Every run",
        how_to_read="A dot is one round. The box holds the middle half of them, the bar is the median, the "
        "triangle the minimum. All rows take turns in each round, so a slow moment of the machine slows all of them.",
        picture="profiling_times",
        result=Times(comparison),
        sources=[profile],
    )


def _ratios(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_ratios",
        title="Ratios, round by round",
        how_to_read="A dot is one round: the time of a row divided by the time of the chosen row in the same round. "
        "The bar is the median, the box its interval. If the box contains 1, the two cannot be told apart. “More” "
        "above chooses the other row.",
        picture="profiling_ratios" if comparison.report else "",
        result=Ratios(comparison),
        sources=[statistics.ratio, statistics.median_interval, statistics.verdict],
    )


def _parameters(comparison: Comparison) -> Panel:
    result = ParametersAndCost(comparison)
    return Box(
        key="profiling_parameters",
        title=f"Parameters and {'time' if comparison.report else 'operations'}",
        how_to_read=result.how_to_read,
        picture="profiling_parameters",
        result=result,
        sources=[costs.parameters, costs.flops],
    )


VIEW = View(
    title="Configurations",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=row_controls.random_numbers,
    controls=row_controls.of_rows,
)
