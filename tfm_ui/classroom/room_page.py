"""The page of a room: who has a code types it here; the owner has the desk, with a poll of one's own.

What is answered, and answers in words, stand in the bar above (tfm_ui/classroom/bar.py), which on this page alone shows
them to the owner before they are shown to all.
"""

from html import escape

import streamlit as st

from tfm_ui.classroom import opening, session
from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.asked import FEWEST_CHOICES, MOST_CHOICE, MOST_CHOICES, MOST_POLL, poll_of
from tfm_ui.classroom.door import Refusal, enter
from tfm_ui.classroom.room import NotOwner
from tfm_ui.classroom.session import Mine
from tfm_ui.page import frame
from tfm_ui.store.rooms import NoRoom
from tfm_ui.store.store import StoreAway
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import visitor_here

CODE = "code"  # the parameter of the link that leads into a room
# Keys of the session state: what is wrong with what was typed; the code of the link that was followed last.
PROBLEM, FOLLOWED, POLL_PROBLEM = "_room_problem", "_room_followed", "_room_poll_problem"
IS_ASKED = "_room_poll_asked"  # key of the session state: that a poll was asked, in words
LEAD = "Type the four letters that the lecturer shows. Your page then follows the lecturer’s."
ENTERING = "You are in room {code}. As soon as the lecturer shows a page, it opens here."
DESK = (
    "This page is yours alone: nobody follows you here. The bar above counts who is here and who has answered, and "
    "shows answers in words before you show one to all."
)
ASKED = "The room is asked. The bar above counts the answers; show them there."
IS_BEING_ASKED = "The room is being asked this. Show its answers in the bar above, then it can be asked again."
OTHER_DEVICE = "Whoever has this link owns the room: it opens the desk on your phone or another computer."


def show() -> None:
    """Draw the page."""
    with st.container(key="room_page"):
        mine = session.mine()
        if mine and mine.secret:
            _desk(mine)
        else:
            _enter(mine)


def _enter(mine: Mine | None) -> None:
    asked = st.query_params.get(CODE, "")
    if asked and asked != st.session_state.get(FOLLOWED):
        st.session_state[FOLLOWED] = asked
        _join(asked)
        st.rerun()
    st.html(f'<h1>Enter a room</h1><p class="lead">{LEAD}</p>')
    with st.form("room_code", border=False), st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        st.text_input("Code of the room", key="_room_code", max_chars=12, width=220, autocomplete="off")
        st.form_submit_button("Enter", on_click=lambda: _join(st.session_state["_room_code"]))
    if problem := st.session_state.get(PROBLEM):
        st.warning(escape_markdown(problem), icon=":material/warning:")
    elif mine:
        st.info(ENTERING.format(code=mine.code), icon=":material/hourglass_empty:")
    st.html(f'<p class="note">{opening.PRIVACY}</p>')


def _join(typed: str) -> None:
    st.session_state[PROBLEM] = ""
    try:
        st.session_state[session.JOIN] = enter(typed, visitor_here()).code
    except Refusal as refusal:
        st.session_state[PROBLEM] = refusal.words


def _desk(mine: Mine) -> None:
    st.html(f'<h1>Your room {escape(mine.code)}</h1><p class="lead">{DESK}</p>')
    left, right = st.columns([3, 2], gap="large")
    with left:
        _poll(mine)
    with right:
        opening.how_to_enter(mine)
        with st.expander("The desk on another device"):
            link = f"{frame.room_address()}#{mine.code}.{mine.secret}"
            st.caption(OTHER_DEVICE)
            st.code(link, language=None, wrap_lines=True)
        opening.close_button()


def _poll(mine: Mine) -> None:
    st.subheader("A poll of your own")
    with st.form("room_poll", border=False):
        st.text_input("Question", key="_poll_ask", max_chars=MOST_POLL)
        for number in range(1, MOST_CHOICES + 1):
            label = f"Choice {number}" + ("" if number <= FEWEST_CHOICES else ", if you like")
            st.text_input(label, key=f"_poll_{number}", max_chars=MOST_CHOICE)
        st.form_submit_button("Ask the room", on_click=_ask, args=(mine,))
    if problem := st.session_state.get(POLL_PROBLEM):
        st.warning(escape_markdown(problem), icon=":material/warning:")
    elif asked := st.session_state.pop(IS_ASKED, ""):
        st.success(escape_markdown(asked), icon=":material/how_to_vote:")


def _ask(mine: Mine) -> None:
    choices = [st.session_state.get(f"_poll_{number}", "") for number in range(1, MOST_CHOICES + 1)]
    st.session_state[POLL_PROBLEM] = ""
    try:
        is_new = rooms.poll(mine.code, mine.secret, poll_of(st.session_state["_poll_ask"], choices))
        st.session_state[IS_ASKED] = ASKED if is_new else IS_BEING_ASKED
    except (ValueError, NoRoom, NotOwner, StoreAway) as problem:
        words = "This room is closed." if isinstance(problem, NoRoom) else str(problem)
        st.session_state[POLL_PROBLEM] = words[:1].upper() + words[1:]
