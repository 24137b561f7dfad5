"""The Positions lens: what positional schemes are, why they work, and what they do in a model."""

from tfm_ui.lenses.positions import controls
from tfm_ui.lenses.positions.beyond import panels as beyond
from tfm_ui.lenses.positions.beyond import pictures as beyond_pictures
from tfm_ui.lenses.positions.fault import panels as fault
from tfm_ui.lenses.positions.fault import pictures as fault_pictures
from tfm_ui.lenses.positions.model import panels as model
from tfm_ui.lenses.positions.model import pictures as model_pictures
from tfm_ui.lenses.positions.questions import QUESTIONS
from tfm_ui.lenses.positions.see import panels as see
from tfm_ui.lenses.positions.see import pictures as see_pictures
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.table import panels as table
from tfm_ui.lenses.positions.why import panels as why
from tfm_ui.lenses.positions.why import pictures as why_pictures
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
    pictures=controls.PICTURES
    | see_pictures.PICTURES
    | why_pictures.PICTURES
    | model_pictures.PICTURES
    | beyond_pictures.PICTURES
    | fault_pictures.PICTURES,
)
