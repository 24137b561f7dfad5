"""Undo: a stack of steps, each with the values of all controls before an act of the reader.

`shown` notes the value of each control whenever it is drawn. `remember` is called in a callback, before an act takes
effect, and pushes these values onto the stack. The browser's Back and Forward are not recorded: steps whose values are
on screen already are skipped.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

SHOWN, STEPS = "_shown", "_steps"  # keys of the session state; no parameter of a link starts with an underscore
MOST = 100

Values = Mapping[str, Any]


def shown(values: Values) -> None:
    """Note the current values of controls."""
    st.session_state.setdefault(SHOWN, {}).update(values)


def begin_with(values: Values) -> None:
    """Note the values of controls that no view has drawn so far: an act may set them, and Undo is to take that back."""
    st.session_state[SHOWN] = {**values, **_now()}


def remember() -> None:
    """Push the values of all controls as a step: the reader is about to change something."""
    now, steps = _now(), _steps()
    if now and (not steps or steps[-1] != now):
        st.session_state[STEPS] = [*steps, dict(now)][-MOST:]


def leave_out(values: Values) -> None:
    """Enter values into all steps that the server has set, not the reader: Undo then leaves them alone."""
    st.session_state[STEPS] = [{**step, **values} for step in _steps()]


def changes() -> dict[str, tuple[Any, Any]]:
    """What Undo would change: parameter -> (its value now, its value before the last act)."""
    return next((differing for step in reversed(_steps()) if (differing := difference(_now(), step))), {})


def take_last() -> dict[str, Any]:
    """Pop the last step; parameter -> the value to restore."""
    back = changes()
    steps = _steps()
    while steps and not difference(_now(), steps[-1]):
        steps = steps[:-1]
    st.session_state[STEPS] = steps[:-1]
    return {key: then for key, (_, then) in back.items()}


def difference(now: Values, then: Values) -> dict[str, tuple[Any, Any]]:
    """Parameter -> (value now, value then), for the parameters in both mappings whose values differ."""
    return {key: (now[key], value) for key, value in then.items() if key in now and now[key] != value}


def in_words(changed: Mapping[str, tuple[Any, Any]]) -> str:
    """The changes in words, for the help of the Undo button: "num_heads 8 → 4"."""
    named = [f"{key} {_short(now)} → {_short(then)}" for key, (now, then) in changed.items()]
    more = len(named) - 3
    return ", ".join(named[:3]) + (f" and {more} more" if more > 0 else "")


def _short(value: Any) -> str:
    text = f"“{' '.join(value.split())}”" if isinstance(value, str) and (" " in value or not value) else str(value)
    return text if len(text) <= 24 else f"{text[:22]}…”"


def _now() -> Values:
    values: Values = st.session_state.get(SHOWN, {})
    return values


def _steps() -> list[Values]:
    steps: list[Values] = st.session_state.get(STEPS, [])
    return steps
