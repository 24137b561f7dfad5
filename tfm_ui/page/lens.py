"""A lens: its state, views, presets and pictures; and the page that shows it."""

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
        blocks: what it shows, from top to bottom: a pure function of the link.
        controls: the fields whose controls stand in a line above it; or a function that draws them its own way, and
            returns what the lens's controls hold.
        line: the key of that line on the page.
        inside: the key of a panel that the line stands in, in place of above all; `places` says where that panel is.
        places: where panels stand whose place must be known before the controls are read: panel's key -> its place.
        layout: in place of `controls` and `places`, for controls that stand among the panels: draws them, and returns
            what they hold, and for each of the blocks, in their order, where it stands: a container, or the box of a
            panel that holds controls already.
        running: what is said while the blocks are computed, where that takes seconds; "" where it takes none.
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
    """All that the rest of the app needs to know of a lens.

    Attributes:
        name: its folder, its address, and with "_" the prefix of its parameters in a link.
        title: on its page and in the bar at the top.
        state: its controls, a dataclass. With several views its field `view` names the one that is shown.
        views: by name, in their order.
        presets: pills that set the model and the controls, each with a question.
        pictures: what its views draw, by names that no other lens uses.
        heading: on its page, if that is not the title.
        lead: a paragraph below the heading, in HTML.
        beside: names the model in the badge, where the page shows other things than a pass of it.
        script: of its page.
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
        """Of its parameters in a link."""
        return f"{self.name}_"

    def page(self, *, default: bool = False) -> Page:
        """Its entry in the router."""
        return st.Page(self.script, title=self.title, url_path=self.name, default=default)

    def view_of(self, state: LensState) -> View[Any]:
        """The view that the link asks for."""
        return self.views[getattr(state, "view", next(iter(self.views)))]

    def blocks(self, model: ModelState, state: LensState) -> Sequence[Block | None]:
        """What a link shows: a pure function of it."""
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
    """The view that was chosen; a change of the lens's own controls runs this alone."""
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
    """The blocks; while they are computed, the reader is told so in this place."""
    text = view.running(model, state)
    with place.container(), st.spinner(text, show_time=True) if text else st.container():
        return view.blocks(model, state)
