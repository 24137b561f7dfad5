"""The Profiling lens: what a configuration costs, measured beside theory."""

from tfm_ui.lenses.profiling.compare.panels import VIEW as COMPARE
from tfm_ui.lenses.profiling.length.panels import VIEW as LENGTH
from tfm_ui.lenses.profiling.parts.panels import VIEW as PARTS
from tfm_ui.lenses.profiling.questions import QUESTIONS
from tfm_ui.lenses.profiling.roofline.panels import VIEW as ROOFLINE
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
