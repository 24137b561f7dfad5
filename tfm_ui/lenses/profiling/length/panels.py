"""The view "length": time, memory and the parts of a pass against the length of the sequence."""

from tfm_core.profiling import costs, profile, scaling
from tfm_ui.lenses.profiling import row_controls
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.length.memory import MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, why_no_length
from tfm_ui.lenses.profiling.shown import comparison_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Columns, Note, Panel
from tfm_ui.state.model_state import ModelState


def draw_controls(model: ModelState) -> ProfilingState:
    """What is measured, how, and the button."""
    line = controls_line.row("line_profiling")
    row_controls.draw(model, line, "target", "longest", "length_batch")
    return row_controls.with_button(model, row_controls.how_it_is_measured(model, line))


def blocks(model: ModelState, state: ProfilingState) -> list[Block | None]:
    """Time; which lengths are left out; memory and the parts of a pass."""
    reasons = why_no_length(model, state), beyond_budget(lengths_of(model, state)[1])
    left_out = Note(" ".join(filter(None, reasons))) if any(reasons) else None
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return [left_out]
    beside = Columns([[_memory(comparison)], [_parts(comparison)]])
    return [_time(comparison), left_out, Note(comparison.kind, "plain"), beside]


def _time(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_length_time",
        title="Time against length",
        how_to_read="x: tokens. y: milliseconds of a call. A power law is a straight line here. Rings: "
        "medians, with strokes from quartile to quartile; dashed: the fitted law; thin: FLOPs, scaled.",
        picture="profiling_length_time",
        result=TimeByLength(comparison),
        sources=[profile, scaling.fit, costs.flops],
    )


def _memory(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_length_memory",
        title="Memory against length",
        how_to_read="x: tokens. y: MiB at the peak of a call, beyond weights and input. Rings: measured "
        "by the allocator, thin: by the system; dashed, and the attention weights of all layers: by formula.",
        picture="profiling_length_memory",
        result=MemoryByLength(comparison),
        sources=[costs.peak_memory, profile],
    )


def _parts(comparison: Comparison) -> Panel:
    return Panel(
        key="profiling_length_parts",
        title="Where it goes",
        how_to_read="x: tokens. y: FLOPs of each part, by formula; then its milliseconds in one forward pass, "
        "by torch.profiler. Products: scores and weights × values; the softmax stands apart.",
        picture="profiling_length_parts",
        result=PartsByLength(comparison),
        sources=[costs.flops, scaling.crossing, profile],
    )


VIEW = View(title="By length", blocks=blocks, controls=draw_controls)
