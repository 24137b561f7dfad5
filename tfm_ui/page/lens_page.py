"""Draws the page of a lens: header, question, the knobs of the visible view, its main picture, and what refines it."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from tfm_ui.live import passes
from tfm_ui.live.cache import kept_together
from tfm_ui.live.memory import is_large
from tfm_ui.page import controls, controls_line, follow, frame, header, question_row, words
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.panels import draw_blocks
from tfm_ui.pictures.panel import Block, panels_in
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.glossary import explained
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.turn import turn_to_compute


def show(lens: Lens) -> None:
    """Draw the lens's page."""
    model = frame.model()
    controls.open_link(lens.state, lens.prefix, lens.limits(model))
    question_row.follow_link(lens, model)
    # Without controls nothing runs a lens alone, and a click in its picture may lead to another page: the whole page
    # then has to run, as otherwise Streamlit drops the model's parameters from the address.
    has_controls = set(controls_of(lens.state)) > set(controls_of(LensState))
    show_view = partial(_show_view, lens)
    if has_controls:
        frame.fragment(lens.name, show_view)()
    else:
        show_view(model)


@kept_together()
def _show_view(lens: Lens, model: ModelState) -> None:
    """Draw the visible view. A change of the lens's controls, or of the model's seed, runs only this function."""
    controls.apply_requested()
    follow.nothing_follows()  # until the pictures are there
    state = controls.current(lens.state, lens.prefix, lens.state.limits(model))
    view, name = lens.view_of(state), getattr(state, "view", "")
    opens = partial(question_row.open_view, lens, model, state)
    place = header.draw(
        lens.heading or lens.title,
        lens.tabs,
        lens.tab_of(name),
        opens,
        lens.lead,
        is_way_back=bool(view.within),
    )
    question = st.container()
    with st.container(key="desk"):
        if reason := _why_not_shown(view, model, state):
            with question:
                question_row.draw(lens, model, state, reason)
            st.info(escape_markdown(reason), icon=":material/edit:")
            return
        if view.controls:
            state = _knobs(lens, view, model, partial(header.draw_choice, lens.choices(name), name, opens))
        with question:  # only now: a link's values are known when their controls have been drawn
            question_row.draw(lens, model, state)
        if view.may_read_another:
            _what_is_read(view.reads_instead(model, state))
        with place:
            if view.badge:
                header.badge(view.badge(model, state))
            elif view.uses_model:
                header.facts(model, passes.run(model) if view.reads_pass else None, beside=lens.beside)
            else:
                header.no_model()
        _pictures(lens, view, model, state)


def _why_not_shown(view: View[Any], model: ModelState, state: LensState) -> str:
    """Why there is nothing to show, in a sentence for the reader; "" if there is."""
    return (frame.why_not_run(model) if view.uses_model else "") or view.why_not_shown(model, state)


def _knobs(lens: Lens, view: View[Any], model: ModelState, draw_choice: Callable[[], None]) -> LensState:
    """Draw the row of controls, which begins with the choice of views under the same tab; return the lens's state."""
    with st.container(horizontal=True, vertical_alignment="center", wrap=False, gap="small", key="knobs"):
        draw_choice()
        if callable(view.controls):
            state: LensState = view.controls(model)
            return state
        line = controls_line.row(view.line or f"line_{lens.name}")
        state = controls_line.draw(lens.state, lens.prefix, model, line, *view.controls)
        return controls_line.draw_more(lens.state, lens.prefix, model, line, *view.more) if view.more else state


def _what_is_read(instead: str) -> None:
    """Say it above the picture, in a line that is there even where nothing is said: so no picture moves."""
    with st.container(key="read_instead"):
        st.html(f'<p class="note" data-words="read_instead">{explained(instead)}</p>')


def _pictures(lens: Lens, view: View[Any], model: ModelState, state: LensState) -> None:
    """Draw the main picture, and below it what refines it."""
    stage, below = st.container(key="stage"), st.container(key="below")
    first, *rest = blocks = _computed(view, model, state)
    states = ((model, ""), (state, lens.prefix))
    with stage:
        draw_blocks([first], states)
    with below:
        draw_blocks(rest, states, first=1)
    follow.let_words_follow(words.names(lens), panels_in(blocks), states)


def _computed(view: View[Any], model: ModelState, state: LensState) -> Sequence[Block | None]:
    """The view's blocks; if computing them takes seconds, that is said meanwhile, over the page and not in its flow."""
    text, large = view.running(model, state), is_large(view.needs(model, state))
    with (
        st.container(key="running"),
        st.spinner(text, show_time=True) if text else st.container(),
        turn_to_compute(heavy=large),
    ):
        blocks = view.shown(model, state)
        if text or large:
            for panel in panels_in(blocks):
                panel.sentence()  # a panel computes nothing before it is asked
        return blocks
