"""The bar of a room at the top of each page of a tab that is in one, with the question that is asked there.

Everything in it is the browser's (assets/classroom): it listens to the room, and draws what it hears without a run of
the page. The page says what it is, and hears which room the tab is in.
"""

from typing import Any

import streamlit as st

from tfm_ui.classroom import following, session
from tfm_ui.folders import ASSETS
from tfm_ui.page import controls, frame, in_lesson, share
from tfm_ui.page.components import LOADER
from tfm_ui.page.lens import Lens
from tfm_ui.pictures.canvas import version

PRIVATE = (frame.LECTURE, frame.SPEAKER, frame.ROOM)  # pages to which nobody follows
JOIN = "_room_join"  # key of the session state: the code of a room that this tab is to enter

_component = st.components.v2.component(
    "room",
    html='<section class="room" aria-label="Room" hidden></section>',
    css=(ASSETS / "classroom/room.css").read_text(encoding="utf-8"),
    js=LOADER % (version(), "classroom/room"),
)


def draw(page: str, lens: Lens | None) -> None:
    """Draw the place of the bar, in which nothing stands where the tab is in no room.

    Args:
        page: the name of the page.
        lens: the page's lens; None if it shows none.
    """
    mine = session.mine()
    places = [lens.prefix + name for name in lens.state.PLACES] if lens else []
    data: dict[str, Any] = {
        "known": f"{mine.code} {mine.leads}" if mine else "",
        "opened": st.session_state.get(session.OPENED),
        "closed": st.session_state.get(session.CLOSED, ""),
        "join": st.session_state.get(JOIN, ""),
        "page": page,
        "isPrivate": page in PRIVATE,
        "isDesk": page in (frame.SPEAKER, frame.ROOM),
        "places": [*places, in_lesson.PARAMETER],
        "heard": controls.heard(),
        "address": address().partition("//")[2],
        "qr": share.qr_code(link(mine.code)) if mine and mine.secret else "",
    }
    with st.container(key="classroom"):
        _component(key=following.KEY, data=data, on_told_change=_told, on_follow_change=following.told)


def _told() -> None:
    session.note(getattr(st.session_state.get(following.KEY), "told", None))
    st.session_state.pop(JOIN, None)


def address() -> str:
    """The address at which a code is typed."""
    return f"{frame.app_address()}/{frame.ROOM}"


def link(code: str) -> str:
    """The link that leads straight into a room."""
    return f"{address()}?code={code}"
