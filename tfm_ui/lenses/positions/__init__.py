"""The Positions lens: what positional schemes are, why they work, and what they do in a model."""

from tfm_ui.lenses.positions.beyond import panels as beyond
from tfm_ui.lenses.positions.fault import panels as fault
from tfm_ui.lenses.positions.model import panels as model
from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.see import panels as see
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.table import panels as table
from tfm_ui.lenses.positions.why import panels as why
from tfm_ui.page.lens import Lens

LENS = Lens(
    name="positions",
    title="Positions",
    state=PositionsState,
    views={
        "see": see.VIEW,
        "why": why.VIEW,
        "model": model.VIEW,
        "beyond": beyond.VIEW,
        "fault": fault.VIEW,
        "table": table.VIEW,
    },
    questions=QUESTIONS,
)
