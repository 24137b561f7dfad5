"""A page's state <-> widgets <-> address bar, once for all pages: no page touches session_state.

Each widget's key is its parameter in the link (Streamlit's `bind="query-params"`). Streamlit resets a bad value
silently; here the link is checked before, the nearest possible value is taken, and `corrections` tells what changed.
"""

from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.fields import Choice, Correction, Field, Flag, Limits, State, Text, Whole, as_text, controls_of, read_link

S = TypeVar("S", bound=State)

# Keys of ours start with an underscore: no parameter does.
CORRECTIONS, STATES = "_corrections", "_states"


def open_link(state: type[State], prefix: str = "", limits: Limits | None = None) -> None:
    """Make these fields part of this page's link, and check what the link that opened the session says of them.

    Comes before any `draw` of theirs. Without a prefix they are the model's, and the page's list begins anew.
    """
    known = st.session_state.get(STATES, []) if prefix else []
    st.session_state[STATES] = [*known, (state, prefix)]
    opened = f"_opened_{prefix}"
    if opened not in st.session_state:
        st.session_state[opened] = True
        found = read_link(state, prefix, st.query_params, limits)
        st.session_state[CORRECTIONS] = [*corrections(), *found]
        for correction in found:
            st.query_params[correction.name] = as_text(correction.value)
        if found:
            st.rerun()  # with a link that is right: Streamlit takes the values and shows them in the address bar


def states() -> list[tuple[State, str]]:
    """All states of this page with their prefixes, as they are now: what its link must bring back."""
    return [(current(state, prefix), prefix) for state, prefix in st.session_state.get(STATES, [])]


def corrections() -> list[Correction]:
    """What had to be changed in the link that opened this session, until it is dismissed."""
    found: list[Correction] = st.session_state.get(CORRECTIONS, [])
    return found


def dismiss_corrections() -> None:
    """Forget them: the reader has seen them."""
    st.session_state[CORRECTIONS] = []


def draw(
    state: type[State], name: str, where: DeltaGenerator, *, prefix: str = "", limits: Limits | None = None
) -> None:
    """Draw the widget of one field.

    Args:
        state: the dataclass of controls.
        name: the field.
        where: the container to draw in.
        prefix: of the page's parameters.
        limits: field name -> attributes of its control that depend on the model now, such as `high`.
    """
    field, default = controls_of(state, limits)[name]
    key = prefix + name
    if isinstance(field, Whole) and st.session_state.get(key, field.low) > field.high:
        st.session_state[key] = field.high  # the model has shrunk: the nearest that is left
    _widget(field, where, key, default)


def _widget(field: Field, where: DeltaGenerator, key: str, default: Any) -> None:
    common: dict[str, Any] = {"key": key, "bind": "query-params"}
    match field:
        case Text():
            where.text_area(field.label, default, height=field.height, max_chars=field.max_chars, **common)
        case Whole(box=True):
            where.number_input(field.label, field.low, field.high, default, help=field.help, **common)
        case Whole():
            where.slider(field.label, field.low, field.high, default, help=field.help, **common)
        case Choice():
            common["help"] = field.help
            if field.widget == "slider":
                where.select_slider(field.label, field.options, default, **common)
            elif field.widget == "buttons":
                where.segmented_control(field.label, field.options, default=default, required=True, **common)
            else:
                where.selectbox(field.label, field.options, field.options.index(default), **common)
        case Flag():
            where.toggle(field.label, default, help=field.help, **common)


def current(state: type[S], prefix: str = "") -> S:
    """The state as the widgets hold it; a field that is not drawn has its default."""
    found = {name: st.session_state.get(prefix + name) for name in controls_of(state)}
    return state(**{name: value for name, value in found.items() if value is not None})


def assign(prefix: str = "", **values: Any) -> None:
    """Set fields from code: only in a callback, so before the widgets are drawn."""
    for name, value in values.items():
        st.session_state[prefix + name] = value


def reset_all() -> None:
    """Put the model and the page back to their defaults: only in a callback."""
    for state, prefix in st.session_state.get(STATES, []):
        assign(prefix, **{name: default for name, (_, default) in controls_of(state).items()})
