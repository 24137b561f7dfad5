"""The Heads lens: all heads of all layers as a grid, and one head large."""

from tfm_ui.lenses.heads.panels import blocks
from tfm_ui.lenses.heads.pictures import PICTURES
from tfm_ui.lenses.heads.questions import QUESTIONS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page.lens import Lens, View

LENS = Lens(
    name="heads",
    title="Heads",
    state=HeadsState,
    views={
        "heads": View(
            title="All heads",
            blocks=blocks,
            drawn=PICTURES,
            controls=("kind", "layer", "head", "scale"),
            reads_pass=True,
        )
    },
    questions=QUESTIONS,
)
