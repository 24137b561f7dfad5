"""The Profiling lens: what a configuration costs, measured beside theory."""

from tfm_ui.lenses.profiling.compare import VIEW as COMPARE
from tfm_ui.lenses.profiling.length import VIEW as LENGTH
from tfm_ui.lenses.profiling.parts import VIEW as PARTS
from tfm_ui.lenses.profiling.questions import QUESTIONS
from tfm_ui.lenses.profiling.roofline import VIEW as ROOFLINE
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="profiling",
    title="Profiling",
    state=ProfilingState,
    views={"compare": COMPARE, "length": LENGTH, "parts": PARTS, "roofline": ROOFLINE},
    questions=QUESTIONS,
    beside="In the sidebar",
)
