"""The Heads lens: all heads of all layers as a grid, one of them large."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import MultiHeadAttention, attention_scores, attention_weights, mask_scores
from tfm_ui import compute, controls, frame
from tfm_ui.components.heads_grid import heads_grid, payload
from tfm_ui.figures.head_map import head_map
from tfm_ui.heads import HeadsState, HeadsView, view
from tfm_ui.model_state import ModelState
from tfm_ui.panels import actions, laws, panel, said
from tfm_ui.recipe import recipe

PREFIX = "heads_"
SUMMARY = {
    "entropy": st.column_config.NumberColumn(format="%.2f", width=60, help="nats; 0 is one key alone"),
    "distance": st.column_config.NumberColumn(format="%.1f", width=66, help="tokens from query to key, weighted"),
} | {
    name: st.column_config.ProgressColumn(format="%.0f%%", min_value=0, max_value=100, width=58, help=meaning)
    for name, meaning in {
        "self": "share of the weight that tokens give themselves",
        "prev": "share on the token before",
        "first": "share on the first token",
    }.items()
}


def pick(layer: int, head: int) -> None:
    """A click in the grid, counted from 0."""
    controls.assign(PREFIX, layer=layer + 1, head=head + 1)


@st.fragment
def lens(model: ModelState, shown: compute.Pass) -> None:
    """Both panels; a change of the lens's own controls runs this alone."""
    limits = HeadsState.limits(model)

    def draw(name: str, where: DeltaGenerator) -> None:
        controls.draw(HeadsState, name, where, prefix=PREFIX, limits=limits)

    if model.is_encoder_decoder:
        draw("kind", st.container())
    left, right = st.columns([9, 11] if model.num_heads <= 8 else [1, 1], gap="medium")
    with right, panel("head") as heading:  # first, as the grid on the left rings what the boxes here hold
        boxes = st.container(horizontal=True, gap="small")
        for name in ("layer", "head", "scale"):
            draw(name, boxes)
        state = controls.current(HeadsState, PREFIX)
        seen = view(model, shown, state.kind)
        heading(
            f"Layer {state.layer}, head {state.head}",
            "Read a row: how one query spreads its 1.00 over the keys it may see.",
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            locked=True,
        )
        one_head(model, seen, state)
    with left, panel("grid") as heading:
        heading(f"All {model.num_layers * model.num_heads} heads", "Rows are layers, columns are heads.")
        all_heads(seen, state)


def all_heads(seen: HeadsView, state: HeadsState) -> None:
    """The overview: a thumbnail and a row of numbers per head."""
    data = payload(
        seen.weights,
        seen.visible,
        seen.sentences,
        top=seen.top(state.scale),
        picked=(state.layer - 1, state.head - 1),
        read_queries=seen.read,
    )
    heads_grid(data, key="heads_grid", on_pick=pick)
    said(seen.sentence)
    table = seen.summary()
    if frame.on_phone():
        table = table.drop(columns="distance", errors="ignore")  # the one column that does not fit
    st.dataframe(table, column_config=SUMMARY, row_height=28, key="heads_summary", alt=seen.sentence)


def one_head(model: ModelState, seen: HeadsView, state: HeadsState) -> None:
    """The locked head, large."""
    layer, head = state.layer - 1, state.head - 1
    sentence = seen.sentences[layer * model.num_heads + head]
    figure = head_map(
        seen.weights[layer, head],
        seen.visible,
        seen.queries,
        seen.keys,
        top=seen.top(state.scale)[layer, head].item(),
        mode=frame.mode(),
        formula=seen.formula,
        read_queries=seen.read,
        compact=frame.on_phone(),
    )
    st.plotly_chart(figure, key="heads_map", theme=None, config={"displayModeBar": False}, alt=sentence)
    said(sentence)
    laws(seen.laws(layer, head))
    actions(
        "head",
        lambda: seen.table(layer, head),
        attention_scores,
        mask_scores,
        attention_weights,
        MultiHeadAttention.forward,
        recipe=recipe(model, seen.sites[layer], head),
    )


model = frame.model()
controls.open_link(HeadsState, PREFIX, HeadsState.limits(model))
shown = compute.run(model)
frame.title("Heads", shown)
if not frame.asks_for_text(model):
    lens(model, shown)
