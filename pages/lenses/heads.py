"""The Heads lens: all heads of all layers as a grid, one of them large."""

import math
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import MultiHeadAttention, attention_scores, attention_weights, mask_scores
from tfm_ui.lenses.heads.numbers import HeadsState, HeadsView, view
from tfm_ui.lenses.heads.presets import HEADS
from tfm_ui.live import passes
from tfm_ui.live.attention import SUMMARY, Attention, summarise
from tfm_ui.live.recipe import recipe
from tfm_ui.page import controls, frame
from tfm_ui.page.panels import Show, panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState

PREFIX = "heads_"


def columns(keys: int) -> dict[str, Any]:
    """The summary's columns as bars; entropy reaches as far as that many keys can take it."""
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


def pick(layer: int, head: int) -> None:
    """A click in the grid, counted from 0."""
    controls.assign(PREFIX, layer=layer + 1, head=head + 1)


@frame.lens("heads")
def lens(model: ModelState, shown: passes.Pass) -> None:
    """Both panels; a change of the lens's own controls runs this alone."""
    limits = HeadsState.limits(model)

    def draw(name: str, where: DeltaGenerator) -> None:
        controls.draw(HeadsState, name, where, prefix=PREFIX, limits=limits)

    pills = st.container()
    if model.is_encoder_decoder:
        draw("kind", st.container())
    left, right = st.columns([9, 11] if model.num_heads <= 8 else [1, 1], gap="medium")
    with right, panel("head") as show:  # first, as the grid on the left rings what the boxes here hold
        boxes = st.container(horizontal=True, gap="small", key="boxes_heads")
        for name in ("layer", "head", "scale"):
            draw(name, boxes)
        state = controls.current(HeadsState, PREFIX)
        with pills:
            frame.presets(HEADS, HeadsState, PREFIX)
        seen = view(model, shown, state.kind)
        one_head(show, model, seen, state)
    with left, panel("grid") as show:
        all_heads(show, model, seen, state)


def all_heads(show: Show, model: ModelState, seen: HeadsView, state: HeadsState) -> None:
    """The overview: a thumbnail and a row of numbers per head."""
    show(
        title=f"All {model.num_layers * model.num_heads} heads",
        how_to_read="Rows are layers, columns are heads. A click locks one, here or in the table.",
        picture=Drawing("heads", ((model, ""), (state, PREFIX)), on_pick=pick),
        sentence=seen.sentence,
        # on a phone the distance is the one column that does not fit
        table=lambda: seen.summary().drop(columns="distance", errors="ignore") if frame.on_phone() else seen.summary(),
        columns=columns(len(seen.keys)),
        row=((state.layer - 1) * model.num_heads + state.head - 1, lambda row: pick(*divmod(row, model.num_heads))),
        sources=[summarise, *SUMMARY.values()],
        mode=frame.mode(),
    )


def one_head(show: Show, model: ModelState, seen: HeadsView, state: HeadsState) -> None:
    """The locked head, large."""
    layer, head = state.layer - 1, state.head - 1
    one = seen.head(layer, head)
    show(
        title=f"Layer {state.layer}, head {state.head}",
        how_to_read="Read a row: how one query spreads its 1.00 over the keys it may see.",
        shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
        locked=True,
        picture=Drawing("head", ((model, ""), (state, PREFIX))),
        sentence=seen.sentence_of(layer, head),
        laws=one.laws(),
        table=one.table,
        sources=[attention_scores, mask_scores, attention_weights, MultiHeadAttention.forward, Attention.with_scores],
        recipe=recipe(model, seen.place.format(layer=layer, what="weights"), head),
        mode=frame.mode(),
    )


model = frame.model()
controls.open_link(HeadsState, PREFIX, HeadsState.limits(model))
shown = frame.run(model)
frame.title("Heads", shown)
if not frame.asks_for_text(model):
    lens(model, shown)
