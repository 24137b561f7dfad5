"""What the owner's page asks a room and shows it: the prediction that is open on it, then what the app has computed.

And what a member's page tells of itself: that the task of a lesson's step is done.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import streamlit as st

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.asked import Asked, Value, asked_of, said_of
from tfm_ui.classroom.room import NotOwner, TooLate
from tfm_ui.classroom.session import Mine, mine
from tfm_ui.page import answer
from tfm_ui.page.answer import Strip
from tfm_ui.page.questions import MOST_CHARS
from tfm_ui.store.rooms import NoRoom, RoomFull
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.visitor import visitor_here

TOLD, DONE = (
    "_room_told",
    "_room_done",
)  # keys of the session state: what the room was told last; the tasks that are done


class Told(NamedTuple):
    """What a room was told last by the page.

    Attributes:
        code: of the room.
        asked: the id of the question that is open on the page; "" of none.
        shown: the page's answer, and what it has measured, once they are shown; None until then.
    """

    code: str
    asked: str = ""
    shown: tuple[str, Value | None] | None = None


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
            return
        st.session_state.pop(TOLD, None)  # another tab leads, and tells the room more
        if done and not room.secret and not room.follows:  # else it is the owner who has done it
            _note_done(room, done)


def _lead(room: Mine, strip: Strip | None) -> None:
    told: Told = st.session_state.get(TOLD, Told(""))
    if told.code != room.code:  # another session of this tab may have asked before
        told = st.session_state[TOLD] = _told_before(room)
    if not strip or not strip.is_open:
        if told.asked:
            rooms.withdraw(room.code, room.secret, told.asked)
            st.session_state[TOLD] = Told(room.code)
        return
    asked = _asked(strip)
    if strip.is_waiting:
        if told != Told(room.code, asked.id):
            rooms.ask(room.code, room.secret, asked)
            st.session_state[TOLD] = Told(room.code, asked.id)
        return
    shown = strip.said(), _measured(strip)
    if told != (now := Told(room.code, asked.id, shown)):
        _show(room, asked, told, *shown)
        st.session_state[TOLD] = now


def _show(room: Mine, asked: Asked, told: Told, said: str, computed: Value | None) -> None:
    """Show the answers beside what is computed of what is on screen now."""
    if told.asked == asked.id:
        try:
            return rooms.show(room.code, room.secret, asked.id, measured=computed, said=said)
        except TooLate:
            if told.shown is not None:
                return None  # a poll has taken its place, and stays
    return rooms.show_again(room.code, room.secret, asked, measured=computed, said=said)


def take_up() -> None:
    """Know which questions the room that this tab leads was shown already: after a reload, or in another tab, too."""
    room = mine()
    leads = room.code if room and room.leads else ""
    over: Sequence[str] = ()
    if room and leads and answer.asks_anew() != leads:
        with suppress(NoRoom, StoreAway):
            over = rooms.look(leads).over
    answer.ask_anew(leads, over)


def _told_before(room: Mine) -> Told:
    """What the room was told by a session that is lost, as after a reload: it is taken back unless it is on screen."""
    now = rooms.look(room.code)
    if now.asked is None or not now.asked.which:  # a poll is no matter of the page
        return Told(room.code)
    return Told(room.code, now.asked.id, (now.shown.said, now.shown.measured) if now.shown else None)


def _measured(strip: Strip) -> Value | None:
    """What the page has measured; None if that is nothing."""
    measured = strip.measured()
    is_nothing = not measured if isinstance(measured, str) else not math.isfinite(measured)
    return None if is_nothing else measured


def _asked(strip: Strip) -> Asked:
    question, predict = strip.question, strip.question.predict
    heading = question.name if question.name.endswith(("?", "!", ".")) else f"{question.name}."
    about = question.ask if len(question.ask) <= MOST_CHARS else heading  # a lesson's step says much
    if not predict:
        return said_of(strip.which, about)
    words = predict.ask, predict.options, predict.unit
    return asked_of(strip.which, *words, in_words=predict.in_words, about=about)


def _note_done(room: Mine, step: str) -> None:
    known: frozenset[tuple[str, str]] = st.session_state.get(DONE, frozenset())
    if (room.code, step) not in known:
        member = rooms.look(room.code).member(visitor_here())
        rooms.note_done(room.code, member, step)
        st.session_state[DONE] = known | {(room.code, step)}
