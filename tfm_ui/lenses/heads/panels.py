"""The panels of the Heads lens: the overview of all heads, and one head large."""

import math
from typing import Any

import streamlit as st

from tfm_core import MultiHeadAttention, attention_scores, attention_weights, mask_scores
from tfm_ui.lenses.heads.numbers import AllHeads, HeadsInNumbers, all_heads
from tfm_ui.lenses.heads.state import PREFIX, HeadsState
from tfm_ui.live.attention import SUMMARY, Attention, summarise
from tfm_ui.page import controls
from tfm_ui.pictures.panel import Block, Box, Columns, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState

NO_EXPLANATION = (
    "A weight says where a head looks, and not why Lab GPT says what it says: Attention shows what a head takes from "
    "there, under “Contribution”, and what becomes of the answer without it, under “Change it”."
)


def blocks(model: ModelState, state: HeadsState) -> list[Block | None]:
    """The overview beside the head; below them, all heads as numbers."""
    heads = all_heads(model, state.kind)
    widths = (9, 11) if model.num_heads <= 8 else (1, 1)
    return [
        Columns([[_overview(model, heads)], [_locked(state, heads)]], widths),
        Note(NO_EXPLANATION, "plain") if model.is_lab_gpt else None,
        _numbers(model, state, heads),
    ]


def _overview(model: ModelState, heads: AllHeads) -> Panel:
    """A thumbnail for each head."""
    return Box(
        key="grid",
        title=f"All {count} heads" if (count := model.num_layers * model.num_heads) > 1 else "The only head",
        how_to_read="Rows are layers, columns are heads. A click or a tap on a head shows it large.",
        picture="heads",
        result=heads,
        sources=[summarise, *SUMMARY.values()],
        on_pick=_lock,
    )


def _numbers(model: ModelState, state: HeadsState, heads: AllHeads) -> Panel:
    """A row of numbers for each head."""
    return Box(
        key="heads_numbers",
        title="All heads as numbers",
        how_to_read="A row for each head; a click on it opens the head above. A click on a column’s name sorts.",
        result=HeadsInNumbers(heads),
        open_table=OpenTable(
            _columns(len(heads.keys)),
            row=(state.layer - 1) * model.num_heads + state.head - 1,
            choose=lambda row: _lock(*divmod(row, model.num_heads)),
            not_on_phones=("distance",),
        ),
        sources=[*SUMMARY.values()],
    )


def _locked(state: HeadsState, heads: AllHeads) -> Panel:
    """The locked head, large."""
    return Box(
        key="head",
        title=f"Layer {state.layer}, head {state.head}",
        how_to_read="Read a row: how one query spreads its 1.00 over the keys it may see.",
        shape=f"query × key = {len(heads.queries)} × {len(heads.keys)}",
        locked=True,
        picture="head",
        result=heads.head(state.layer - 1, state.head - 1),
        sources=[attention_scores, mask_scores, attention_weights, MultiHeadAttention.forward, Attention.with_scores],
    )


def _lock(layer: int, head: int) -> None:
    """Lock a head that was clicked; layer and head from 0."""
    controls.change(PREFIX, layer=layer + 1, head=head + 1)


def _columns(keys: int) -> dict[str, Any]:
    """The columns of the table, as bars. Their ends depend on the number of keys, whose log is the highest entropy."""
    most = {"entropy": math.log(keys), "distance": keys - 1.0}
    formats = {"entropy": "%.2f", "distance": "%.1f"}
    meaning = {
        "entropy": "nats; 0 is one key alone",
        "distance": "tokens from query to key, weighted",
        "self": "share of the weight that tokens give themselves",
        "prev": "share on the token before",
        "first": "share on the first token",
    }
    return {
        name: st.column_config.ProgressColumn(
            format=formats.get(name, "%.0f%%"), min_value=0, max_value=most.get(name, 100), width=66, help=text
        )
        for name, text in meaning.items()
    }
