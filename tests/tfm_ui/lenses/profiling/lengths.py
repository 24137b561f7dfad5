"""A comparison over lengths, whose measurements are made up."""

from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling.comparison import Comparison
from tfm_ui.lenses.profiling.plan import plan_of
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(d_model=64, num_heads=4, d_ff=300)
STATE = ProfilingState(view="length", longest=1024)


def comparison(report=plausible, *, state=STATE, **how) -> Comparison:
    plan = plan_of(MODEL, state)
    assert plan is not None
    return Comparison.of(plan, report(plan, **how) if report else None)
