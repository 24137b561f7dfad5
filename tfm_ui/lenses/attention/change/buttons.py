"""The buttons of the view "change": what can be done to B, what has been done, and A."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_ui.lenses.attention import changes
from tfm_ui.lenses.attention.change.panel import ChangePanel
from tfm_ui.lenses.attention.state import PREFIX
from tfm_ui.page import controls
from tfm_ui.text.markdown import escape_markdown

WORD = "_change_word"
FULL = "The link has no room for it: take another change back."
SHOWN = 8  # changes with a button in sight


def draw_done(panel: ChangePanel) -> None:
    """What has been done, how it is taken back, and what is to be said about the changes that were asked for."""
    with st.container(key="change_buttons"):
        _done(panel)
        st.html(f'<p class="note">{escape(f"{panel.aside} {panel.full}")}</p>')


def offered(panel: ChangePanel) -> list[tuple[str, changes.Change, str, bool]]:
    """The changes that have a button: the button's name, the change, the label, and whether it means something here."""
    (query, key), (of_queries, of_keys) = panel.cell, panel.texts
    layer, head = panel.state.layer, panel.state.head
    silence, zero = changes.Silence(panel.kind, layer, head), changes.Zero(panel.kind, layer, 0, key)
    drop, swap = changes.Drop(of_keys, key), changes.Swap(of_queries, query, key)
    two_tokens, cell_is_there = of_queries == of_keys and query != key, panel.locked_cell is not None
    swap_label = swap.in_words(panel.names) if two_tokens else "Swap two tokens"
    return [
        ("silence", silence, silence.in_words(panel.names), True),
        ("zero", zero, zero.in_words(panel.names), True),
        ("drop", drop, drop.in_words(panel.names), cell_is_there),
        ("swap", swap, swap_label, two_tokens and cell_is_there),
    ]


def draw_acts(panel: ChangePanel, where: DeltaGenerator) -> None:
    """A button for each change that can be made at the locked head and cell, of which B has not yet all."""
    now = changes.parse(panel.state.changes)[0]
    with where:
        for name, change, label, means_something in offered(panel):
            new = changes.with_change(now, change)
            allowed = means_something and change not in now and change in changes.sort_out(new, panel.model)[0]
            full = allowed and not changes.fits(new)
            options: dict[str, Any] = {"disabled": full or not allowed, "help": FULL if full else None}
            options |= {"on_click": write_to_link, "kwargs": {"changes": new}}
            st.button(escape_markdown(label), key=f"_change_{name}", **options)


def draw_replacing(panel: ChangePanel, where: DeltaGenerator) -> None:
    """A box for a word that takes the place of the locked key."""
    key, of_keys = panel.cell[1], panel.texts[1]
    where.text_input(
        f"Another word for {escape_markdown(panel.names.token(of_keys, key))}",
        key=WORD,
        on_change=_replace,
        args=(changes.parse(panel.state.changes)[0], of_keys, key),
    )


def _done(panel: ChangePanel) -> None:
    """What has been done to B, each with a cross that takes it back, and what A is."""
    a, b = (changes.parse(text)[0] for text in (panel.state.pinned, panel.state.changes))
    allowed = panel.changes[1]
    if panel.is_example:  # nobody asked for what this model cannot do
        b = allowed
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="change_done"):
        st.html('<p class="side">B</p>', width="content")
        sight = st.container(horizontal=True, gap="small", width="content")
        menu = st.popover(f"and {len(b) - SHOWN} more", type="tertiary") if len(b) > SHOWN else None
        for number, change in enumerate(b):
            rest = [other for other in b if other != change]
            label = escape_markdown(change.in_words(panel.names) + ("" if change in allowed else " (set aside)"))
            options: dict[str, Any] = {"icon": ":material/close:", "key": f"_done_{number}"}
            where = menu if menu and number >= SHOWN else sight
            where.button(label, on_click=write_to_link, kwargs={"changes": rest}, **options)
        if not b:
            st.html('<p class="side">as it is</p>', width="content")
        made = "; ".join(change.in_words(panel.names) for change in a) or "as it is"
        pin: dict[str, Any] = {"icon": ":material/keep:", "key": "_change_pin"}
        st.button("Keep B as A", on_click=write_to_link, kwargs={"pinned": b}, disabled=a == b, **pin)
        st.button("Reset B to A", on_click=write_to_link, kwargs={"changes": a}, disabled=a == b, key="_change_back")
        st.button("Reset A", on_click=write_to_link, kwargs={"pinned": []}, disabled=not a, key="_change_unpin")
        st.caption(f"**A**: {escape_markdown(made)}", width="content")


def _replace(now: Sequence[changes.Change], text: str, token: int) -> None:
    """Put what was typed in the place of a token; if there are several words, the first one."""
    typed = st.session_state[WORD].replace(";", " ").split()
    st.session_state[WORD] = ""
    if typed:
        change = changes.Replace(text, token, typed[0][: changes.LONGEST])
        new = changes.with_change(now, change)
        # Where the link has no room, reading it leaves out the last change and says so: an earlier replacement stays.
        write_to_link(changes=new if changes.fits(new) else [*now, change])


def write_to_link(**fields: Sequence[changes.Change]) -> None:
    """Put changes into the link: those of B are called `changes` there, those of A `pinned`."""
    controls.change(PREFIX, **{name: changes.written(those) for name, those in fields.items()})
