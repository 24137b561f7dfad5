"""The view "surprise": how surprising a text is to the model, token by token."""

import streamlit as st

from tfm_core import surprise
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.surprise.numbers import Along, fewest_for_half, surprising
from tfm_ui.lenses.generate.surprise.pictures import PICTURES
from tfm_ui.lenses.generate.surprise.scored import scored
from tfm_ui.lenses.generate.surprise.sides import OTHER_TEXT, SHORT_MEMORY, why_not_score
from tfm_ui.lenses.generate.unable import unable
from tfm_ui.page import controls, controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: GenerateState) -> list[Block | None]:
    """The text, and the same over its places."""
    if reason := why_not_score(model):
        return unable(reason)
    shown = surprising(model, state)
    count = formats.plural(sum(side.scored.count for side in shown.sides), "token")
    return [
        Box(
            key="generate_surprise",
            title="How surprising each token is",
            how_to_read="The darker a token, the less the model expected it after the text before it; in dark mode, "
            "the lighter. Surprise is −log₂ of its probability, in bits. Point at a token, or walk with the arrow "
            "keys, to see what was expected in its place; a click keeps it.",
            shape=f"{count} · {formats.count(model.config.vocab_size)} probabilities each",
            picture="generate_surprise",
            result=shown,
            sources=[surprise, scored],
        ),
        Box(
            key="generate_surprise_places",
            title="Along the text",
            how_to_read="Left, the surprise of each token. Right, the perplexity of the text from its beginning up to "
            "each token: 2 to the power of the mean surprise so far.",
            picture="generate_surprise_places",
            result=Along(shown),
            sources=[scored, fewest_for_half],
        ),
    ]


def _controls(model: ModelState) -> GenerateState:
    """What stands beside; with it the other text, or how much is remembered."""
    line = controls_line.row("line_generate_surprise")
    state = controls_line.draw(GenerateState, PREFIX, model, line, "against")
    if state.against == OTHER_TEXT:
        controls.draw(GenerateState, "other", controls_line.more(line, "Text B"), prefix=PREFIX)
        state = controls.current(GenerateState, PREFIX, GenerateState.limits(model))
    if state.against == SHORT_MEMORY and not why_not_score(model):
        with st.container(key="generate_surprise_knobs_place"):
            Drawing("generate_surprise_knobs", ((model, ""), (state, PREFIX))).draw("generate_surprise_knobs")
    return state


VIEW = View(
    title="Surprise",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
)
