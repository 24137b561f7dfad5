"""The view "kept": what the cache stores, the same text without it, and what both cost."""

from functools import partial

import streamlit as st

from tfm_core import generate
from tfm_core.generation.costs import pass_flops, step_flops
from tfm_core.generation.course import context_begin
from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.cache import KeyValueCache
from tfm_core.model.stored import Stored
from tfm_core.profiling.decoding import measure_decoding
from tfm_ui.lenses.generate import courses
from tfm_ui.lenses.generate.kept import measure_bar, measured
from tfm_ui.lenses.generate.kept.costs import costs
from tfm_ui.lenses.generate.kept.numbers import Kept, kept
from tfm_ui.lenses.generate.kept.pictures import PICTURES
from tfm_ui.lenses.generate.kept.same import compared, same, without_cache
from tfm_ui.lenses.generate.state import BEAM_IS_GREEDY, PREFIX, GenerateState
from tfm_ui.lenses.generate.unable import unable
from tfm_ui.page import controls_line
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


def blocks(model: ModelState, state: GenerateState) -> list[Block | None]:
    """What is stored, the check, and the costs."""
    if reason := courses.why_not_write(model):
        return unable(reason)
    note = Note(BEAM_IS_GREEDY, "plain") if state.method == "beam" else None
    return [_stored(kept(model, state)), note, _same(model, state), _costs(model, state)]


def _stored(shown: Kept) -> Panel:
    config = shown.model.config
    rows = shown.lengths[-1] if shown.lengths else 0
    return Box(
        key="generate_kept",
        title="What is kept",
        how_to_read="A row per token that has been read, the prompt’s first. Drag the slider: each step adds one row "
        "to the keys and one to the values of every layer; this is one layer. Rows that are there never change, so "
        "each token is read once.",
        shape=f"tokens × d_model = {formats.count(rows)} × {config.d_model} at last, twice",
        picture="generate_kept",
        result=shown,
        sources=[Stored, MultiHeadAttention.forward, KeyValueCache, context_begin],
    )


def _same(model: ModelState, state: GenerateState) -> Panel:
    return Box(
        key="generate_kept_same",
        title="The same text without the cache",
        how_to_read="Each step once more by a pass over the whole text before it. Both ways add the same numbers, but "
        "not always in the same order, so that their last digits differ.",
        picture="generate_kept_same",
        result=same(model, state),
        slow=True,
        sources=[generate, without_cache, compared],
    )


def _costs(model: ModelState, state: GenerateState) -> Panel:
    shown = costs(model, state)
    return Box(
        key="generate_kept_costs",
        title="What one more token costs",
        how_to_read="Lines are by formula, of this shape. A multiply-add counts as two operations (FLOP); a pass "
        "computes the logits of each token that it reads. The estimate is the Profiling lens’s. Measured is a whole "
        "step, pass and draw; dots are bytes that were counted.",
        picture="generate_kept_costs",
        result=shown,
        slow=True,
        tools=partial(measure_bar.draw, measured.plan(model), state.run),
        sources=[step_flops, pass_flops, KeyValueCache.memory_of, measure_decoding],
    )


def _controls(model: ModelState) -> GenerateState:
    line = controls_line.row("line_generate_kept")
    controls_line.draw(GenerateState, PREFIX, model, line, "layer", "full")
    state = controls_line.draw_more(GenerateState, PREFIX, model, line, "method", "steps", "seed")
    if not courses.why_not_write(model):
        with st.container(key="generate_kept_knobs_place"):
            Drawing("generate_kept_knobs", ((model, ""), (state, PREFIX))).draw("generate_kept_knobs")
    return state


def _running(model: ModelState, state: GenerateState) -> str:
    """What is said while the text is written once more without the cache."""
    heavy = not courses.why_not_write(model) and (model.is_heavy or state.steps > 100)
    return "Writing the text with the cache and without it" if heavy else ""


VIEW = View(
    title="What is kept",
    blocks=blocks,
    drawn=PICTURES,
    controls=_controls,
    running=_running,
)
