"""Widgets that show a parameter of the link without being bound to it: they show a number also where the link has none.

A browser that goes back and forward fast may miss what such a widget is to show. It then sends what the widget showed
before, which looks like a move by the reader. So a widget whose value was changed by anything else than the widget is
replaced by a new one, and what a browser still sends for the old one is left out.
"""

from typing import Any

import streamlit as st

SHOWN = "_shown_"  # key of the session state, before the parameter: the number of the widget, and its value


def key_of(parameter: str, value: Any) -> str:
    """The key of the widget that is to show this value of the parameter. The value must be its default, too."""
    number, shown = st.session_state.get(SHOWN + parameter, (0, value))
    if st.session_state.get(_key(parameter, number), shown) != value:
        number += 1
    st.session_state[SHOWN + parameter] = number, value
    return _key(parameter, number)


def moved_to(parameter: str, key: str) -> Any:
    """Where the reader has moved the widget with this key, or None if nobody has. Only to be called in a callback."""
    number, shown = st.session_state[SHOWN + parameter]
    value = st.session_state[key]
    return value if key == _key(parameter, number) and value != shown else None


def _key(parameter: str, number: int) -> str:
    return f"_{parameter}_{number}"
