"""The Positions lens: what positional schemes are, why they work, and what they do in a model."""

from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.state import VIEWS, PositionsState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="positions",
    title="Positions",
    state=PositionsState,
    leads_on=LeadsOn("masks", "Masks", "it shows how a mask decides which tokens a token may look at."),
    views=views_of(__name__, VIEWS),
    questions=QUESTIONS,
    measures=measures_of(__name__),
)
