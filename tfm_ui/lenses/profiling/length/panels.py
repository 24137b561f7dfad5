"""The view "length": time, memory and the parts of a pass against the length of the sequence."""

from tfm_core.profiling import costs, profile, scaling
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.length.memory import MemoryByLength
from tfm_ui.lenses.profiling.length.parts import PartsByLength
from tfm_ui.lenses.profiling.length.pictures import PICTURES
from tfm_ui.lenses.profiling.length.times import TimeByLength
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, why_no_length
from tfm_ui.lenses.profiling.row_controls import of_lengths, random_numbers
from tfm_ui.lenses.profiling.shown import comparison_of, notes
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: ProfilingState) -> list[Block | None]:
    """Time as the main picture; which lengths are left out, memory and parts."""
    reasons = why_no_length(model, state), beyond_budget(lengths_of(model, state)[1])
    left_out = Note(" ".join(filter(None, reasons))) if any(reasons) else None
    comparison = comparison_of(model, state, "length")
    if comparison is None:
        return [left_out]
    return [_time(comparison), left_out, *notes(comparison), _memory(comparison), _parts(comparison)]


def _time(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_length_time",
        title="Time against length",
        how_to_read="Both axes are logarithmic, so a power law is a straight line. "
        + (
            "A ring is the median, its stroke goes from quartile to quartile. The dashed line is the fitted power law, "
            "the thin one the FLOPs, scaled."
            if comparison.measured
            else "The line is the FLOPs by formula; rings of measured times come when you press Measure."
        ),
        picture="profiling_length_time",
        result=TimeByLength(comparison),
        sources=[profile, scaling.fit, costs.flops],
    )


def _memory(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_length_memory",
        title="Memory against length",
        how_to_read="The largest amount of memory that a call holds at once, without weights and input. "
        + (
            "Rings were counted by torch’s allocator, the thin line by the operating system; dashed lines follow from "
            "a formula."
            if comparison.measured
            else "All lines follow from a formula."
        ),
        picture="profiling_length_memory",
        result=MemoryByLength(comparison),
        sources=[costs.peak_memory, profile],
    )


def _parts(comparison: Comparison) -> Panel:
    return Box(
        key="profiling_length_parts",
        title="Where it goes",
        how_to_read="First the FLOPs of each part, by formula; once measured, also its milliseconds in one forward "
        "pass, by torch.profiler. Products are scores and weights × values; the softmax is a part of its own.",
        picture="profiling_length_parts",
        result=PartsByLength(comparison),
        sources=[costs.flops, scaling.crossing, profile],
    )


VIEW = View(
    title="By length",
    blocks=blocks,
    drawn=PICTURES,
    reads_instead=random_numbers,
    controls=of_lengths,
)
