"""Which step of which lesson is open, if any: `lesson=start-here.softmax` in the link of every page.

The lessons themselves stand in a room above this one (tfm_ui/lessons); here is what every page has to know of them.
"""

import streamlit as st

PARAMETER = "lesson"
HERE = "_lesson"  # key of the session state: what the link of the page before had


def asked() -> str:
    """What the link names: a lesson, or a lesson, a dot and a step; "" if no lesson is open."""
    return st.query_params.get(PARAMETER, "")


def enter(name: str) -> None:
    """Open a step of a lesson, beside what is on screen."""
    st.query_params[PARAMETER] = st.session_state[HERE] = name


def leave() -> None:
    """Close the lesson."""
    st.query_params.pop(PARAMETER, None)
    st.session_state.pop(HERE, None)


def take_along() -> None:
    """Stay in the lesson on the way to another page: links between pages carry nothing."""
    if not asked() and (here := st.session_state.get(HERE)):
        st.query_params[PARAMETER] = here


def note() -> None:
    """Note what the link of this page has: Back may have opened or closed a lesson."""
    st.session_state[HERE] = asked()


def in_links() -> dict[str, str]:
    """The parameter for a link of this page; nothing if no lesson is open."""
    return {PARAMETER: name} if (name := asked()) else {}
