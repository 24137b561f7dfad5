"""A picture on a page: what the browser asks for it with, and what it may do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tfm_ui.live.attention import EXACT_UP_TO
from tfm_ui.page import controls
from tfm_ui.pictures.canvas import standalone
from tfm_ui.pictures.registry import PICTURES, States, made, query_of
from tfm_ui.state.fields import local_to
from tfm_ui.state.links import TEXT_CHARS
from tfm_ui.text.look import Mode

Pick = Callable[[int, int], None]


@dataclass(frozen=True)
class Drawing:
    """A picture of this page, for its panel.

    Attributes:
        name: of the picture.
        states: what it shows.
        on_pick: called with layer and head, from 0, when one is clicked, before the page runs.
        slow: whether it takes much more than a pass does: it is not drawn while another picture is dragged.
    """

    name: str
    states: States
    on_pick: Pick | None = None
    slow: bool = False

    @property
    def query(self) -> str:
        """What the picture is asked for with."""
        return query_of(self.states)

    @property
    def early(self) -> bool:
        """Whether the browser may go ahead of the page: where the address holds all, and a pass takes no time."""
        return not self.slow and len(self.query) <= TEXT_CHARS and self.states[0][0].seq_len <= EXACT_UP_TO

    def draw(self, key: str) -> tuple[int, int] | None:
        """Put it on the page; the layer and head that were clicked to cause this run, if any."""

        def picked() -> None:
            if self.on_pick:
                self.on_pick(*st.session_state[key].picked)

        def changed() -> None:
            wish = st.session_state[key].changed
            st.session_state[heard] = wish["number"]
            controls.change("", **wish["changes"])

        heard = f"_heard_{key}"  # how many of the picture's wishes: the browser must know which page is behind
        data = {"name": self.name, "query": self.query, "early": self.early, "slow": self.slow, "local": self.local}
        data["heard"] = st.session_state.get(heard, 0)
        canvas = PICTURES[self.name].canvas
        at: tuple[int, int] | None = canvas.mount(
            key=key, data=data, on_picked_change=picked, on_changed_change=changed
        ).picked
        return at

    @property
    def local(self) -> dict[str, Any]:
        """Parameter -> value, of the fields that the browser alone works with."""
        return {prefix + name: getattr(state, name) for state, prefix in self.states for name in local_to(type(state))}

    def page(self, title: str, sentence: str, mode: Mode) -> str:
        """As an HTML page of its own."""
        return standalone(PICTURES[self.name].canvas, made(self.name, self.query), title, sentence, mode)
