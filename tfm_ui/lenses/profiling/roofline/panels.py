"""The view "roofline": each row beside what this machine can do, limited by arithmetic or by memory."""

from typing import Any

import streamlit as st

from tfm_core.profiling import costs, files, profile
from tfm_ui.lenses.profiling.plan import rows_of, why_no_row
from tfm_ui.lenses.profiling.roofline.pictures import PICTURES
from tfm_ui.lenses.profiling.roofline.roofline import Roofline
from tfm_ui.lenses.profiling.row_controls import of_rows_alone, random_numbers
from tfm_ui.lenses.profiling.shown import comparison_of, notes
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ProfilingState) -> list[Block | None]:
    """One panel."""
    comparison = comparison_of(model, state, "roofline")
    if comparison is None:
        return [Note(why_no_row(model, state))]
    said = notes(comparison, rows_of(model, state)[1])
    return [_roofline(Roofline(comparison)), *said]


def _roofline(roofline: Roofline) -> Panel:
    return Box(
        key="profiling_roofline",
        title="Roofline",
        how_to_read="To the right: more operations for each byte that must be moved, by formula. Upwards: more "
        "operations in a second. The roof is what copying allows (thin) and what a large matrix product reaches "
        "(dashed); a row can lie above it. Rows are named by d_model, heads, layers and length.",
        picture="profiling_roofline" if roofline.comparison.report else "",
        result=roofline,
        open_table=OpenTable(_columns(roofline)),
        sources=[costs.flops, costs.bytes_moved, profile],
    )


def _columns(roofline: Roofline) -> dict[str, Any]:
    """How the table is drawn: a bar for the share, as long as the largest where rows lie above the roof."""
    comparison = roofline.comparison
    numbers = ("FLOP per byte", "GFLOP/s", "roof GFLOP/s")
    longest = max([1.0, *(point.share for point in roofline.rated if roofline.machine)])
    share = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=longest)
    stamp = files.provenance(comparison.report) if comparison.report else {}
    drawn = {name: st.column_config.NumberColumn(format="%.2f") for name in numbers}
    empty = {
        "measured under load": not any(row.forward.under_load for row in comparison.rows),
        "without a figure": not any(point.why for point in roofline.points),
    }
    hidden = [*stamp, *(name for name, nothing in empty.items() if nothing)]
    return drawn | {"share of the roof": share} | dict.fromkeys(hidden)


VIEW = View(
    title="Roofline",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=random_numbers,
    controls=of_rows_alone,
)
