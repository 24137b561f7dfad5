"""The view "sentences": an encoder's last hidden states, its pooled output, and how alike sentences are."""

from tfm_ui.lenses.model.encoders import called, with_pooler
from tfm_ui.lenses.model.other_attention import other_attention
from tfm_ui.lenses.model.sentences.panels import Sentences, SentencesPooled, SentencesSpecial
from tfm_ui.lenses.model.sentences.questions import QUESTIONS
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.page import controls, controls_line
from tfm_ui.page.lens import View, nothing_named
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.state.model_state import ModelState


def _shown_instead(model: ModelState, state: ModelLensState) -> Note | None:
    """A note that Lab BERT is shown, and why."""
    if with_pooler(model) is model:
        return None
    return Note(
        f"{called(model)} is no trained encoder with a pooled output, so Lab BERT is shown. MiniLM can be chosen in "
        "the sidebar where it is installed."
    )


def _ours(model: ModelState, state: ModelLensState) -> str:
    """What the map is made from."""
    return "Made from the sentences that a button opens; what stands below it is made from the sidebar’s text."


def _controls(model: ModelState) -> ModelLensState:
    """A button opens the box for the sentences."""
    line = controls_line.row("line_model_sentences")
    controls.draw(ModelLensState, "lines", controls_line.more(line, "Sentences"), prefix=PREFIX)
    return controls.current(ModelLensState, PREFIX, ModelLensState.limits(model))


VIEW: View[ModelLensState] = View(
    title="Output",
    tab="output",
    choice="Sentences",
    shows=[Sentences, _shown_instead, Columns([[SentencesPooled], [SentencesSpecial]])],
    controls=_controls,
    reads=nothing_named,
    reads_instead=_ours,
    never_trained=lambda model, state: other_attention(with_pooler(model), state),
    questions=QUESTIONS,
)
