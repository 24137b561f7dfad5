"""The Positions lens: what positional schemes are, why they work, and what they do in a model."""

from tfm_ui.lenses.positions import beyond, fault, model, see, table, why
from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="positions",
    title="Positions",
    state=PositionsState,
    views={
        "see": see.VIEW,
        "table": table.VIEW,
        "why": why.VIEW,
        "model": model.VIEW,
        "beyond": beyond.VIEW,
        "fault": fault.VIEW,
    },
    questions=QUESTIONS,
)
