"""The view "look": the replay of a text moves heads, arcs and distribution together."""

from tfm_core import MultiHeadAttention, generate
from tfm_core.model.scaled_dot_product import weights_alone
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.look.numbers import looked, rows_of
from tfm_ui.lenses.generate.look.pictures import PICTURES
from tfm_ui.lenses.generate.state import BEAM_IS_GREEDY, PREFIX, GenerateState
from tfm_ui.lenses.generate.unable import unable
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note
from tfm_ui.state.model_state import ModelState

CAVEAT = (
    "Weights say where a head looked, not why a token was written: what it gathered there passes through all layers."
)


def blocks(model: ModelState, state: GenerateState) -> list[Block | None]:
    """All heads at the step on screen."""
    if reason := courses.why_not_write(model):
        return unable(reason)
    shown = looked(model, state)
    return [
        Box(
            key="generate_look",
            title="Where each token looked",
            how_to_read="The amber token was written at the token before it, whose row of weights is shown as it was. "
            "The text is coloured by the chosen head’s weights, arcs show its largest; below is a row for each head. "
            f"Click a row to choose its head. {CAVEAT}",
            shape=f"layers × heads = {model.num_layers} × {model.num_heads}",
            picture="generate_look",
            result=shown,
            sources=[rows_of, weights_alone, MultiHeadAttention.forward, generate],
        ),
        Note(BEAM_IS_GREEDY, "plain") if state.method == "beam" else None,
    ]


def _controls(model: ModelState) -> GenerateState:
    """How the text is written, and the head that is looked at; how much is written stands behind a button."""
    line = controls_line.row("line_generate_look")
    controls_line.draw(GenerateState, PREFIX, model, line, "method", "layer", "head")
    return controls_line.draw_more(GenerateState, PREFIX, model, line, "steps", "seed", "full")


VIEW = View(
    title="Attention",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
)
