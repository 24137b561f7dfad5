"""The view "padding": a sentence alone and in its batch; a row without a key, and how its NaN spreads."""

from functools import partial

import streamlit as st

from tfm_core import padding_mask
from tfm_core.study import order
from tfm_ui.lenses.masks.batch import THE_BATCH, reads_instead
from tfm_ui.lenses.masks.composer import PICTURES as OF_LENS
from tfm_ui.lenses.masks.composer import mask_and
from tfm_ui.lenses.masks.masked_passes import forward_under_mask, other_mask
from tfm_ui.lenses.masks.padding import nan_spread, treatments
from tfm_ui.lenses.masks.padding.alone import Alone
from tfm_ui.lenses.masks.padding.amounts import ByAmount
from tfm_ui.lenses.masks.padding.beside import AloneAndPadded, run_beside
from tfm_ui.lenses.masks.padding.empty_row_pictures import PICTURES as OF_EMPTY_ROW
from tfm_ui.lenses.masks.padding.padded import key_mask, laid
from tfm_ui.lenses.masks.padding.pictures import PICTURES
from tfm_ui.lenses.masks.padding.weights import Weights
from tfm_ui.lenses.masks.state import PREFIX, MasksState, padded
from tfm_ui.page import controls
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Columns, Note, OpenTable, Panel
from tfm_ui.state.model_state import ModelState

SOURCES = (order.apart, padding_mask, laid, key_mask, forward_under_mask)  # of the sentence beside padding
WIDTHS = {
    name: st.column_config.TextColumn(width=width)
    for name, width in {"its weights": 160, "its output": 170, "other rows, from ours": 150, "how": 400}.items()
}


def blocks(model: ModelState, state: MasksState) -> list[Block | None]:
    """Padding, right and wrong."""
    beside, rows = run_beside(model, state), treatments.treatments_of_row(model, state)
    asides = (beside.aside(), rows.at.aside(padded(model, state)))
    return [
        _alone(model, state, beside),
        *(Note(aside) if aside else None for aside in asides),
        *[make(model, state) for make in THE_BATCH],
        Columns([[_amounts(beside)], [_weights(beside)]], widths=(7, 13)),
        _rows(rows),
        _spread(model, state),
    ]


def _alone(model: ModelState, state: MasksState, beside: AloneAndPadded) -> Panel:
    return Box(
        key="masks_padding",
        title="Alone and in the batch",
        how_to_read="How far each token’s vector is from what it is when the sentence runs alone, from layer to "
        "layer. Among tokens the mask is the same in all runs.",
        shape=f"batch × tokens = {len(beside.batch.settings)} × {beside.batch.source.shape[1]}",
        tools=partial(_acts, model, state, beside),
        picture="masks_padding",
        result=Alone(beside),
        sources=SOURCES,
    )


def _acts(model: ModelState, state: MasksState, beside: AloneAndPadded) -> None:
    """Buttons to what makes padding matter, where it does not."""
    with st.container(horizontal=True, gap="small", key="masks_padding_acts"):
        if beside.harmless and model.masks_the_future and state.pad_side == "right":
            st.button(
                "Switch the causal mask off",
                on_click=controls.change,
                args=("",),
                kwargs={"causal": False},
                key="_masks_causal",
            )
        if beside.batch.setting.place == "decoder":
            st.button(
                "Look at cross-attention",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"place": "cross"},
                key="_masks_cross",
            )


def _amounts(beside: AloneAndPadded) -> Panel:
    return Box(
        key="masks_padding_amount",
        title="By how much padding",
        how_to_read="The largest move of an output (up, in powers of ten) against the number of PADs.",
        picture="masks_padding_amount",
        result=ByAmount(beside),
        sources=SOURCES,
    )


def _weights(beside: AloneAndPadded) -> Panel:
    result = Weights(beside)
    return Box(
        key="masks_padding_weights",
        title="Where the weight goes",
        how_to_read=f"{result.where[0].upper()}{result.where[1:]} in the three runs; tokens (rows) look at tokens and "
        "PAD (columns). One scale.",
        picture="masks_padding_weights",
        result=result,
        sources=SOURCES,
    )


def _rows(result: treatments.TreatmentsOfRow) -> Panel:
    return Box(
        key="masks_empty_row",
        title="A row without a key",
        how_to_read=f"What its weights are in {result.where}, where they are handed out; below, every treatment, "
        "run with this model’s weights.",
        picture="masks_empty_row",
        result=result,
        open_table=OpenTable(WIDTHS),
        sources=treatments.SOURCES,
    )


def _spread(model: ModelState, state: MasksState) -> Panel:
    return Box(
        key="masks_nan_spreads",
        title="How a NaN spreads",
        how_to_read="Each token after each layer, the treatment in the place of ours in all of them: NaN, or how "
        "far it is from ours.",
        picture="masks_nan_spreads",
        result=nan_spread.nan_spread(model, state),
        sources=nan_spread.SOURCES,
    )


def running(model: ModelState, state: MasksState) -> str:
    """What is said while the batch is run."""
    return "Running the batch"


VIEW = View(
    never_trained=other_mask,
    title="Padding",
    blocks=blocks,
    drawn=OF_LENS | PICTURES | OF_EMPTY_ROW,
    reads_instead=reads_instead,
    controls=mask_and("layer", "head", more=("pad_side", "row")),
    running=running,
)
