"""The buttons of the views on parts: open a source, hold it out, go back."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from tfm_ui.lenses.attention.state import PREFIX
from tfm_ui.lenses.attention.trail import At, written
from tfm_ui.lenses.attention.why.shared import Opening, PartsPanel
from tfm_ui.page import controls
from tfm_ui.text import token_labels
from tfm_ui.text.markdown import escape_markdown

SIDES = {"q": "query", "k": "key", "v": "value", "l": "logit"}
SHOWN_IN = {"q": "why", "k": "why", "v": "written", "l": "logit"}  # in which view a source of this side is chosen
OPENS = {"q": "why", "k": "why", "v": "written", "l": "written"}  # and in which view it opens


def draw_acts(panel: PartsPanel, *openings: Opening, can_hold_out: bool = False) -> None:
    """A row of buttons: the cells that led here, and what can be done with the chosen sources."""
    with st.container(key=f"acts_{panel.name}"):
        _draw_trail(panel)
        with st.container(horizontal=True, gap="small"):
            for opening in openings:
                if opening.source.is_head:
                    _open_button(panel, opening)
            if can_hold_out:
                _draw_holding_out(panel, openings)


def _open_button(panel: PartsPanel, opening: Opening) -> None:
    side = SIDES[opening.cell.side]
    st.button(
        escape_markdown(f"Open {opening.source.name} ({side})"),
        icon=":material/zoom_in:",
        on_click=open_source,
        args=(panel, opening),
        key=f"_open_{panel.name}_{side}",
    )


def open_source(panel: PartsPanel, opening: Opening) -> None:
    """Go to the cell in which the source's head got what it gave, and note where this was."""
    go_to(opening.opened(panel.model), opening.trail, view=OPENS[opening.cell.side])


def go_to(cell: At, trail: Sequence[At], *, view: str) -> None:
    """Show a cell in a view, reached through these; or a logit."""
    fields: dict[str, Any] = cell._asdict()
    del fields["side"]
    if cell.side == "l":
        fields = {"rank": cell.layer, "against": cell.head, "query": cell.query}
    cleared = {"from_query": "", "from_key": "", "out": "none"}
    controls.change(PREFIX, **fields, **cleared, view=view, trail=written(trail))


def _draw_trail(panel: PartsPanel) -> None:
    trail = panel.trail
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"trail_{panel.name}"):
        for number, cell in enumerate(trail):
            st.button(
                escape_markdown(in_words(panel, cell)),
                icon=":material/arrow_back:",
                on_click=go_to,
                args=(cell, trail[:number]),
                kwargs={"view": SHOWN_IN[cell.side]},
                type="tertiary",
                key=f"_trail_{panel.name}_{number}",
            )


def in_words(panel: PartsPanel, cell: At) -> str:
    """A cell as a button says it."""
    if cell.side == "l":
        text = panel.model.target_tokens if panel.model.is_encoder_decoder else panel.model.source_tokens
        at = token_labels.labels(text)[cell.query - 1]
        return f"the logit at “{at}”, rank {cell.layer}" + (f" minus rank {cell.head}" if cell.head else "")
    queries, keys = panel.tokens_in(cell.kind)
    query, key = token_labels.labels(queries)[cell.query - 1], token_labels.labels(keys)[cell.key - 1]
    kind = f"{cell.kind}, " if panel.model.is_encoder_decoder else ""
    return f"{kind}layer {cell.layer}, head {cell.head}: “{query}” → “{key}”"


def _draw_holding_out(panel: PartsPanel, openings: Sequence[Opening]) -> None:
    for opening in openings:
        side = SIDES[opening.cell.side]
        is_out = panel.state.out == side
        st.button(
            escape_markdown(f"{'Let back in' if is_out else 'Hold out'} {opening.source.name} ({side})"),
            icon=":material/undo:" if is_out else ":material/block:",
            on_click=controls.change,
            args=(PREFIX,),
            kwargs={"out": "none" if is_out else side, f"from_{side}": opening.source.code},
            key=f"_out_{panel.name}_{side}",
        )
