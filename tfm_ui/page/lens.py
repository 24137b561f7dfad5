"""What a lens is: its state, views, presets and pictures. Also draws the page of a lens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page

from tfm_ui.page import controls, controls_line, frame
from tfm_ui.page.panels import Box, draw_blocks, draw_panel
from tfm_ui.page.presets import Preset
from tfm_ui.pictures.panel import Block, Panel
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState

S = TypeVar("S", bound=LensState)


def _nothing_runs(model: ModelState, state: LensState) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class View(Generic[S]):
    """One view of a lens.

    Attributes:
        blocks: what the view shows, from top to bottom: a pure function of the model's and the lens's state.
        controls: the fields whose controls stand in a line above the view; or a function that draws the controls in
            its own way and returns the lens's state.
        line: the key of that line on the page.
        inside: the key of a panel in which the line stands, instead of above the view; `places` must name its place.
        places: returns panel's key -> container, for panels that must be placed before the controls are drawn.
        layout: replaces `controls` and `places` if controls stand among the panels. It draws the controls and returns
            the lens's state and a place for each block, in order: a container, or the box of a panel that already holds
            controls.
        running: returns a sentence to show while the blocks are computed, if that takes seconds; otherwise "".
    """

    blocks: Callable[[ModelState, S], Sequence[Block | None]]
    controls: Sequence[str] | Callable[[ModelState], S] = ()
    line: str = ""
    inside: str = ""
    places: Callable[[ModelState], Mapping[str, DeltaGenerator]] | None = None
    layout: Callable[[ModelState], tuple[S, Sequence[DeltaGenerator | Box]]] | None = None
    running: Callable[[ModelState, S], str] = _nothing_runs


@dataclass(frozen=True, kw_only=True)
class Lens:
    """All that the rest of the app needs to know about a lens.

    Attributes:
        name: the lens's folder and its address; with "_" appended, the prefix of its parameters in a link.
        title: the lens's title in the bar at the top and on its page.
        state: the lens's controls, a dataclass. If there are several views, its field `view` names the visible one.
        views: name -> view, in their order on the page.
        presets: buttons that set the model and the controls, each with a question.
        pictures: name -> picture. No other lens may use the same names.
        heading: the heading of the page, if it differs from the title.
        lead: a paragraph below the heading, in HTML.
        beside: the badge's name for the model, if the page does not show a pass of it.
        script: the file that Streamlit runs for the page.
    """

    name: str
    title: str
    state: type[LensState]
    views: Mapping[str, View[Any]]
    presets: Sequence[Preset]
    pictures: Mapping[str, Picture]
    heading: str = ""
    lead: str = ""
    beside: str = ""
    script: str = frame.LENS_SCRIPT

    @property
    def prefix(self) -> str:
        """The prefix of the lens's parameters in a link."""
        return f"{self.name}_"

    def page(self, *, default: bool = False) -> Page:
        """The lens's page, for the router."""
        return st.Page(self.script, title=self.title, url_path=self.name, default=default)

    def view_of(self, state: LensState) -> View[Any]:
        """The view that is visible in this state."""
        return self.views[getattr(state, "view", next(iter(self.views)))]

    def blocks(self, model: ModelState, state: LensState) -> Sequence[Block | None]:
        """What the page shows for a link, which the two states describe: a pure function."""
        return self.view_of(state).blocks(model, state)


def show(lens: Lens) -> None:
    """Draw the lens's page."""
    model = frame.model()
    controls.open_link(lens.state, lens.prefix, lens.state.limits(model))
    this_pass = frame.run(model)
    frame.title(lens.heading or lens.title, this_pass, beside=lens.beside)
    if lens.lead:
        st.html(f'<p class="lead">{lens.lead}</p>')
    frame.fragment(lens.name, _show_view)(lens, model)


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
        frame.presets(lens.presets, lens.state, lens.prefix)


def _draw(lens: Lens, view: View[Any], model: ModelState) -> None:
    boxes = {key: Box.of(key, place) for key, place in view.places(model).items()} if view.places else {}
    with boxes[view.inside].inside if view.inside else st.container():
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
