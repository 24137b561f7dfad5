"""What a session knows of the room that its tab is in. The browser keeps it (assets/classroom/memory.js)."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import streamlit as st

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.door import Refusal, enter
from tfm_ui.classroom.room import NotOwner, Opened
from tfm_ui.store.rooms import NoRoom
from tfm_ui.visitors.visitor import visitor_here

BAR = "room_bar"  # the key of the component by which the browser tells and is told
# Keys of the session state: the room of this tab; a room that it has opened; the code of a room that it has closed, and
# of one that it is to enter.
ROOM, OPENED, CLOSED, JOIN = "_room", "_room_opened", "_room_closed", "_room_join"


@dataclass(frozen=True)
class Mine:
    """The room of this tab.

    Attributes:
        code: of the room.
        secret: the owner's; "" of a member.
        leads: whether the room follows this tab.
        follows: whether this tab follows the room, so that its page shows what others have done.
    """

    code: str
    secret: str = ""
    leads: bool = False
    follows: bool = False


def mine() -> Mine | None:
    """The room of this tab; None if it is in none."""
    now: Mine | None = st.session_state.get(ROOM)
    return now


def open_mine(opened: Opened) -> None:
    """This tab has opened a room, which follows it."""
    st.session_state[ROOM] = Mine(opened.code, opened.secret, leads=True)
    st.session_state[OPENED] = {"code": opened.code, "secret": opened.secret}


def note(told: Any) -> None:
    """Note what the browser tells of its room. A stranger's may tell anything: code and secret are looked at."""
    if not isinstance(told, dict):
        return
    st.session_state.pop(OPENED, None)  # the browser has heard of it, and knows better from now on
    code, secret = told.get("code"), told.get("secret")
    if not isinstance(code, str) or not isinstance(secret, str) or not code:
        st.session_state.pop(ROOM, None)
        return
    before = mine()
    if before is None or (before.code, before.secret) != (code, secret):
        try:
            room = enter(code, visitor_here())
        except Refusal:
            return
        if secret and not room.is_owner(secret):
            return
    follows = not secret and told.get("follows") is not False
    st.session_state[ROOM] = Mine(code, secret, leads=bool(secret) and told.get("leads") is True, follows=follows)


def close() -> None:
    """Close the room of this tab, if it is its own, with all that it keeps."""
    if (room := mine()) and room.secret:
        with suppress(NoRoom, NotOwner):
            rooms.end(room.code, room.secret)
        st.session_state[CLOSED] = room.code
        st.session_state.pop(ROOM, None)
        st.session_state.pop(OPENED, None)
