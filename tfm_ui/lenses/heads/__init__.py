"""The Heads lens: all heads of all layers as a grid, and one head large."""

from tfm_ui.lenses.heads.panels import Head, Heads, Numbers
from tfm_ui.lenses.heads.questions import QUESTIONS
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.page.lens import Lens, View
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState

NO_EXPLANATION = (
    "A weight says where a head looks, and not why Lab GPT says what it says: Attention shows what a head takes from "
    "there, under “Contribution”, and what becomes of the answer without it, under “Change it”."
)


def _heads(model: ModelState, state: HeadsState) -> Columns:
    """The overview beside the head."""
    return Columns([[Heads(model, state)], [Head(model, state)]], (9, 11) if model.num_heads <= 8 else (1, 1))


def _no_explanation(model: ModelState, state: HeadsState) -> Note | None:
    return Note(NO_EXPLANATION, "plain") if model.is_lab_gpt else None


LENS = Lens(
    name="heads",
    title="Heads",
    state=HeadsState,
    views={
        "heads": View(
            title="All heads",
            shows=[_heads, _no_explanation, Numbers],
            also=[Heads, Head],
            controls=("kind", "layer", "head", "scale"),
            reads_pass=True,
        )
    },
    questions=QUESTIONS,
)
