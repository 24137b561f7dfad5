"""The Training lens: small transformers learn tasks with known answers, while one looks on."""

from tfm_ui.lenses.training.state import VIEWS, TrainingState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="training",
    title="Training",
    state=TrainingState,
    leads_on=LeadsOn("clinic", "Clinic", "it finds which mistake is in a mask, in a tensor, or in your code."),
    views=views_of(__name__, VIEWS),
    measures=measures_of(__name__),
)
