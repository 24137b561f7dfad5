"""A page's state <-> widgets <-> address bar, once for all pages: no page touches session_state.

Each widget's key is its parameter in the link (Streamlit's `bind="query-params"`). Streamlit resets a bad value
silently; here the link is checked before, the nearest possible value is taken, and `notices` tells what changed.
"""

from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.fields import Choice, Field, Flag, Limits, State, Text, Whole, as_text, controls_of, read_link

S = TypeVar("S", bound=State)

# Keys of ours start with an underscore: no parameter does.
NOTICES, KNOWN, PAGE = "_notices", "_known", "_page"


def open_link(state: type[State], prefix: str = "", limits: Limits | None = None) -> None:
    """Make these fields part of this page's link, and check what the link that opened the session says of them.

    Comes before any `draw` of theirs. Without a prefix they are the model's, and the page's list begins anew.
    """
    known: dict[str, type[State]] = st.session_state.setdefault(KNOWN, {})
    st.session_state[PAGE] = ["", prefix] if prefix else [""]
    if prefix not in known:
        known[prefix] = state
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        found = read_link(state, prefix, query, limits)
        for correction in found:
            _notify(str(correction))
            st.query_params[correction.name] = as_text(correction.value)
        if found:
            st.rerun()  # with a link that is right: Streamlit takes the values and shows them in the address bar


def states() -> list[tuple[State, str]]:
    """All states of this page with their prefixes, as they are now: what its link must bring back."""
    known: dict[str, type[State]] = st.session_state[KNOWN]
    return [(current(known[prefix], prefix), prefix) for prefix in st.session_state[PAGE]]


def notices() -> list[str]:
    """What was changed of what the reader asked for, until it is dismissed."""
    found: list[str] = st.session_state.get(NOTICES, [])
    return found


def dismiss_notices() -> None:
    """Forget them: the reader has seen them."""
    st.session_state[NOTICES] = []


def _notify(notice: str) -> None:
    if notice not in notices():
        st.session_state[NOTICES] = [*notices(), notice]


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
            # Without max_chars: with it, Streamlit refuses a longer paste and says nothing.
            where.text_area(field.label, default, height=field.height, on_change=_cut, args=(key, field), **common)
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


def _cut(key: str, field: Text) -> None:
    """Take the first part of a text that is too long, and say so."""
    text: str = st.session_state[key]
    if len(text) > field.max_chars:
        st.session_state[key] = text[: field.max_chars]
        _notify(f"{field.label}: of {len(text)} characters the first {field.max_chars} are taken.")


def current(state: type[S], prefix: str = "") -> S:
    """The state as the widgets hold it; a field that is not drawn has its default."""
    found = {name: st.session_state.get(prefix + name) for name in controls_of(state)}
    return state(**{name: value for name, value in found.items() if value is not None})


def assign(prefix: str = "", **values: Any) -> None:
    """Set fields from code: only in a callback, so before the widgets are drawn."""
    for name, value in values.items():
        st.session_state[prefix + name] = value


def open_with(prefix: str, **values: Any) -> dict[str, str]:
    """The parameters with which to switch to a page so that its fields have these values."""
    parameters = {prefix + name: as_text(value) for name, value in values.items()}
    for key in parameters:  # what the page held when it was last left would win over its link
        st.session_state.pop(key, None)
    return parameters


def reset_all() -> None:
    """Put the model and all pages back to their defaults: only in a callback."""
    dismiss_notices()
    for prefix, state in st.session_state[KNOWN].items():
        assign(prefix, **{name: default for name, (_, default) in controls_of(state).items()})
