"""What the owner's page asks a room and shows it: the prediction that is open on it, then what the app has computed.

And what a member's page tells of itself: that the task of a lesson's step is done.
"""

from contextlib import suppress
from typing import Literal

import streamlit as st

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.room import Asked, NotOwner, TooLate, asked_of
from tfm_ui.classroom.session import Mine, mine
from tfm_ui.page.answer import Strip
from tfm_ui.store.rooms import NoRoom, RoomFull
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.visitor import visitor_here

# Keys of the session state: what the room was told last, as (its code, the question's id, the phase); the steps whose
# tasks a member has done.
TOLD, DONE = "_room_told", "_room_done"
Phase = Literal["asked", "shown"]


def note(strip: Strip | None, done: str = "") -> None:
    """Note what is on screen, for the room that this tab is in. It is called in each run, and mostly nothing is new.

    Args:
        strip: of the question on screen; None if there is none.
        done: the link of a lesson's step whose task is done; "" of none.
    """
    if (room := mine()) is None:
        return
    with suppress(NoRoom, NotOwner, StoreAway, RoomFull):  # the bar says what is wrong
        if room.leads:
            _lead(room, strip)
        elif done and not room.secret and not room.follows:  # else it is the owner who has done it
            _note_done(room, done)


def _lead(room: Mine, strip: Strip | None) -> None:
    told: tuple[str, str, Phase] = st.session_state.get(TOLD, ("", "", "asked"))
    if told[0] != room.code:  # another session of this tab may have asked before
        told = st.session_state[TOLD] = _told_before(room)
    _, before, phase = told
    asked = _asked(strip) if strip and strip.is_open else None
    if strip and asked and strip.is_waiting:
        if (before, phase) != (asked.id, "asked"):
            rooms.ask(room.code, room.secret, asked)
            st.session_state[TOLD] = (room.code, asked.id, "asked")
    elif strip and asked and before == asked.id:
        if phase == "asked":
            measured = strip.measured()
            computed = None if measured == "" else measured
            with suppress(TooLate):  # a poll has taken its place
                rooms.show(room.code, room.secret, asked.id, measured=computed, said=strip.said())
            st.session_state[TOLD] = (room.code, asked.id, "shown")
    elif before:
        rooms.withdraw(room.code, room.secret, before)
        st.session_state[TOLD] = (room.code, "", "asked")


def _told_before(room: Mine) -> tuple[str, str, Phase]:
    """What the room was told by a session that is lost, as after a reload: it is taken back unless it is on screen."""
    now = rooms.look(room.code)
    if now.asked is None or not now.asked.which:  # a poll is no matter of the page
        return room.code, "", "asked"
    return room.code, now.asked.id, "shown" if now.shown else "asked"


def forget() -> None:
    """What the page asks is no longer asked, as a poll has taken its place: opened again, it is asked again."""
    if room := mine():
        st.session_state[TOLD] = (room.code, "", "asked")


def _asked(strip: Strip) -> Asked | None:
    predict = strip.question.predict
    if not predict:
        return None
    return asked_of(strip.which, predict.ask, predict.options, predict.unit, in_words=predict.in_words)


def _note_done(room: Mine, step: str) -> None:
    known: frozenset[tuple[str, str]] = st.session_state.get(DONE, frozenset())
    if (room.code, step) not in known:
        member = rooms.look(room.code).member(visitor_here())
        rooms.note_done(room.code, member, step)
        st.session_state[DONE] = known | {(room.code, step)}
