"""The bar of a room at the top of each page of a tab that is in one, with the question that is asked there.

Everything in it is the browser's (assets/classroom): it listens to the room, and draws what it hears without a run of
the page. The page says what it is, and hears which room the tab is in.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from tfm_ui.classroom import leading, session
from tfm_ui.folders import ASSETS
from tfm_ui.page import controls, frame, in_lesson, share
from tfm_ui.page.components import LOADER
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.canvas import version
from tfm_ui.state.fields import State, Text, controls_of
from tfm_ui.state.model_state import ModelState

PRIVATE = (frame.LECTURE, frame.SPEAKER, frame.ROOM)  # pages to which nobody follows

_component = st.components.v2.component(
    "room",
    html='<section class="room" aria-label="Room" hidden></section>',
    css=(ASSETS / "classroom/room.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "classroom/room"),
)


def draw(page: str, lens: Lens | None, follow: Callable[[], None]) -> None:
    """Draw the place of the bar, in which nothing stands where the tab is in no room.

    Args:
        page: the name of the page.
        lens: the page's lens; None if it shows none.
        follow: notes where the room is, as the browser tells.
    """
    mine = session.mine()
    leading.take_up()
    places = [lens.prefix + name for name in lens.state.PLACES] if lens else []
    typed = _texts(ModelState, "") + (_texts(lens.state, lens.prefix) if lens else [])
    data: dict[str, Any] = {
        "known": f"{mine.code} {mine.leads} {mine.follows}" if mine else "",
        "opened": st.session_state.get(session.OPENED),
        "closed": st.session_state.get(session.CLOSED, ""),
        "join": st.session_state.get(session.JOIN, ""),
        "page": page,
        "isPrivate": page in PRIVATE,
        "isDesk": page in (frame.SPEAKER, frame.ROOM),
        "places": [*places, in_lesson.PARAMETER],
        "typed": typed,
        "heard": controls.heard(),
        "address": frame.room_address().partition("//")[2],
        "qr": share.qr_code(frame.room_link(mine.code)) if mine and mine.secret else "",
    }
    with st.container(key="classroom"):
        _component(key=session.BAR, data=data, on_told_change=_told, on_follow_change=follow)


def _texts(state: type[State], prefix: str) -> list[str]:
    """The parameters of what is typed: nobody else sees it before it is applied."""
    return [prefix + name for name, (field, _) in controls_of(state).items() if isinstance(field, Text)]


def _told() -> None:
    session.note(getattr(st.session_state.get(session.BAR), "told", None))
    st.session_state.pop(session.JOIN, None)
