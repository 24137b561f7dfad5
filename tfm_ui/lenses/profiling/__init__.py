"""The Profiling lens: what a configuration costs, measured beside theory."""

from tfm_ui.lenses.profiling.questions import QUESTIONS
from tfm_ui.lenses.profiling.state import VIEWS, ProfilingState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="profiling",
    title="Profiling",
    group="check",
    state=ProfilingState,
    leads_on=LeadsOn("learn", "Learn", "it has lessons that lead through these pages, step by step."),
    views=views_of(__name__, VIEWS),
    questions=QUESTIONS,
    beside="In the sidebar",
    measures=measures_of(__name__),
)
