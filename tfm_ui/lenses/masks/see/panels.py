"""The view "see": the mask, and the model that obeys it."""

from functools import partial
from html import escape

import streamlit as st

from tfm_ui.lenses.masks.controls import mask_and, reads_instead, the_batch
from tfm_ui.lenses.masks.other_mask import other_mask
from tfm_ui.lenses.masks.pictures import PICTURES as OF_LENS
from tfm_ui.lenses.masks.see import growth, numbers
from tfm_ui.lenses.masks.see.numbers import HeadUnderMask
from tfm_ui.lenses.masks.see.pictures import PICTURES
from tfm_ui.lenses.masks.state import PREFIX, MasksState, setting
from tfm_ui.page import controls, undo
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: MasksState) -> list[Block | None]:
    """Mask, masked scores and weights side by side; below, what the mask would save as texts grow."""
    return [_maps(model, state), *the_batch(model, state), _growth(model, state)]


def _maps(model: ModelState, state: MasksState) -> Panel:
    result = numbers.head_under_mask(model, state)
    rows, columns = result.obeyed.mask.shape
    return Box(
        key="masks_see",
        title="The mask, and how it is obeyed",
        how_to_read=f"{result.where.capitalize()}. Hatched: hidden. Scores come before the softmax, weights after it.",
        shape=f"query × key = {rows} × {columns}",
        tools=partial(_paint, result),
        picture="masks_see",
        result=result,
        sources=numbers.SOURCES,
    )


def _paint(result: HeadUnderMask) -> None:
    """What was painted, and how it is taken back."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_paint"):
        st.html(f'<p class="note">{escape(result.about_paint())}</p>')
        if result.setting.paintable:
            # Undo takes back the last act of all: it stands beside the paint only where that act was painting.
            painted_last = f"{PREFIX}paint" in undo.changes()
            st.button(
                "Undo",
                icon=":material/undo:",
                on_click=controls.undo_last,
                disabled=not painted_last,
                help="Take back what was painted last." if painted_last else "Nothing was painted last.",
                key="_masks_undo",
            )
            st.button(
                "Clear",
                icon=":material/ink_eraser:",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"paint": ""},
                disabled=not result.setting.paint,
                help="Take all paint off the mask.",
                key="_masks_clear",
            )


def _growth(model: ModelState, state: MasksState) -> Panel:
    result = growth.growth(setting(model, state))
    return Box(
        key="masks_growth",
        title="How the pairs grow with the text",
        how_to_read=f"Pairs kept by {result.title}, over the length of a text without padding and paint. Both axes "
        "go by powers of two: n² is twice as steep as n.",
        picture="masks_growth",
        result=result,
        sources=growth.SOURCES,
    )


VIEW = View(
    title="Mask and weights",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    reads_instead=reads_instead,
    controls=mask_and("layer", "head"),
    never_trained=other_mask,
)
