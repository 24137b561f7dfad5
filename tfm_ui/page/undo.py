"""Undo: what all controls held before each act of the reader, the last act on top.

`shown` keeps what each control held when it was last drawn. An act reports itself before it takes effect
(`remember`, from a callback), so that this is the state to come back to. Back and Forward of the browser are no acts
here: steps that already hold are passed over.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

SHOWN, STEPS = "_shown", "_steps"  # keys of the session; no parameter of a link starts with an underscore
MOST = 100

Values = Mapping[str, Any]


def shown(key: str, value: Any) -> None:
    """Note what a control holds now."""
    st.session_state.setdefault(SHOWN, {})[key] = value


def remember() -> None:
    """Keep what all controls hold as a step to come back to: the reader is changing something."""
    now, steps = _now(), _steps()
    if now and (not steps or steps[-1] != now):
        st.session_state[STEPS] = [*steps, dict(now)][-MOST:]


def leave_out(values: Values) -> None:
    """Note that controls hold this by nobody's act: no step takes it back."""
    st.session_state[STEPS] = [{**step, **values} for step in _steps()]


def changes() -> dict[str, tuple[Any, Any]]:
    """What taking back the last act would change: parameter -> (its value now, its value then)."""
    return next((differing for step in reversed(_steps()) if (differing := difference(_now(), step))), {})


def take_last() -> dict[str, Any]:
    """Drop the last act, and return the values to put back."""
    back = changes()
    steps = _steps()
    while steps and not difference(_now(), steps[-1]):
        steps = steps[:-1]
    st.session_state[STEPS] = steps[:-1]
    return {key: then for key, (_, then) in back.items()}


def difference(now: Values, then: Values) -> dict[str, tuple[Any, Any]]:
    """Parameter -> (value now, value then), for those that both name and that differ."""
    return {key: (now[key], value) for key, value in then.items() if key in now and now[key] != value}


def in_words(changed: Mapping[str, tuple[Any, Any]]) -> str:
    """As it stands in the button's help: "num_heads 8 → 4"."""
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
