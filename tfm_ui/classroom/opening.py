"""Opens a room, and tells how others come in: the button beside “Present”, and its dialog."""

from html import escape

import streamlit as st

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom import session
from tfm_ui.classroom.session import Mine
from tfm_ui.page import frame, share
from tfm_ui.store.rooms import RoomFull
from tfm_ui.store.store import StoreAway
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.visitors.visitor import network_here

OPENS, PROBLEM = "_room_dialog", "_room_open_problem"  # keys of the session state
WHAT = (
    "You lecture? Those who enter see your page on their own screens and follow it through lenses, questions and "
    "steps. Where a question has a prediction, they answer before the answer is shown, and you decide when."
)
PRIVACY = (
    "No account and no names. A room keeps where its lecturer is and what was answered, and no address of anybody; all "
    "of it is erased when the room closes, after three hours at the latest."
)


def button() -> None:
    """Draw the button, and its dialog where it was pressed."""
    mine = session.mine()
    owned = mine is not None and bool(mine.secret)
    label = f"Room {mine.code}" if mine and owned else "Room"
    about = "Follow a lecture on your own screen, or let others follow yours, predict, and be counted."
    st.button(
        label,
        icon=":material/groups:",
        help=about,
        on_click=lambda: st.session_state.update({OPENS: True}),
        type="tertiary",
        key="_open_room",
    )
    if st.session_state.pop(OPENS, False):
        _dialog()


@st.dialog("Room", width="large")
def _dialog() -> None:
    mine = session.mine()
    if mine and mine.secret:
        how_to_enter(mine)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.page_link(frame.room_page(), label="Your desk: polls, answers in words", icon=":material/desk:")
            close_button()
    else:
        st.page_link(frame.room_page(), label="You were told a code? Enter that room", icon=":material/login:")
        st.markdown(WHAT)
        st.caption(PRIVACY)
        st.button("Open a room", icon=":material/groups:", key="_begin_room", on_click=_begin)
    if problem := st.session_state.pop(PROBLEM, ""):
        st.warning(escape_markdown(problem), icon=":material/warning:")


def _begin() -> None:
    st.session_state[OPENS] = True
    try:
        session.open_mine(rooms.begin(network_here()))
    except (RoomFull, StoreAway) as problem:
        st.session_state[PROBLEM] = str(problem)
    st.rerun()


def how_to_enter(mine: Mine) -> None:
    """Draw the code, as large as a hall needs, the address at which it is typed, and the link as a QR code."""
    link = frame.room_link(mine.code)
    st.html(
        f'<p class="code_of_room">{escape(mine.code)}</p>'
        f'<p class="address_of_room">{escape(frame.room_address().partition("//")[2])}</p>'
        f'<div class="qr_of_room">{share.qr_code(link)}</div>'
    )
    st.caption("Scan it, or type the four letters at this address. A room is open for three hours at most.")


def close_button() -> None:
    """Draw the button that closes the room, with all that it keeps."""
    about = "Erases the room and all answers. Pages that follow stay where they are."
    st.button("Close the room", icon=":material/door_front:", help=about, on_click=_close, key="_close_room")


def _close() -> None:
    try:
        session.close()
    except StoreAway as problem:
        st.session_state[PROBLEM] = str(problem)
    st.rerun()
