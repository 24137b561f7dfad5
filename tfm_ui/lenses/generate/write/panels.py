"""The view "write": a prompt is continued, token after token."""

import streamlit as st

from tfm_core import beam_search, draw, generate
from tfm_core.generation.sampling import bar, random_number
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.state import PREFIX, GenerateState
from tfm_ui.lenses.generate.unable import unable
from tfm_ui.lenses.generate.write.beams import PICTURES as OF_BEAMS
from tfm_ui.lenses.generate.write.beams import Searched, searched
from tfm_ui.lenses.generate.write.files import files_of
from tfm_ui.lenses.generate.write.numbers import written
from tfm_ui.lenses.generate.write.pictures import PICTURES
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Panel
from tfm_ui.state.model_state import ModelState

OF_METHOD = {"sample": ["steps", "seed", "full"], "greedy": ["steps", "full"], "beam": ["steps", "width"]}


def blocks(model: ModelState, state: GenerateState) -> list[Block | None]:
    """The text and its steps."""
    if reason := courses.why_not_write(model):
        return unable(reason)
    if state.method == "beam":
        return [_beams_panel(searched(model, state))]
    shown = written(model, state)
    return [
        Box(
            key="generate_write",
            title="Token by token",
            how_to_read="Click a token, or use ◀ and ▶, to see how it was chosen: logits, divided by the temperature, "
            "through the softmax; what the cuts leave; and the random number on the bar of what is left. Click another "
            "token in the list to put it there: both texts are then side by side.",
            shape=f"vocabulary {model.config.vocab_size:,}",
            picture="generate_write",
            result=shown,
            sources=[draw, bar, random_number, generate],
            files=files_of(shown),
        ),
    ]


def _beams_panel(shown: Searched) -> Panel:
    return Box(
        key="generate_beams",
        title="Beam search",
        how_to_read="A column per step, a row per text that was followed, the best on top. Lines lead to the text that "
        "each goes on from; what no text goes on from any more is pale. Numbers are sums of log probabilities.",
        shape=f"steps × beams = {len(shown.search.steps)} × {shown.width}",
        picture="generate_beams",
        result=shown,
        sources=[beam_search],
    )


def _controls(model: ModelState) -> GenerateState:
    """How tokens are chosen; behind a button how many; beside them the sliders of sampling."""
    line = controls_line.row("line_generate_write")
    method = controls_line.draw(GenerateState, PREFIX, model, line, "method").method
    state = controls_line.draw_more(GenerateState, PREFIX, model, line, *OF_METHOD[method])
    with st.container(key="generate_knobs_place"):
        Drawing("generate_knobs", ((model, ""), (state, PREFIX))).draw("generate_knobs")
    return state


VIEW = View(
    title="Write",
    blocks=blocks,
    drawn=PICTURES | OF_BEAMS,
    controls=_controls,
)
