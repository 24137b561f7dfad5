"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from tfm_ui.lenses.attention.arcs.panels import VIEW as ARCS
from tfm_ui.lenses.attention.change.panels import VIEW as CHANGE
from tfm_ui.lenses.attention.contribution.panels import VIEW as CONTRIBUTION
from tfm_ui.lenses.attention.dictionary.panels import VIEW as DICTIONARY
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.scale.panels import VIEW as SCALE
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps.panels import VIEW as STEPS
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="attention",
    title="Attention",
    state=AttentionState,
    views={
        "steps": STEPS,
        "arcs": ARCS,
        "contribution": CONTRIBUTION,
        "change": CHANGE,
        "scale": SCALE,
        "dictionary": DICTIONARY,
    },
    questions=QUESTIONS,
)
