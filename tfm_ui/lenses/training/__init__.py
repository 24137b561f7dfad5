"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from tfm_ui.lenses.training.state import VIEWS, TrainingState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    leads_on=LeadsOn(
        "profiling", "Profiling", "it measures what a model costs: parameters, time, memory and operations."
    ),
    views=views_of(__name__, VIEWS),
    measures=measures_of(__name__),
)
