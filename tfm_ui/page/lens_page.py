"""Draws the page of a lens: header, question, the knobs of the visible view, its main picture, and what refines it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial
from html import escape
from typing import Any

import streamlit as st

from tfm_ui.live import passes
from tfm_ui.live.cache import kept_together
from tfm_ui.live.memory import is_large
from tfm_ui.page import controls, controls_line, follow, frame, header, question_row, words
from tfm_ui.page.lens import Lens, View
from tfm_ui.page.panels import draw_blocks
from tfm_ui.page.spoken import Spoken
from tfm_ui.pictures.panel import Block, panels_in
from tfm_ui.pictures.registry import States, whole_query_of
from tfm_ui.state.fields import controls_of
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.turn import turn_to_compute

TEXT = "Text"  # the label of what an editor edits
Row = Callable[[Lens, ModelState, LensState, str], object]  # draws the row of the question, or of a lesson's step


def show(lens: Lens, row: Row = question_row.draw) -> None:
    """Draw the lens's page.

    Args:
        lens: the lens.
        row: draws the row below the header.
    """
    model = frame.model()
    controls.open_link(lens.state, lens.prefix, lens.limits(model))
    question_row.follow_link(lens, model)
    # Without controls nothing runs a lens alone, and a click in its picture may lead to another page: the whole page
    # then has to run, as otherwise Streamlit drops the model's parameters from the address.
    has_controls = set(controls_of(lens.state)) > set(controls_of(LensState))
    show_view = partial(_show_view, lens, row)
    if has_controls:
        frame.fragment(lens.name, show_view)()
    else:
        show_view(model)


@kept_together()
def _show_view(lens: Lens, row: Row, model: ModelState) -> None:
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
        way_in=lens.way_in,
    )
    question = st.container()
    with st.container(key="desk"):
        if view.editor:
            with st.container(key="editor"):
                view.editor(model)
            # What a link says of a control is known when it has been drawn.
            state = controls.current(lens.state, lens.prefix, lens.state.limits(model))
        if reason := _why_not_shown(view, model, state):
            with question:
                row(lens, model, state, reason)
            st.info(escape_markdown(reason), icon=":material/edit:")
            return
        if view.controls:
            state = _knobs(lens, view, model, partial(header.draw_choice, lens.choices(name), name, opens))
        with question:  # only now: a link's values are known when their controls have been drawn
            row(lens, model, state, "")
        running = st.container(key="running")  # says that it is, over the page and not in its flow
        with running, _waiting(view, model, state):
            says, _, slow = words.names(lens)
            names = [says, slow] if words.has_slow(panels_in(view.shown(model, state))) else [says]
            spoken = Spoken.asked(names, whole_query_of(((model, ""), (state, lens.prefix))))
        if view.tells_what_is_read:
            _what_is_read(view, model, state, spoken)
        with place:
            if view.badge:
                header.badge(spoken.plain("badge", partial(view.badge, model, state)))
            elif view.uses_model:
                of_pass = partial(passes.run, model) if view.reads_pass else lambda: None
                header.facts(model, of_pass, spoken, beside=lens.beside)
            else:
                header.no_model()
        with running, _waiting(view, model, state):
            blocks = _computed(view, model, state, spoken)
        _pictures(lens, blocks, ((model, ""), (state, lens.prefix)), spoken)


def _why_not_shown(view: View[Any], model: ModelState, state: LensState) -> str:
    """Why there is nothing to show, in a sentence for the reader; "" if there is."""
    typed_above = [TEXT] if view.editor else []
    return (frame.why_not_run(model, typed_above) if view.uses_model else "") or view.why_not_shown(model, state)


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


def _what_is_read(view: View[Any], model: ModelState, state: LensState, spoken: Spoken) -> None:
    """Say it above the picture, in a line that is there even where nothing is said: so no picture moves."""
    line = cache(partial(words.of_what_is_read, view, model, state))
    instead = spoken.html("read_instead", lambda: view.reads_instead(model, state))
    tokens = spoken.tokens("reads", lambda: line()["reads"]["tokens"])
    signs = escape(spoken.plain("signs", lambda: line()["signs"]["text"][0]))
    with st.container(key="reads"):
        st.html(
            f'<div class="{"reads speaks" if view.may_read_another else "reads"}">'
            f'<p class="note" data-words="read_instead">{instead}</p>'
            f'<div class="tokens" tabindex="0" role="group" aria-label="What is read" data-words="reads">{tokens}</div>'
            f'<p class="signs" data-words="signs">{signs}</p></div>'
        )


def _pictures(lens: Lens, blocks: Sequence[Block | None], states: States, spoken: Spoken) -> None:
    """Draw the main picture, and below it what refines it."""
    stage, below = st.container(key="stage"), st.container(key="below")
    first, *rest = blocks
    with stage:
        draw_blocks([first], states, spoken)
    with below:
        draw_blocks(rest, states, spoken, first=1)
    follow.let_words_follow(words.names(lens), panels_in(blocks), states, spoken)


def _waiting(view: View[Any], model: ModelState, state: LensState) -> AbstractContextManager[None]:
    """Say, while the block runs, that it takes seconds, if it does."""
    text = view.running(model, state)
    return st.spinner(text, show_time=True) if text else nullcontext()


def _computed(view: View[Any], model: ModelState, state: LensState, spoken: Spoken) -> Sequence[Block | None]:
    """The view's blocks; if computing what they say takes seconds, it is computed now, while that is said."""
    large = is_large(view.needs(model, state))
    with turn_to_compute(heavy=large):
        blocks = view.shown(model, state)
        if large or view.running(model, state):
            for panel in panels_in(blocks):
                spoken.plain(f"said_{panel.key}", panel.sentence)  # a panel computes nothing before it is asked
        return blocks
