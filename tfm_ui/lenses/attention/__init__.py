"""The Attention lens: one head number by number, what it looks at and what it writes, and what becomes of changes."""

from tfm_ui.lenses.attention.arcs.panels import VIEW as ARCS
from tfm_ui.lenses.attention.arcs.pictures import PICTURES as ARCS_PICTURES
from tfm_ui.lenses.attention.change.panels import VIEW as CHANGE
from tfm_ui.lenses.attention.change.pictures import PICTURES as CHANGE_PICTURES
from tfm_ui.lenses.attention.contribution.panels import VIEW as CONTRIBUTION
from tfm_ui.lenses.attention.contribution.pictures import PICTURES as CONTRIBUTION_PICTURES
from tfm_ui.lenses.attention.dictionary.panels import VIEW as DICTIONARY
from tfm_ui.lenses.attention.dictionary.pictures import PICTURES as DICTIONARY_PICTURES
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.scale.panels import VIEW as SCALE
from tfm_ui.lenses.attention.scale.pictures import PICTURES as SCALE_PICTURES
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps.panels import VIEW as STEPS
from tfm_ui.lenses.attention.steps.pictures import PICTURES as STEPS_PICTURES
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
    pictures={
        **STEPS_PICTURES,
        **ARCS_PICTURES,
        **CONTRIBUTION_PICTURES,
        **CHANGE_PICTURES,
        **SCALE_PICTURES,
        **DICTIONARY_PICTURES,
    },
)
