"""The view "padding": a sentence alone and in its batch; a row without a key, and how its NaN spreads."""

import streamlit as st

from tfm_ui.lenses.masks.boxes import mask, states
from tfm_ui.lenses.masks.padding import empty_rows
from tfm_ui.lenses.masks.padding import numbers as padding
from tfm_ui.lenses.masks.padding import recipe as padding_recipe
from tfm_ui.lenses.masks.padding import spread as empty_rows_spread
from tfm_ui.lenses.masks.padding.weights import Weights
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.page import controls, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState

WIDTHS = {
    name: st.column_config.TextColumn(width=width)
    for name, width in {"its weights": 160, "its output": 170, "other rows, from ours": 150, "how": 400}.items()
}


def draw(model: ModelState) -> None:
    """Padding, right and wrong."""
    state = mask(model, "layer", "head", "pad_side", "row")
    with st.container(key="masks_padding_running"), st.spinner("Running the batch", show_time=True):
        seen, rows = padding.view(model, state), empty_rows.view(model, state)
        spread = empty_rows_spread.view(model, state)
    with st.container(key="masks_asides"):
        for aside in filter(None, (seen.aside(), rows.at.aside(model))):
            st.info(aside)
    left, right = st.columns([13, 7], gap="medium")
    with left:
        _beside(model, state, seen)
    with right:
        _amounts(model, state, seen)
    _weights(model, state, seen)
    _rows(model, state, rows)
    _spread(model, state, spread)


def _beside(model: ModelState, state: MasksState, seen: padding.Beside) -> None:
    with panel("masks_padding") as show:
        with st.container(horizontal=True, gap="small", key="masks_padding_acts"):
            if seen.harmless and model.masks_the_future and state.pad_side == "right":
                off = {"args": ("",), "kwargs": {"causal": False}}
                st.button("Switch the causal mask off", on_click=controls.change, **off, key="_masks_causal")
            if seen.batch.setting.place == "decoder":
                st.button(
                    "Look at cross-attention",
                    on_click=controls.change,
                    args=(PREFIX,),
                    kwargs={"place": "cross"},
                    key="_masks_cross",
                )
        show(
            title="Alone and in the batch",
            how_to_read="How far each token’s vector is from what it is when the sentence runs alone, from layer to "
            "layer. Among tokens the mask is the same in all runs.",
            shape=f"batch × tokens = {len(seen.batch.settings)} × {seen.batch.source.shape[1]}",
            picture=Drawing("masks_padding", states(model, state)),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            sources=padding.SOURCES,
            recipe=padding_recipe.beside_recipe(seen),
            mode=frame.mode(),
        )


def _weights(model: ModelState, state: MasksState, beside: padding.Beside) -> None:
    seen = Weights(beside)
    with panel("masks_padding_weights") as show:
        show(
            title="Where the weight goes",
            how_to_read=f"{seen.where[0].upper()}{seen.where[1:]} in the three runs; tokens (rows) look at tokens and "
            "PAD (columns). One scale.",
            picture=Drawing("masks_padding_weights", states(model, state)),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            sources=padding.SOURCES,
            recipe=padding_recipe.weights_recipe(beside),
            mode=frame.mode(),
        )


def _amounts(model: ModelState, state: MasksState, seen: padding.Beside) -> None:
    with panel("masks_padding_amount") as show:
        show(
            title="By how much padding",
            how_to_read="The largest move of an output (up, in powers of ten) against the number of PADs.",
            picture=Drawing("masks_padding_amount", states(model, state)),
            sentence=seen.about_amounts(),
            table=seen.amounts_table,
            sources=padding.SOURCES,
            recipe=padding_recipe.amounts_recipe(seen),
            mode=frame.mode(),
        )


def _rows(model: ModelState, state: MasksState, seen: empty_rows.Rows) -> None:
    with panel("masks_empty_row") as show:
        show(
            title="A row without a key",
            how_to_read=f"What its weights are in {seen.where}, where they are handed out; below, every treatment, "
            "run with this model’s weights.",
            picture=Drawing("masks_empty_row", states(model, state)),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            columns=WIDTHS,
            sources=empty_rows.SOURCES,
            recipe=padding_recipe.rows_recipe(seen),
            mode=frame.mode(),
        )


def _spread(model: ModelState, state: MasksState, seen: empty_rows_spread.Spreading) -> None:
    with panel("masks_nan_spreads") as show:
        show(
            title="How a NaN spreads",
            how_to_read="Each token after each layer, the treatment in the place of ours in all of them: NaN, or how "
            "far it is from ours.",
            picture=Drawing("masks_nan_spreads", states(model, state)),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            sources=empty_rows_spread.SOURCES,
            recipe=padding_recipe.spread_recipe(seen),
            mode=frame.mode(),
        )
