"""The Profiling lens's own controls above a view."""

from streamlit.delta_generator import DeltaGenerator

from tfm_ui import controls_line
from tfm_ui.model_state import ModelState
from tfm_ui.pictures import States
from tfm_ui.profiling_lens.state import PREFIX, ProfilingState


def boxes(model: ModelState, where: DeltaGenerator, *names: str) -> ProfilingState:
    """Draw these controls, and return what all of the lens's controls hold."""
    return controls_line.boxes(ProfilingState, PREFIX, ProfilingState.limits(model), where, *names)


def states(model: ModelState, state: ProfilingState) -> States:
    """What the lens's pictures depend on."""
    return ((model, ""), (state, PREFIX))
