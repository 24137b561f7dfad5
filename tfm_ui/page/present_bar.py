"""The bar at the top of the window while presenting: lens before, lens after, the text, the keys, exit."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import streamlit as st

from tfm_ui.page import controls, in_lesson, present, question_row, way
from tfm_ui.page.browser import presenting_keys
from tfm_ui.page.lens import Lens
from tfm_ui.page.present import KEYS, TAKEN, TEXT


def draw(lenses: Sequence[Lens], lens: Lens) -> None:
    """Draw the slim bar: lens before, which lens this is, next lens, the text, the keys, exit; and act on keys."""
    at = [other.name for other in lenses].index(lens.name)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", wrap=False, key="present_bar"):
        for step, side, key in ((-1, "left", "_previous_lens"), (1, "right", "_next_lens")):
            other = lenses[at + step] if 0 <= at + step < len(lenses) else None
            label = f"{other.title}, the lens {'before' if step < 0 else 'after'} this" if other else "No other lens"
            icon = f":material/chevron_{side}:"
            if st.button(label, icon=icon, disabled=other is None, key=key, type="tertiary") and other:
                page, parameters = _way_to(other)
                st.switch_page(page, query_params=parameters)
            if step < 0:
                where = f'<p class="where"><b>{escape(lens.title)}</b> {at + 1} of {len(lenses)}</p>'
                st.html(where, width="content")
        # In a lesson the keys that walk through questions press the buttons that walk through its steps.
        pressed = {1: "_next_question", -1: "_previous_question"} if in_lesson.asked() else {}
        walking = {name: key.walks for key in KEYS for name in key.names if key.walks}
        steps = {name: to for name, to in walking.items() if to[0] != "question" or not pressed}
        target = presenting_keys(
            steps,
            {name: key.button for key in KEYS for name in key.names if key.button}
            | {name: pressed[far] for name, (_, far) in walking.items() if name not in steps},
            {name: key.scrolls for key in KEYS for name in key.names if key.scrolls},
            TEXT,
            {other.name: len(other.questions) for other in lenses},
            st.session_state.setdefault(TAKEN, 0),
        )
        with st.popover("Keys", icon=":material/keyboard:", type="tertiary", key="_keys"):
            st.html("<dl>" + "".join(f"<dt>{_named(key)}</dt><dd>{key.about}</dd>" for key in KEYS) + "</dl>")
        st.button("Exit", on_click=present.end, icon=":material/close:", type="tertiary", key="_exit", help="Key: x")
    _walk(lenses, lens, target)


def _named(key: present.Key) -> str:
    names = {"PageDown": "Page down", "PageUp": "Page up", "ArrowRight": "→", "ArrowLeft": "←"}
    return ", ".join(f"<kbd>{names.get(name, name)}</kbd>" for name in key.names)


def _walk(lenses: Sequence[Lens], lens: Lens, target: Mapping[str, Any]) -> None:
    """Show the question that the keys have asked for, unless it was shown already."""
    wanted = next((other for other in lenses if other.name == target.get("lens")), None)
    if wanted is None or target["step"] == st.session_state[TAKEN] or not 0 < target["number"] <= len(wanted.questions):
        return
    # Another press may end the run at any access to the session. It asks for another question, so nothing is lost.
    if wanted is lens:
        question_row.set_up(lens, lens.questions[target["number"] - 1])
        st.session_state[TAKEN] = target["step"]
        st.rerun()
    page, parameters = _way_to(wanted, target["number"])
    if target["sets_up"]:
        controls.set_parameters(question_row.model_to_bring(wanted.questions[target["number"] - 1]))
    st.session_state[TAKEN] = target["step"]
    st.switch_page(page, query_params=parameters)


def _way_to(lens: Lens, number: int = 1) -> tuple[st.Page, dict[str, str]]:
    """The way to a lens, which then asks this question. The model stays: it may hold the audience's own text."""
    set_up = question_row.set_up_of(lens, lens.questions[number - 1])
    return way.page(lens), way.parameters(lens, set_up)
