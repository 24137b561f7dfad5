"""A chart with what it owes its viewer: title, how to read it, sentence, laws, numbers, source."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

import pandas as pd
import streamlit as st


@contextmanager
def panel(key: str) -> Iterator[Callable[..., None]]:
    """A bordered box; what is drawn inside the block lies in it. Yields `heading`, to be called once within it.

    The heading stands on top whenever it is called, so that controls drawn in the box may decide on it.
    """
    with st.container(border=True, key=f"panel_{key}"):
        slot = st.empty()

        def heading(title: str, how_to_read: str, *, shape: str = "", locked: bool = False) -> None:
            """Title, shape in symbols and numbers, one line on axes and colours; amber if it shows the locked thing."""
            name = f'<span class="lock">{escape(title)}</span>' if locked else escape(title)
            slot.html(
                f'<div class="phead"><h3>{name} <small>{escape(shape)}</small></h3><p>{escape(how_to_read)}</p></div>'
            )

        yield heading


def said(sentence: str) -> None:
    """The sentence that was computed from the data: the answer to "what am I looking at"."""
    st.html(f'<p class="said">{escape(sentence)}</p>')


def laws(checked: dict[str, bool]) -> None:
    """Invariants that were tested on what is shown: ✓ holds, ✕ broken."""
    st.html(
        '<p class="law">' + "".join(f"<span>{'✓' if ok else '✕'} {escape(law)}</span>" for law, ok in checked.items())
    )


def actions(key: str, data: Callable[[], pd.DataFrame], *sources: Callable[..., Any], recipe: str = "") -> None:
    """The numbers as a table and as CSV, and the source of the functions that computed them, as it runs.

    Nothing of it is prepared until it is opened.
    """
    with st.container(horizontal=True, gap="small", key=f"actions_{key}"):
        numbers = st.popover(
            "Numbers", type="tertiary", icon=":material/table:", on_change="rerun", key=f"numbers_{key}"
        )
        if numbers.open:
            numbers.dataframe(data().style.format("{:.4f}"))
        st.download_button(
            "CSV",
            data=lambda: data().to_csv(),
            file_name=f"attention-lab-{key}.csv",
            mime="text/csv",
            on_click="ignore",
            type="tertiary",
            icon=":material/download:",
            key=f"csv_{key}",
        )
        source = st.popover("Source", type="tertiary", icon=":material/code:", on_change="rerun", key=f"source_{key}")
        if source.open:
            if recipe:
                source.caption("The same numbers in a plain Python shell")
                source.code(recipe)
            source.caption("The functions that computed them, as they ran")
            for function in sources:
                source.code(inspect.getsource(function))
