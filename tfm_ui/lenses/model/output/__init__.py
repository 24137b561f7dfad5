"""The view "output": final norm, logits, temperature, softmax; the logit lens; tied and untied embeddings."""

import streamlit as st

from tfm_ui.lenses.model.other_attention import never_trained_with, while_heavy
from tfm_ui.lenses.model.output.last_modules import OutputNorm, OutputTied
from tfm_ui.lenses.model.output.lens import OutputAt, OutputLens
from tfm_ui.lenses.model.output.likeliest import Output, OutputPositions
from tfm_ui.lenses.model.output.questions import QUESTIONS
from tfm_ui.lenses.model.output.start import OutputStart
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live import passes
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures import knobs
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.panel import Columns, Note
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.fields import Number, controls_of
from tfm_ui.state.model_state import ModelState


def _elsewhere(model: ModelState, state: ModelLensState) -> Note | None:
    """Which position is shown, where the text has none that is so far behind."""
    position, text = Output(model, state).token + 1, "target text" if model.is_encoder_decoder else "text"
    sentence = f"The {text} ends before position {state.token}, so its last position, {position}, is shown."
    return Note(sentence) if position != state.token else None


def knob(model: ModelState, state: ModelLensState) -> Content:
    """The temperature's slider, which moves the pictures while it is dragged."""
    field, _ = controls_of(ModelLensState)["temperature"]
    assert isinstance(field, Number)
    slider = Knob(field.label, f"{PREFIX}temperature", state.temperature, field.low, field.high, digits=field.digits)
    return knobs.content([slider])


def _controls(model: ModelState) -> ModelLensState:
    """The position, tied or not; a button opens how many tokens; beside them the temperature's slider."""
    line = controls_line.row("line_model_output")
    controls_line.draw(ModelLensState, PREFIX, model, line, "token", "tied")
    state = controls_line.draw_more(ModelLensState, PREFIX, model, line, "top", "attention", "spread", "start_size")
    with st.container(key="model_output_knobs_place"):
        Drawing("model_output_knobs", ((model, ""), (state, PREFIX))).draw("model_output_knobs")
    return state


class OutputView(View[ModelLensState]):
    """A view of logits, which not every model gives."""

    def why_not_shown(self, model: ModelState, state: ModelLensState) -> str:
        """What every view says, and that a model gives no logits."""
        return super().why_not_shown(model, state) or model.no_logits


VIEW = OutputView(
    title="Output",
    exercise="embedding",
    shows=[
        Output,
        _elsewhere,
        OutputPositions,
        Columns([[OutputLens], [OutputAt]]),
        Columns([[OutputNorm], [OutputTied]]),
        OutputStart,
    ],
    beside={"model_output_knobs": Picture(KNOBS, knob, needs=passes.needs)},
    controls=_controls,
    running=while_heavy("Running the model, tied and untied, with a read-out after each layer"),
    never_trained=never_trained_with("tie_embeddings", (True, False)),
    questions=QUESTIONS,
)
