"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.state import VIEWS, AttentionState
from tfm_ui.page.lens import LeadsOn, Lens, measures_of, views_of

LENS = Lens(
    name="attention",
    title="Attention",
    state=AttentionState,
    leads_on=LeadsOn(
        "positions", "Positions", "it shows how attention, which compares vectors, is told where each token stands."
    ),
    views=views_of(__name__, VIEWS),
    questions=QUESTIONS,
    measures=measures_of(__name__),
)
