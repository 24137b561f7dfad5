"""Time, memory and the parts of a pass against the length of the sequence."""

import streamlit as st

from tfm_core.profiling import costs, profile, scaling
from tfm_ui.lenses.profiling import measure
from tfm_ui.lenses.profiling.asked import no_length
from tfm_ui.lenses.profiling.boxes import boxes, how, kind, states
from tfm_ui.lenses.profiling.length import memory as length_memory
from tfm_ui.lenses.profiling.length import numbers as length
from tfm_ui.lenses.profiling.length import parts as length_parts
from tfm_ui.lenses.profiling.state import ProfilingState, lengths_of, plan_of
from tfm_ui.page import controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """What it shows."""
    line = controls_line.row("profiling")
    boxes(model, line, "target", "longest", "length_batch")
    state = how(model, line)
    measure.bar(plan_of(model, state), state.run)
    with st.container(key="profiling_left_out"):
        if reason := " ".join(filter(None, (no_length(model, state), length.beyond(lengths_of(model, state)[1])))):
            st.info(reason)
    seen = length.sweep(model, state)
    memory, parts = length_memory.peaks(model, state), length_parts.shares(model, state)
    if not seen or not memory or not parts:
        return
    kind(seen.of.plan)
    left, right = st.columns(2)
    with left.container(key="length_time"):
        _time(model, state, seen)
    with right.container(key="length_memory"):
        _memory(model, state, memory)
    with st.container(key="length_parts"):
        _parts(model, state, parts)


def _time(model: ModelState, state: ProfilingState, seen: length.Sweep) -> None:
    with panel("profiling_length_time") as show:
        show(
            title="Time against length",
            how_to_read="x: tokens. y: milliseconds of a call. A power law is a straight line here. Rings: "
            "medians, with strokes from quartile to quartile; dashed: the fitted law; thin: FLOPs, scaled.",
            picture=Drawing("profiling_length_time", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            sources=[profile, scaling.fit, costs.flops],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _memory(model: ModelState, state: ProfilingState, seen: length_memory.Peaks) -> None:
    with panel("profiling_length_memory") as show:
        show(
            title="Memory against length",
            how_to_read="x: tokens. y: MiB at the peak of a call, beyond weights and input. Rings: measured "
            "by the allocator, thin: by the system; dashed, and the attention weights of all layers: by formula.",
            picture=Drawing("profiling_length_memory", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            sources=[costs.peak_memory, profile],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _parts(model: ModelState, state: ProfilingState, seen: length_parts.Shares) -> None:
    with panel("profiling_length_parts") as show:
        show(
            title="Where it goes",
            how_to_read="x: tokens. y: FLOPs of each part, by formula; then its milliseconds in one forward pass, "
            "by torch.profiler. Products: scores and weights × values; the softmax stands apart.",
            picture=Drawing("profiling_length_parts", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            sources=[costs.flops, scaling.crossing, profile],
            recipe=seen.recipe,
            mode=frame.mode(),
        )
