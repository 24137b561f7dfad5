"""The strip at the foot of the window while presenting: lens before, lens after, the text, the keys, exit."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from tfm_ui.page import controls, present, question_row
from tfm_ui.page.browser import presenting_keys
from tfm_ui.page.lens import Lens
from tfm_ui.page.present import KEYS, TEXT
from tfm_ui.state.fields import State

WALKED = "_walked"  # key of the session state: the steps that were taken, of those that the browser has counted


def draw(lenses: Sequence[Lens], lens: Lens) -> None:
    """Draw the slim bar: lens before, which lens this is, next lens, the text, the keys, exit; and act on keys."""
    at = [other.name for other in lenses].index(lens.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False, key="present_bar"):
        for step, side, key in ((-1, "left", "_previous_lens"), (1, "right", "_next_lens")):
            other = lenses[at + step] if 0 <= at + step < len(lenses) else None
            label = f"{other.title}, the lens {'before' if step < 0 else 'after'} this" if other else "No other lens"
            icon = f":material/chevron_{side}:"
            if st.button(label, icon=icon, disabled=other is None, key=key, type="tertiary") and other:
                page, parameters = _way_to(lenses, at + step)
                st.switch_page(page, query_params=parameters)
            if step < 0:
                where = f'<p class="where"><b>{escape(lens.title)}</b> {at + 1} of {len(lenses)}</p>'
                st.html(where, width="content")
        walked = presenting_keys(
            {name: key.walks for key in KEYS for name in key.names if key.walks},
            {name: key.button for key in KEYS for name in key.names if key.button},
            {name: key.scrolls for key in KEYS for name in key.names if key.scrolls},
            TEXT,
            st.session_state.setdefault(WALKED, {}),
        )
        with st.popover("Keys", type="tertiary", key="_keys"):
            st.html("<dl>" + "".join(f"<dt>{_named(key)}</dt><dd>{key.about}</dd>" for key in KEYS) + "</dl>")
        st.button("Exit", on_click=present.end, icon=":material/close:", type="tertiary", key="_exit", help="Key: x")
    _walk(lenses, at, walked)


def _named(key: present.Key) -> str:
    names = {"PageDown": "Page down", "PageUp": "Page up", "ArrowRight": "→", "ArrowLeft": "←"}
    return ", ".join(f"<kbd>{names.get(name, name)}</kbd>" for name in key.names)


def _walk(lenses: Sequence[Lens], at: int, walked: dict[str, int]) -> None:
    """Take the steps that the browser has counted since the last run.

    Another press may end the run at each access to the session. So the steps count as taken, in a dictionary that is
    in the session already, when nothing is left that can end the run before they are.
    """
    taken = st.session_state.setdefault(WALKED, {})
    steps = {what: count - taken.get(what, 0) for what, count in walked.items()}
    to, number = min(max(at + steps.get("lens", 0), 0), len(lenses) - 1), 0
    if to == at and (far := steps.get("question", 0)):
        if question_row.walk(lenses[at], far):
            taken.update(walked)
            st.rerun()
        to, number = (at + 1, 0) if far > 0 else (at - 1, -1)
    if to == at or not 0 <= to < len(lenses):
        taken.update(walked)  # on the way to another page the component says nothing: what it said is kept
        return
    page, parameters = _way_to(lenses, to, number)
    taken.update(walked)
    st.switch_page(page, query_params=parameters)


def _way_to(lenses: Sequence[Lens], at: int, number: int = 0) -> tuple[StreamlitPage, dict[str, str]]:
    """To a lens, which then asks this one of its questions. The model stays: it may hold the audience's own text."""
    lens = lenses[at]
    set_up = question_row.set_up_of(lens, lens.questions[number])
    return lens.page(default=at == 0), controls.open_with(**_worth_saying(lens.state, lens.prefix, set_up))


def _worth_saying(state: type[State], prefix: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Of parameters for `controls.open_with`, those that the page would not have anyway."""
    at_first, kept = controls.defaults(state, prefix), st.session_state.get(controls.KEPT, {})

    def is_said(key: str, value: Any) -> bool:
        return bool(value != at_first[key] or kept.get(key, st.session_state.get(key, value)) != value)

    return {key: value for key, value in values.items() if is_said(key, value)}
