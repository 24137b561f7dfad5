"""Each row beside what this machine can do: limited by arithmetic, or by memory."""

from typing import Any

import streamlit as st

from tfm_core.profiling import costs, files, profile
from tfm_ui.lenses.profiling import measure
from tfm_ui.lenses.profiling.asked import nothing
from tfm_ui.lenses.profiling.boxes import kind, rows, states
from tfm_ui.lenses.profiling.roofline import numbers as roofline
from tfm_ui.lenses.profiling.state import plan_of
from tfm_ui.page import controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """What it shows."""
    state = rows(model, controls_line.row("profiling"))
    measure.bar(plan_of(model, state), state.run)
    seen = roofline.roofline(model, state)
    if seen is None:
        st.info(nothing(model, state))
        return
    kind(seen.of.plan)
    with panel("profiling_roofline") as show:
        show(
            title="Roofline",
            how_to_read="x: floating point operations for each byte that must be moved, by formula. y: GFLOP/s "
            "of the median forward pass. The roof: what copying allows (thin), what a large matrix product reaches "
            "(dashed); a row can lie above it. Rows are named by d_model, heads, layers, length.",
            picture=Drawing("profiling_roofline", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            columns=_columns(seen),
            sources=[costs.flops, costs.bytes_moved, profile],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _columns(seen: roofline.Roofline) -> dict[str, Any]:
    """How the table is drawn: a bar for the share, as long as the largest where rows lie above the roof."""
    numbers = ("FLOP per byte", "GFLOP/s", "roof GFLOP/s")
    longest = max([1.0, *(point.share for point in seen.there if seen.machine)])
    share = st.column_config.ProgressColumn(format="percent", min_value=0, max_value=longest)
    stamp = files.provenance(seen.of.report) if seen.of.report else {}
    drawn = {name: st.column_config.NumberColumn(format="%.2f") for name in numbers}
    empty = {
        "measured under load": not any(one.forward.under_load for one in seen.of.rows),
        "without a figure": not any(point.why for point in seen.points),
    }
    hidden = [*stamp, *(name for name, nothing in empty.items() if nothing)]
    return drawn | {"share of the roof": share} | dict.fromkeys(hidden)
