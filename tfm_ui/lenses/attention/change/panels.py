"""Reach into the model, and see what becomes of it."""

from html import escape

import streamlit as st

from tfm_core import Transformer, TransformerLayer
from tfm_ui.lenses.attention.boxes import PREFIX, boxes
from tfm_ui.lenses.attention.change import buttons as change_buttons
from tfm_ui.lenses.attention.change import numbers as change_view
from tfm_ui.lenses.attention.change import recipe as change_recipe
from tfm_ui.lenses.attention.change.compared import compare
from tfm_ui.lenses.attention.change.tables import output_table, stream_table, weights_table
from tfm_ui.page import frame
from tfm_ui.page.controls_line import row
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Reach into the model, and see what becomes of it."""
    state = boxes(model, row("change"), "kind", "layer", "head", "rescale")
    seen = change_view.view(model, state)
    states = ((model, ""), (state, PREFIX))
    with st.container(key="change_buttons"):
        change_buttons.acts(seen)
        change_buttons.done(seen)
        st.html(f'<p class="note">{escape(f"{seen.aside} {seen.full}")}</p>')
    with panel("change_weights") as show:
        show(
            title=f"Layer {state.layer}, head {state.head}",
            how_to_read="Two runs of the model, and what differs; tokens stand as in the text, wherever B reads them. "
            "Click a cell to lock it, then drag its weight.",
            shape=f"query × key = {len(seen.queries)} × {len(seen.keys)}",
            locked=True,
            picture=Drawing("change_weights", states),
            sentence=seen.about_weights(),
            laws=seen.laws(),
            table=lambda: weights_table(seen),
            sources=[*change_view.SOURCES, compare],
            recipe=change_recipe.recipe_of(seen),
            mode=frame.mode(),
        )
    left, right = st.columns([1, 1], gap="medium")
    with left, panel("change_stream") as show:
        show(
            title="The residual stream",
            how_to_read="How far each token’s vector moved, as a share of its length in A: to the right, on its way "
            "through the model.",
            picture=Drawing("change_stream", states),
            sentence=seen.about_stream(),
            table=lambda: stream_table(seen),
            sources=[compare, TransformerLayer.forward],
            mode=frame.mode(),
        )
    with right, panel("change_output") as show:
        show(
            title="What it would say next" if model.looks_back_only else "What it makes of the last token",
            how_to_read=seen.how_to_read_output,
            picture=Drawing("change_output", states),
            sentence=seen.about_output(),
            table=lambda: output_table(seen),
            sources=[compare, Transformer.forward],
            mode=frame.mode(),
        )
