"""The buttons of the view "change": what can be done to B, what has been done, and A."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from tfm_ui.lenses.attention.change.grammar import (
    LONGEST,
    Change,
    Drop,
    Replace,
    Silence,
    Swap,
    Zero,
    fits,
    parse,
    with_change,
    written,
)
from tfm_ui.lenses.attention.change.numbers import ChangeView
from tfm_ui.page import controls
from tfm_ui.text.plain import plain

PREFIX, WORD = "attention_", "_change_word"
FULL = "The link has no room for it: take another change back."
SHOWN = 8  # changes with a button in sight


def acts(seen: ChangeView) -> None:
    """A button for each change that can be made at the locked head and cell, of which B has not yet all."""
    (query, key), (of_queries, of_keys), state = seen.cell, seen.texts, seen.state
    swaps = of_queries == of_keys and query != key
    offered: list[tuple[str, Change, bool]] = [
        ("silence", Silence(seen.kind, state.layer, state.head), True),
        ("zero", Zero(seen.kind, state.layer, 0, key), True),
        ("drop", Drop(of_keys, key), seen.cell_is_there),
        ("swap", Swap(of_queries, query, key), swaps and seen.cell_is_there),
    ]
    now = parse(state.changes)[0]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="boxes_change_acts"):
        for name, change, sensible in offered:
            label = plain(seen.naming.said(change)) if swaps or name != "swap" else "Swap two tokens"
            new = with_change(now, change)
            possible = sensible and change not in now and change in seen.naming.possible(written(new))
            full = possible and not fits(new)
            options: dict[str, Any] = {"disabled": full or not possible, "help": FULL if full else None}
            st.button(label, on_click=hold, kwargs={"changes": new}, key=f"_change_{name}", **options)
        st.text_input(
            "Another token",
            key=WORD,
            placeholder=f"Another word for {seen.naming.token(of_keys, key)}",
            label_visibility="collapsed",
            width=200,
            on_change=_replace,
            args=(now, of_keys, key),
        )


def done(seen: ChangeView) -> None:
    """What has been done to B, each with a cross that takes it back, and what A is."""
    a, b = (parse(text)[0] for text in (seen.state.pinned, seen.state.changes))
    possible = seen.naming.possible(seen.state.changes)
    if seen.as_first_seen:  # nobody asked for what this model cannot do
        b = possible
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="change_done"):
        st.html('<p class="side">B</p>', width="content")
        sight = st.container(horizontal=True, gap="small", width="content")
        menu = st.popover(f"and {len(b) - SHOWN} more", type="tertiary") if len(b) > SHOWN else None
        for number, change in enumerate(b):
            rest = [other for other in b if other != change]
            label = plain(seen.naming.said(change) + ("" if change in possible else " (set aside)"))
            options: dict[str, Any] = {"icon": ":material/close:", "key": f"_done_{number}"}
            where = menu if menu and number >= SHOWN else sight
            where.button(label, on_click=hold, kwargs={"changes": rest}, **options)
        if not b:
            st.html('<p class="side">as it is</p>', width="content")
        said = "; ".join(seen.naming.said(change) for change in a) or "as it is"
        pin = ":material/keep:"
        st.button("Pin B as A", on_click=hold, kwargs={"pinned": b}, disabled=a == b, icon=pin, key="_change_pin")
        st.button("B back to A", on_click=hold, kwargs={"changes": a}, disabled=a == b, key="_change_back")
        st.button("A as it is", on_click=hold, kwargs={"pinned": []}, disabled=not a, key="_change_unpin")
        st.caption(f"**A**: {plain(said)}", width="content")


def _replace(now: Sequence[Change], text: str, token: int) -> None:
    """What was typed takes the place of a token; of several words the first."""
    typed = st.session_state[WORD].replace(";", " ").split()
    st.session_state[WORD] = ""
    if typed:
        change = Replace(text, token, typed[0][:LONGEST])
        new = with_change(now, change)
        hold(new if fits(new) else [*now, change])  # then it is dropped and that is said; what stood there stays


def hold(changes: Sequence[Change] | None = None, pinned: Sequence[Change] | None = None) -> None:
    """Put changes into the link: of B, or of A."""
    values = {"changes": changes, "pinned": pinned}
    controls.change(PREFIX, **{name: written(those) for name, those in values.items() if those is not None})
