"""Draws the page of a lens: the title that all pages have, the visible view, and the questions."""

from collections.abc import Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.page import controls, controls_line, frame
from tfm_ui.page.box import Box
from tfm_ui.page.lens import Lens, S, View
from tfm_ui.page.panels import draw_blocks, draw_panel
from tfm_ui.pictures.panel import Block, Panel
from tfm_ui.state.fields import controls_of
from tfm_ui.state.model_state import ModelState


def show(lens: Lens) -> None:
    """Draw the lens's page."""
    model = frame.model()
    controls.open_link(lens.state, lens.prefix, lens.state.limits(model))
    this_pass = frame.run(model)
    frame.title(lens.heading or lens.title, this_pass, beside=lens.beside)
    if lens.lead:
        st.html(f'<p class="lead">{lens.lead}</p>')
    # Without controls nothing runs a lens alone, and a click in its picture may lead to another page: the whole page
    # then has to run, as otherwise Streamlit drops the model's parameters from the address.
    (frame.fragment(lens.name, _show_view) if controls_of(lens.state) else _show_view)(lens, model)


def _show_view(lens: Lens, model: ModelState) -> None:
    """Draw the visible view. A change of the lens's controls runs only this function."""
    pills = st.container()
    if not frame.asks_for_text(model):
        state = controls.current(lens.state, lens.prefix)
        if len(lens.views) > 1:
            state = controls_line.draw(lens.state, lens.prefix, model, st.container(key="view"), "view")
        view = lens.view_of(state)
        (_draw_in_layout if view.layout else _draw)(lens, view, model)
    with pills:
        frame.questions(lens.questions, lens.state, lens.prefix)


def _draw(lens: Lens, view: View[Any], model: ModelState) -> None:
    boxes = {view.inside: Box.of(view.inside, st.container())} if view.inside else {}
    with boxes[view.inside].inside if boxes else st.container():
        state = controls.current(lens.state, lens.prefix, lens.state.limits(model))
        if callable(view.controls):
            state = view.controls(model)
        elif view.controls:
            line = controls_line.row(view.line or f"line_{lens.name}")
            state = controls_line.draw(lens.state, lens.prefix, model, line, *view.controls)
    blocks = _computed(view, model, state, st.container())
    draw_blocks(blocks, ((model, ""), (state, lens.prefix)), boxes)


def _draw_in_layout(lens: Lens, view: View[Any], model: ModelState) -> None:
    assert view.layout
    state, places = view.layout(model)
    first = places[0].inside if isinstance(places[0], Box) else places[0]
    blocks = _computed(view, model, state, first)
    for block, place in zip(blocks, places, strict=True):
        states = ((model, ""), (state, lens.prefix))
        if isinstance(place, Box):
            assert isinstance(block, Panel)
            draw_panel(block, states, place)
        else:
            with place:
                draw_blocks([block], states)


def _computed(view: View[S], model: ModelState, state: S, place: DeltaGenerator) -> Sequence[Block | None]:
    """The view's blocks; if computing them takes seconds, a spinner is shown in this place meanwhile."""
    text = view.running(model, state)
    with place.container(), st.spinner(text, show_time=True) if text else st.container():
        return view.blocks(model, state)
