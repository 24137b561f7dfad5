"""One configuration part by part: parameters, FLOPs and time beside each other."""

import streamlit as st

from tfm_core.profiling import costs, profile
from tfm_ui.lenses.profiling import measure
from tfm_ui.lenses.profiling.asked import nothing
from tfm_ui.lenses.profiling.boxes import boxes, kind, rows, states
from tfm_ui.lenses.profiling.parts import numbers as parts
from tfm_ui.lenses.profiling.state import plan_of
from tfm_ui.page import controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """What it shows."""
    line = controls_line.row("profiling")
    boxes(model, line, "row")
    state = rows(model, line)
    measure.bar(plan_of(model, state), state.run)
    seen = parts.parts(model, state)
    if seen is None:
        st.info(nothing(model, state))
        return
    kind(seen.of.plan)
    st.html(f'<p class="note">{seen.title}</p>')
    pictures = {
        "profiling_parts_parameters": (
            "Parameters",
            "Numbers that training would set, counted by formula.",
            seen.about_parameters,
            seen.parameter_laws,
            costs.parameters,
        ),
        "profiling_parts_flops": (
            "FLOPs",
            "Floating point operations of a forward pass, by formula; M: millions.",
            seen.about_flops,
            seen.flop_laws,
            costs.flops,
        ),
        "profiling_parts_time": (
            "Time",
            "Of a forward pass of median length among torch.profiler’s own, which it slows down a little.",
            seen.about_time,
            {},
            profile,
        ),
    }
    for where, (name, (title, how_to_read, sentence, laws, source)) in zip(
        st.columns(3), pictures.items(), strict=True
    ):
        with where, panel(name) as show:
            show(
                title=title,
                how_to_read=how_to_read,
                picture=Drawing(name, states(model, state)),
                sentence=sentence,
                laws=laws,
                table=seen.table,
                sources=[source],
                recipe=seen.recipe,
                mode=frame.mode(),
            )
