"""What the browser draws of the Profiling lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.components.bars import BARS
from tfm_ui.components.canvas import Canvas, Content
from tfm_ui.components.lines import LINES
from tfm_ui.components.strips import STRIPS
from tfm_ui.profiling_pictures import compare, length, parts, roofline

# name -> how it is drawn, and what from
PROFILING: dict[str, tuple[Canvas, Callable[..., Content]]] = {
    "profiling_times": (STRIPS, compare.times),
    "profiling_ratios": (STRIPS, compare.ratios),
    "profiling_parameters": (LINES, compare.parameters),
    "profiling_length_time": (LINES, length.time),
    "profiling_length_memory": (LINES, length.memory),
    "profiling_length_parts": (LINES, length.parts),
    "profiling_parts_parameters": (BARS, parts.parameters),
    "profiling_parts_flops": (BARS, parts.flops),
    "profiling_parts_time": (BARS, parts.time),
    "profiling_roofline": (LINES, roofline.roof),
}
