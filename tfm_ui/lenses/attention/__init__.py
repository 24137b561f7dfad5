"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from tfm_ui.lenses.attention import arcs, change, contribution, dictionary, scale, steps
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="attention",
    title="Attention",
    state=AttentionState,
    views={
        "steps": steps.VIEW,
        "arcs": arcs.VIEW,
        "contribution": contribution.VIEW,
        "change": change.VIEW,
        "scale": scale.VIEW,
        "dictionary": dictionary.VIEW,
    },
    questions=QUESTIONS,
)
