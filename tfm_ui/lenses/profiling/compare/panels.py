"""The view "compare": configurations as rows, their costs beside each other."""

from functools import partial

from tfm_core.profiling import costs, files, profile, statistics
from tfm_ui.lenses.profiling.compare.parameters import ParametersAndCost
from tfm_ui.lenses.profiling.compare.ratios import Ratios
from tfm_ui.lenses.profiling.compare.table import CostTable
from tfm_ui.lenses.profiling.compare.table_columns import columns
from tfm_ui.lenses.profiling.compare.times import Times
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import why_no_row
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures.panel import Block, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState

JSON = "application/json"
WRITE = "Write a configuration on the left: d_model, heads, layers, length."


def blocks(model: ModelState, state: ProfilingState) -> list[Block]:
    """The table, every run if it was measured, the ratios, and parameters beside time, each where `layout` says."""
    comparison = comparison_of(model, state, "compare")
    if comparison is None:
        return [Note(why_no_row(model, state, WRITE), icon=":material/edit:")]
    every_run = [_times(comparison)] if comparison.report else []
    return [
        Note(comparison.kind, "plain"),
        _table(comparison),
        *every_run,
        _ratios(comparison),
        _parameters(comparison),
    ]


def _table(comparison: Comparison) -> Panel:
    report, result = comparison.report, CostTable(comparison)
    return Panel(
        key="profiling_table",
        title="What each configuration costs",
        how_to_read="Click a column’s head to sort. Times: medians over rounds; memory beyond weights and input.",
        shape=comparison.setting,
        result=result,
        open_table=OpenTable(columns(result.table(), comparison)),
        files={"JSON": ("every block, and where", partial(files.as_json, report), JSON)} if report else {},
        sources=[costs.parameters, costs.flops, costs.peak_memory, files.table, profile],
    )


def _times(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_times",
        title="Every run",
        how_to_read="A dot per round; box: the middle half of them, bar: the median, triangle: the minimum. "
        "Rounds are interleaved, so that drift hits all rows alike.",
        picture="profiling_times",
        result=Times(comparison),
        sources=[profile],
    )


def _ratios(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_ratios",
        title="Paired ratios",
        how_to_read="A dot per round: a row’s time over the chosen row’s in the same round. Bar: the median; box: "
        "its interval; where that straddles 1, no difference can be told.",
        picture="profiling_ratios" if comparison.report else "",
        result=Ratios(comparison),
        sources=[statistics.ratio, statistics.median_interval, statistics.verdict],
    )


def _parameters(comparison: Comparison) -> Panel:
    result = ParametersAndCost(comparison)
    return Panel(
        key="profiling_parameters",
        title=f"Parameters and {'time' if comparison.report else 'operations'}",
        how_to_read=result.how_to_read,
        picture="profiling_parameters",
        result=result,
        sources=[costs.parameters, costs.flops],
    )
