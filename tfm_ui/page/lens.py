"""A lens as data: its state, views, presets and pictures. `tfm_ui/page/lens_page.py` draws its page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page

from tfm_ui.page import frame
from tfm_ui.page.box import Box
from tfm_ui.page.presets import Preset
from tfm_ui.pictures.panel import Block
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
