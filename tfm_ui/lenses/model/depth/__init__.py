"""The view "depth": signals and gradients through many layers, the residual stream, and dropout."""

from tfm_ui.lenses.model.depth.live import StreamLengths, TrainingMode
from tfm_ui.lenses.model.depth.questions import QUESTIONS
from tfm_ui.lenses.model.depth.wirings import Alike, Wirings
from tfm_ui.lenses.model.other_attention import other_attention
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats
from tfm_ui.text.token_row import Text


def _about(model: ModelState, state: ModelLensState) -> Note | None:
    """What the four wirings read, where that is not all that the sidebar’s model reads."""
    count = len(Wirings(model, state).ids)
    cut = (
        f"Only the first {count} tokens are read here, so that 48 layers stay quick."
        if len(model.source_tokens.pieces) > count
        else ""
    )
    alone = (
        "These layers are a single stack, which reads the first text and has an embedding of its own: where a decoder "
        "looks across is left out."
        if model.is_encoder_decoder
        else ""
    )
    return Note(" ".join(filter(None, (cut, alone)))) if cut or alone else None


def _read(model: ModelState, state: ModelLensState) -> list[Text]:
    """What the four wirings read: the beginning of the text, without padding."""
    return [Text(model.source_tokens).first(len(Wirings(model, state).ids))]


def _running(model: ModelState, state: ModelLensState) -> str:
    """What is said while models run that take seconds."""
    heavy = model.is_heavy or model.d_model * state.depth > 2000
    return f"Sending the text through {formats.plural(state.depth, 'layer')}, wired in four ways" if heavy else ""


VIEW = View(
    title="Depth",
    exercise="layer-norm",
    shows=[Wirings, _about, Alike, StreamLengths, TrainingMode],
    controls=("depth", "stack", "layer", "head", "token"),
    more=("depth_dropout", "attention"),
    line="line_model_depth",
    running=_running,
    reads=_read,
    never_trained=other_attention,
    questions=QUESTIONS,
)
