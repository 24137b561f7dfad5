"""The Clinic: which mistake is in a mask, in a tensor, in code."""

from tfm_ui.lenses.clinic.questions import QUESTIONS
from tfm_ui.lenses.clinic.state import VIEWS, ClinicState
from tfm_ui.page.lens import LeadsOn, Lens, views_of

LENS = Lens(
    name="clinic",
    title="Clinic",
    state=ClinicState,
    group="check",
    leads_on=LeadsOn(
        "profiling", "Profiling", "it measures what a model costs: parameters, time, memory and operations."
    ),
    views=views_of(__name__, VIEWS),
    questions=QUESTIONS,
)
