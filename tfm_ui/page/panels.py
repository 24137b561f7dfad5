"""Draws blocks: each panel with its heading, picture, sentence and laws; numbers, downloads and source on demand."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from tfm_ui.page import share, tensors
from tfm_ui.page.drawing import Drawing
from tfm_ui.page.present import presenting
from tfm_ui.page.save_picture import save_picture
from tfm_ui.page.spoken import Spoken
from tfm_ui.pictures.panel import Block, Columns, Note, Panel
from tfm_ui.pictures.registry import States
from tfm_ui.text import formats
from tfm_ui.text.colours import Mode
from tfm_ui.text.csv_file import csv_of
from tfm_ui.text.glossary import explained
from tfm_ui.text.markdown import escape_markdown
from tfm_ui.text.source import shown_source

MOST_CELLS = 2_000_000  # of a table that is sent to the browser, about 15 MB: a message has 50 MB at most
NOTEBOOK = """import plotly.io
plotly.io.read_json("{}")"""


def mode() -> Mode:
    """The reader's colour scheme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def on_phone() -> bool:
    """Whether the browser says that it runs on a phone."""
    return "Mobi" in (st.context.headers.get("User-Agent") or "")


def draw_blocks(
    blocks: Sequence[Block | None], states: States, spoken: Spoken, *, first: int = 0, within: str = ""
) -> None:
    """Draw blocks below each other, each in a place that stays where it is when others are empty.

    Args:
        blocks: the blocks of a view, see tfm_ui/pictures/panel.py.
        states: the states that the pictures show.
        spoken: what the page says.
        first: the number of the first block among all blocks of the view.
        within: the beginning of the names of places in a column, see tfm_ui/page/words.py.
    """
    for number, block in enumerate(blocks, first):
        place = f"{within}{number}"
        with st.container(key=f"columns_{place}" if isinstance(block, Columns) else None):
            _draw_block(block, states, spoken, place)


def _draw_block(block: Block | None, states: States, spoken: Spoken, place: str) -> None:
    match block:
        case Panel():
            with st.container(border=True, key=f"panel_{block.key}"):
                draw_panel(block, states, spoken)
        case Columns(columns, widths):
            places = st.columns(list(widths) or len(columns), gap="small")
            for number, column in enumerate(columns):
                with places[number]:
                    draw_blocks(column, states, spoken, within=f"{place}_{number}_")
        case Note(text, "plain"):
            st.html(f'<p class="note" data-words="note_{place}">{explained(text)}</p>')
        case Note(text, "warning", icon):
            st.warning(escape_markdown(text), icon=icon)
        case Note(text, _, icon):
            st.info(escape_markdown(text), icon=icon)
        case None:
            pass
        case draw:
            draw()


def draw_panel(panel: Panel, states: States, spoken: Spoken) -> None:
    """Draw what a panel holds: nothing whose height an act changes stands above the picture."""
    key = panel.key
    panel.above()
    lock = ' class="lock"' if panel.locked else ""
    title, shape = spoken.plain(f"title_{key}", lambda: panel.title), spoken.plain(f"shape_{key}", lambda: panel.shape)
    name = f'<span{lock} data-words="title_{key}">{escape(title)}</span>'
    shape = f'<small data-words="shape_{key}">{escape(shape)}</small>'
    st.html(f'<div class="phead"><h2>{name} {shape}</h2></div>')
    drawing = Drawing(panel.picture_name, states, panel.on_pick, panel.slow) if panel.picture_name else None
    if drawing and (clicked := drawing.draw(key)) and panel.opens:
        panel.opens(*clicked)
    if panel.open_table and not drawing:  # then the table is the panel's picture
        _open_table(panel, spoken)
    if tokens := spoken.tokens(f"tokens_{key}", lambda: panel.word_row):
        label = f'tabindex="0" role="group" aria-label="{escape(title)}"'
        st.html(f'<div class="tokens" {label} data-words="tokens_{key}">{tokens}</div>')
    panel.tools()
    with st.container(gap=None, key=f"words_{key}"):
        st.html(f'<p class="said" data-words="said_{key}">{spoken.html(f"said_{key}", panel.sentence)}</p>')
        if laws := spoken.laws(f"laws_{key}", panel.laws):
            st.html(f'<p class="law" data-words="laws_{key}">{laws}</p>')
        if how := spoken.html(f"how_{key}", lambda: panel.how_to_read):
            st.html(f'<p class="how" data-words="how_{key}">{how}</p>')
    if panel.open_table and drawing:
        _open_table(panel, spoken)
    with st.container(horizontal=True, gap="small", key=f"actions_{key}"):
        if not panel.open_table:
            _numbers(key, panel.table)
        _download(panel, drawing)
        _source(panel)
    panel.below()


def _open_table(panel: Panel, spoken: Spoken) -> None:
    shown, key = panel.open_table, f"table_{panel.key}"
    assert shown
    drawn: dict[str, Any] = {
        "column_config": dict(shown.columns),
        "row_height": 28,
        "placeholder": "",  # of a number that there is not, as while presenting
        "alt": spoken.plain(f"said_{panel.key}", panel.sentence),
    }
    table = panel.table()
    if shown.not_on_phones and on_phone():
        table = table.drop(columns=list(shown.not_on_phones), errors="ignore")
    if presenting():
        hidden = [column for column, how in shown.columns.items() if how is None]
        st.html(for_the_hall(table.drop(columns=hidden, errors="ignore")))
    elif shown.row is None:
        st.dataframe(table, key=key, **drawn)
    else:
        _with_a_selected_row(table, key, shown.row, shown.choose, **drawn)


def for_the_hall(table: pd.DataFrame) -> str:
    """A table as HTML, whose letters are as large as all others while presenting; escaped."""
    html: str = table.map(_three_digits).to_html(classes="hall", border=0, na_rep="")
    return html


def _three_digits(number: Any) -> Any:
    if not isinstance(number, int | float) or isinstance(number, bool):
        return number
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return "" if pd.isna(number) else f"{number:,.0f}" if number == round(number) else f"{number:,.3g}"


def _with_a_selected_row(
    table: pd.DataFrame, key: str, chosen: int, choose: Callable[[int], None], **drawn: Any
) -> None:
    """Draw a table in which exactly one row is always selected: the row that the page's state names."""

    def selected() -> None:
        rows, cells = (st.session_state[key].selection[kind] for kind in ("rows", "cells"))
        clicked = [row for row, _ in cells] or rows
        if clicked and clicked[0] != chosen:
            choose(clicked[0])

    st.session_state[key] = {"selection": {"rows": [chosen], "columns": [], "cells": []}}
    # The index becomes a column, because a click on an index cell selects neither the cell nor its row.
    drawn |= {"hide_index": True, "on_select": selected, "selection_mode": ("single-row-required", "single-cell")}
    st.dataframe(table.reset_index(), key=key, **drawn)


# The menus below compute their content only when the reader opens them.


def _menu(key: str, label: str, icon: str) -> Any:
    return st.popover(label, type="tertiary", icon=icon, on_change="rerun", key=f"{label.lower()}_{key}")


def _numbers(key: str, table: Callable[[], pd.DataFrame]) -> None:
    menu = _menu(key, "Numbers", ":material/table:")
    if not menu.open:
        return
    numbers = table()
    most = max(1, MOST_CELLS // max(1, numbers.shape[1]))
    menu.container(key=f"rows_{key}").dataframe(numbers[:most])
    if len(numbers) > most:
        rows = f"The first {formats.count(most)} of {formats.count(len(numbers))} rows"
        menu.caption(f"{rows}: more are too much for a browser. The CSV file under “Download” has all of them.")


def _download(panel: Panel, drawing: Drawing | None) -> None:
    key, scheme = panel.key, mode()
    menu = _menu(key, "Download", ":material/download:")
    if not menu.open:
        return
    name = f"attention-lab-{key}"
    files = {"CSV": ("the numbers", lambda: csv_of(panel.table()), "text/csv"), **panel.files}
    if drawing:
        page = partial(drawing.page, panel.title, panel.sentence(), scheme, share.address())
        files["HTML"] = ("the picture as a page, with its numbers", page, "text/html")
    if has_figure := drawing is not None and drawing.has_figure:
        figure = partial(drawing.figure, panel.title, panel.sentence(), scheme)
        files["JSON"] = ("the figure, for Plotly", figure, "application/json")
    with menu:
        for kind, (what, content, mime) in files.items():
            st.download_button(
                f"{kind}: {what}",
                content,
                f"{name}.{kind.lower()}",
                mime,
                on_click="ignore",
                type="tertiary",
                key=f"{kind.lower()}_{key}",
            )
        for kind in drawing.saves if drawing else ():
            save_picture(key, kind, f"{name}.{kind.lower()}")
        if has_figure:
            st.caption("To open the figure in a notebook")
            st.code(NOTEBOOK.format(f"{name}.json"), wrap_lines=True)
        if step := panel.tensors:
            tensors.draw(step, name, key)


def _source(panel: Panel) -> None:
    menu = _menu(panel.key, "Source", ":material/code:")
    if not menu.open:
        return
    with menu.container(key=f"lines_{panel.key}"):
        if recipe := panel.recipe():
            st.caption("The same numbers in a plain Python shell")
            st.code(recipe)
        st.caption("The functions that computed them, as they ran")
        for function in panel.sources:
            st.code(shown_source(function))
