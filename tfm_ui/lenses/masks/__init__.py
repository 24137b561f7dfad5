"""The Masks lens: who may see whom, composed, painted, obeyed and tested."""

from tfm_ui.lenses.masks.questions import QUESTIONS
from tfm_ui.lenses.masks.state import VIEWS, MasksState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="masks",
    title="Masks",
    state=MasksState,
    leads_on=LeadsOn("model", "Model", "it shows all that surrounds attention, from the first vectors to the output."),
    views=views_of(__name__, VIEWS),
    questions=QUESTIONS,
    measures=measures_of(__name__),
)
