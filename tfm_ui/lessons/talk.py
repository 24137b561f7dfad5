"""Where a speaker is in a lecture, for the speaker's second window or phone: what is presented notes it in the store.

The name of a talk cannot be guessed, and who has it can read where the speaker is, and nothing else.
"""

import json
import re
import secrets
import time
from base64 import b32encode
from contextlib import suppress
from typing import Any, NamedTuple

import streamlit as st

from tfm_ui.lessons import shelf
from tfm_ui.lessons.shelf import Place
from tfm_ui.page import present
from tfm_ui.store.kinds import TALKS
from tfm_ui.store.shared import store
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors.visitor import visitor_here

PARAMETER = "talk"  # of the link of the speaker's page
NAME = re.compile(r"talk-[a-z2-7]{16}")
# Keys of the session state: the name of this session's talk; what the store was told last.
TALK, TOLD = "_talk", "_talk_told"


class Talk(NamedTuple):
    """Where a speaker is.

    Attributes:
        place: the step that is presented.
        began: when the lecture began, in seconds since 1970.
        step_began: when the step began.
    """

    place: Place
    began: float
    step_began: float


def name() -> str:
    """The name of this session's talk, which begins with the first call."""
    if not is_begun():
        st.session_state[TALK] = f"talk-{b32encode(secrets.token_bytes(10)).decode().lower()}"
    here: str = st.session_state[TALK]
    return here


def is_begun() -> bool:
    """Whether this session has a talk; a page that is loaded anew finds its talk in its address."""
    if TALK not in st.session_state and NAME.fullmatch(named := st.query_params.get(PARAMETER, "")):
        st.session_state[TALK] = named
    return TALK in st.session_state


def note(place: Place) -> None:
    """Note that this step is presented, if it is, and if this session has a talk."""
    if not present.presenting() or not is_begun():
        return
    st.query_params[PARAMETER] = name()
    told: dict[str, Any] = st.session_state.get(TOLD, {})
    if told.get("link") == place.link:
        return
    now = time.time()
    if not told:
        told = _before(place)
    is_same = bool(told) and told["link"].partition(".")[0] == place.name
    told = {"link": place.link, "began": told["began"] if is_same else now, "step_began": now}
    with suppress(StoreAway):  # the speaker's page says that it hears nothing
        store().put(TALKS, name(), json.dumps(told).encode(), visitor_here())
        st.session_state[TOLD] = told


def _before(place: Place) -> dict[str, Any]:
    """What the store knows of this session's talk, if its page was loaded anew in the same lecture."""
    with suppress(StoreAway, LookupError):
        if (talk := find(name())) and talk.place.name == place.name:
            return {"link": talk.place.link, "began": talk.began}
    return {}


def begin_anew() -> None:
    """Let the clock begin anew with the next step that is presented."""
    st.session_state[TOLD] = {"link": "", "began": 0.0}


def find(talk: str) -> Talk | None:
    """Where the speaker of this talk is; None if nothing was presented yet, or if it is long ago.

    Raises:
        LookupError: if this is no name of a talk, or the lesson is not kept any more.
        StoreAway: if the store does not answer.
    """
    if not NAME.fullmatch(talk):
        raise LookupError(f"expected the name of a talk, got {talk[:60]}")
    value = store().get(TALKS, talk)
    if value is None:
        return None
    told = json.loads(value)
    return Talk(shelf.place(told["link"]), told["began"], told["step_began"])
