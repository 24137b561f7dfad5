"""What the browser draws of the Profiling lens, each a function of the model's state and the lens's."""

from collections.abc import Callable

from tfm_ui.lenses.profiling.asked import asked
from tfm_ui.lenses.profiling.compare import pictures as compare
from tfm_ui.lenses.profiling.length import pictures as length
from tfm_ui.lenses.profiling.parts import pictures as parts
from tfm_ui.lenses.profiling.roofline import pictures as roofline
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures.bars import BARS
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.lines import LINES
from tfm_ui.pictures.strips import STRIPS
from tfm_ui.state.model_state import ModelState

Drawn = Callable[[ModelState, ProfilingState], Content]

# view -> name -> how it is drawn, and what from
VIEWS: dict[str, dict[str, tuple[Canvas, Drawn]]] = {
    "compare": {
        "profiling_times": (STRIPS, compare.times),
        "profiling_ratios": (STRIPS, compare.ratios),
        "profiling_parameters": (LINES, compare.parameters),
    },
    "length": {
        "profiling_length_time": (LINES, length.time),
        "profiling_length_memory": (LINES, length.memory),
        "profiling_length_parts": (LINES, length.parts),
    },
    "parts": {
        "profiling_parts_parameters": (BARS, parts.parameters),
        "profiling_parts_flops": (BARS, parts.flops),
        "profiling_parts_time": (BARS, parts.time),
    },
    "roofline": {"profiling_roofline": (LINES, roofline.roof)},
}


def _footed(draw: Drawn, view: str) -> Drawn:
    """With where and how it was measured as its foot, which all of its files say."""

    def content(model: ModelState, state: ProfilingState) -> Content:
        header, numbers = draw(model, state)
        seen = asked(model, state, view)
        return {**header, "foot": seen.foot if seen else ""}, numbers

    return content


PROFILING = {
    name: (canvas, _footed(draw, view)) for view, pictures in VIEWS.items() for name, (canvas, draw) in pictures.items()
}
