"""A picture on a page: the query with which the browser asks for it, and what a click or a drag on it does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.page.components import mounted
from tfm_ui.page.header import label
from tfm_ui.pictures.canvas import standalone
from tfm_ui.pictures.figures import in_mode
from tfm_ui.pictures.registry import States, figure_of, made, query_of, registered
from tfm_ui.state.fields import local_to
from tfm_ui.state.links import TEXT_CHARS, share_link
from tfm_ui.state.pass_cost import EXACT_UP_TO
from tfm_ui.text.colours import Mode

Pick = Callable[[int, int], None]


@dataclass(frozen=True)
class Drawing:
    """A picture of this page, for its panel.

    Attributes:
        name: the picture's name in the registry.
        states: the states that the picture shows.
        on_pick: called with layer and head, from 0, when a head is clicked, before the page runs.
        slow: whether the picture is asked for at rest alone, see `Panel.slow`.
    """

    name: str
    states: States
    on_pick: Pick | None = None
    slow: bool = False

    @property
    def query(self) -> str:
        """The query with which the browser asks the server for the picture."""
        return query_of(self.states)

    @property
    def early(self) -> bool:
        """Whether the picture may follow the address before the page has run: the query is short, a pass quick."""
        return len(self.query) <= TEXT_CHARS and self.states[0][0].longest <= EXACT_UP_TO

    def draw(self, key: str) -> tuple[int, int] | None:
        """Put the picture on the page; return the layer and head whose click caused this run, if any.

        Args:
            key: the key of its panel. A component holds a value under its key, so it must not be that of a control.
        """
        key = f"picture_{key}"

        def picked() -> None:
            if self.on_pick:
                self.on_pick(*st.session_state[key].picked)

        def changed() -> None:
            controls.carry_out(st.session_state[key].changed)

        data = {"name": self.name, "query": self.query, "early": self.early, "slow": self.slow, "local": self.local}
        data["heard"] = controls.heard()
        data["ignored"] = self.ignored
        canvas = registered(self.name).canvas
        at: tuple[int, int] | None = mounted(canvas)(
            key=key, data=data, on_picked_change=picked, on_changed_change=changed
        ).picked
        return at

    @property
    def local(self) -> dict[str, Any]:
        """Parameter -> value, for the fields that only the browser uses."""
        return {prefix + name: getattr(state, name) for state, prefix in self.states for name in local_to(type(state))}

    @property
    def ignored(self) -> list[str]:
        """Parameters of the model on which the picture does not depend; in a link they have no prefix."""
        return sorted(registered(self.name).ignored)

    def page(self, title: str, sentence: str, mode: Mode, base: str) -> str:
        """The picture as a complete HTML page, for a download; `base` is the address of the page that shows it."""
        weights = "" if "weights" in self.ignored else f"{label(self.states[0][0])}."
        link = share_link(base, *self.states)
        return standalone(
            registered(self.name).canvas, made(self.name, self.query), title, sentence, mode, weights, link
        )

    @property
    def saves(self) -> tuple[str, ...]:
        """The kinds of files that the browser makes of the picture."""
        return registered(self.name).canvas.saves

    @property
    def has_figure(self) -> bool:
        """Whether the picture can be had as a Plotly figure."""
        return registered(self.name).canvas.figure is not None

    def figure(self, title: str, sentence: str, mode: Mode) -> str:
        """The picture as a Plotly figure in JSON, for a download."""
        return str(in_mode(figure_of(self.name, self.query, title, sentence), mode).to_json())
