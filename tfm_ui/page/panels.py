"""A chart with what it owes its viewer: how to read it, a sentence, the numbers, files, and the source."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from tfm_ui.page.save_png import save_png
from tfm_ui.pictures.registry import Drawing
from tfm_ui.text.csv_file import csv_of
from tfm_ui.text.look import Mode

Source = Callable[..., Any]
Show = Callable[..., Any]  # what `panel` yields
Files = Mapping[str, tuple[str, Callable[[], str], str]]  # kind -> what it holds, its content, its MIME type


@contextmanager
def panel(key: str) -> Iterator[Show]:
    """A bordered box for one chart. Yields `show`, to be called once in it; what is drawn before stands above.

    with panel("head") as show:
        ...controls that decide on the picture...
        show(title=..., how_to_read=..., picture=..., sentence=..., table=..., sources=...)
    """
    with st.container(border=True, key=f"panel_{key}"):
        heading = st.empty()  # on top, though what it says may depend on the controls below it

        def show(
            *,
            title: str,
            how_to_read: str,
            sentence: str,
            table: Callable[[], pd.DataFrame],
            sources: Sequence[Source],
            mode: Mode,
            picture: Drawing | None = None,
            shape: str = "",
            locked: bool = False,
            laws: Mapping[str, bool] | None = None,
            recipe: str = "",
            columns: Mapping[str, Any] | None = None,
            row: tuple[int, Callable[[int], None]] | None = None,
            files: Files | None = None,
        ) -> Any:
            """Draw the chart with all that belongs to it, and return what its picture returned.

            Args:
                title: what it is.
                how_to_read: one line on axes and colours.
                sentence: what it comes to, computed from its data.
                table: its data.
                sources: the functions that computed it, shown as they run.
                mode: "light" or "dark", for the file.
                picture: the chart itself; where it is no picture, it was drawn before.
                shape: in symbols and numbers.
                locked: whether it shows what the reader locked; the title then has the amber bar.
                laws: invariants that were tested on what is shown -> whether they hold.
                recipe: lines of Python that give the same numbers.
                columns: how the table's columns are drawn, if it stands open below the sentence, to be sorted.
                row: of such a table, the selected row, from 0, and what is called with the row that is clicked.
                files: what else can be downloaded.
            """
            name = f'<span class="lock">{escape(title)}</span>' if locked else escape(title)
            heading.html(
                f'<div class="phead"><h3>{name} <small>{escape(shape)}</small></h3><p>{escape(how_to_read)}</p></div>'
            )
            returned = picture.draw(key) if picture else None
            st.html(f'<p class="said">{escape(sentence)}</p>')
            if laws:
                marks = "".join(f"<span>{'✓' if ok else '✕'} {escape(law)}</span>" for law, ok in laws.items())
                st.html(f'<p class="law">{marks}</p>')
            if columns:
                drawn: dict[str, Any] = {"column_config": dict(columns), "row_height": 28, "alt": sentence}
                if row:
                    _with_a_selected_row(table(), f"table_{key}", *row, **drawn)
                else:
                    st.dataframe(table(), key=f"table_{key}", **drawn)
            with st.container(horizontal=True, gap="small", key=f"actions_{key}"):
                if not columns:
                    _numbers(key, table)
                _download(key, title, sentence, picture, table, mode, files or {})
                _source(key, sources, recipe)
            return returned

        yield show


def _with_a_selected_row(
    table: pd.DataFrame, key: str, chosen: int, choose: Callable[[int], None], **drawn: Any
) -> None:
    """A table of which one row is always selected: what the page holds, whoever set it."""

    def selected() -> None:
        rows, cells = (st.session_state[key].selection[kind] for kind in ("rows", "cells"))
        clicked = [row for row, _ in cells] or rows
        if clicked and clicked[0] != chosen:
            choose(clicked[0])

    st.session_state[key] = {"selection": {"rows": [chosen], "columns": [], "cells": []}}
    # The index as a column: a click on a cell of an index would select neither the cell nor its row.
    drawn |= {"hide_index": True, "on_select": selected, "selection_mode": ("single-row-required", "single-cell")}
    st.dataframe(table.reset_index(), key=key, **drawn)


# Nothing of what follows is prepared until it is opened.


def _menu(key: str, label: str, icon: str) -> Any:
    return st.popover(label, type="tertiary", icon=icon, on_change="rerun", key=f"{label.lower()}_{key}")


def _numbers(key: str, table: Callable[[], pd.DataFrame]) -> None:
    menu = _menu(key, "Numbers", ":material/table:")
    if menu.open:
        menu.dataframe(table())


def _download(
    key: str,
    title: str,
    sentence: str,
    picture: Drawing | None,
    table: Callable[[], pd.DataFrame],
    mode: Mode,
    more: Files,
) -> None:
    menu = _menu(key, "Download", ":material/download:")
    if not menu.open:
        return
    name = f"attention-lab-{key}"
    files = {"CSV": ("the numbers", lambda: csv_of(table()), "text/csv"), **more}
    if picture:
        page = picture.page
        files["HTML"] = ("the picture, live, as a page", lambda: page(title, sentence, mode), "text/html")
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
        if picture:
            save_png(key, f"{name}.png")


def _source(key: str, sources: Sequence[Source], recipe: str) -> None:
    menu = _menu(key, "Source", ":material/code:")
    if not menu.open:
        return
    with menu.container(key=f"lines_{key}"):
        if recipe:
            st.caption("The same numbers in a plain Python shell")
            st.code(recipe)
        st.caption("The functions that computed them, as they ran")
        for function in sources:
            st.code(inspect.getsource(function))
