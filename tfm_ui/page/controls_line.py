"""The one row of controls above a picture. It never wraps: what does not fit is in "More", or scrolls sideways."""

from functools import partial
from html import escape
from typing import TypeVar

import streamlit as st

from tfm_ui.page import controls
from tfm_ui.state.lens_state import LensState
from tfm_ui.state.model_state import ModelState
from tfm_ui.streamlit_private.containers import DeltaGenerator

S = TypeVar("S", bound=LensState)


def draw(state: type[S], prefix: str, model: ModelState, where: DeltaGenerator, *names: str) -> S:
    """Draw these controls of a lens, except those that mean nothing for the model; return the lens's state."""
    limits, without_meaning = state.limits(model), state.without_meaning(model)
    for name in names:
        if name not in without_meaning:
            controls.draw(state, name, where, prefix=prefix, limits=limits)
    return controls.current(state, prefix, limits)


def draw_more(state: type[S], prefix: str, model: ModelState, where: DeltaGenerator, *names: str) -> S:
    """Draw these controls in what a button at the end of the row opens; return the lens's state."""
    return draw(state, prefix, model, more(where), *names)


def more(where: DeltaGenerator, label: str = "More", key: str = "") -> DeltaGenerator:
    """What a button in this row opens, for controls that have no room in it.

    It is not Streamlit's popover, whose controls do not exist in the browser while it is closed: they would not hear of
    a value that Undo, a question or Back has given them, and the next act would bring their old value back.
    assets/page/more.js opens it.

    Args:
        where: the row.
        label: the name of the button.
        key: of the place, if the label is not always the same.
    """
    name = key or label.lower().replace(" ", "_")
    opener(where, label, name)
    return opened_by(where, name)


def opener(where: DeltaGenerator, label: str, key: str) -> None:
    """The button of `more`, for whoever knows its label only when what it opens has been drawn."""
    button = f'<button type="button" class="more" aria-expanded="false" data-opens="{key}">{escape(label)}</button>'
    where.html(button, width="content")


def opened_by(where: DeltaGenerator, key: str) -> DeltaGenerator:
    """What the button of this key opens; see `more`."""
    return where.container(key=f"more_{key}", gap="small")


def back(where: DeltaGenerator, prefix: str, view: str, label: str) -> None:
    """Draw the button that leads back to the view in whose picture this one was opened (`View.within`).

    Escape presses it, too: assets/page/back.js.

    Args:
        where: the row.
        prefix: of the lens's parameters.
        view: the name of the view that it leads back to.
        label: what stands on it.
    """
    where.button(
        label,
        icon=":material/arrow_back:",
        on_click=partial(controls.change, prefix, view=view),
        help="Key: Escape",
        width="content",
        key="_back",
    )


def place(where: DeltaGenerator, key: str, *, idle: bool) -> DeltaGenerator:
    """A place in a row for controls that mean nothing now if it is `idle`.

    They are out of sight then, but keep their place, so that nothing below the row moves, and their values.
    """
    named = f"{'idle' if idle else 'acting'}_{key}"
    return where.container(
        horizontal=True, gap="small", vertical_alignment="center", wrap=False, width="content", key=named
    )


def row(key: str) -> DeltaGenerator:
    """A container for a row of controls; `key` is its key on the page."""
    return st.container(horizontal=True, gap="small", vertical_alignment="center", wrap=False, key=key)
