"""The view "see": the mask, and the model that obeys it."""

from html import escape

import streamlit as st

from tfm_ui.lenses.masks.boxes import mask, states
from tfm_ui.lenses.masks.see import cost as see_cost
from tfm_ui.lenses.masks.see import numbers as see
from tfm_ui.lenses.masks.see import recipe as see_recipe
from tfm_ui.lenses.masks.see.terms import terms_of
from tfm_ui.lenses.masks.state import PREFIX, MasksState, setting
from tfm_ui.page import controls, frame, undo
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Mask, masked scores and weights side by side; below, what the mask would save as texts grow."""
    state = mask(model, "layer", "head")
    _maps(model, state)
    _growth(model, state)


def _maps(model: ModelState, state: MasksState) -> None:
    seen = see.view(model, state)
    with panel("masks_see") as show:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_paint"):
            st.html(f'<p class="note">{escape(seen.about_paint())}</p>')
            if seen.setting.paintable:
                # Of all acts Undo takes back the last: beside the paint only where that one was painting.
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
                    disabled=not state.paint,
                    help="Take all paint off the mask.",
                    key="_masks_clear",
                )
        rows, columns = seen.found.mask.shape
        show(
            title="The mask, and how it is obeyed",
            how_to_read=f"{seen.where.capitalize()}. Hatched: hidden. Scores before the softmax, weights behind it.",
            shape=f"query × key = {rows} × {columns}",
            picture=Drawing("masks_see", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=see.SOURCES,
            recipe=see_recipe.recipe_of(seen),
            mode=frame.mode(),
        )


def _growth(model: ModelState, state: MasksState) -> None:
    now = setting(model, state)
    found = see_cost.growth(now)
    with panel("masks_growth") as show:
        show(
            title="How the pairs grow with the text",
            how_to_read=f"Pairs kept by {found.title}, over the length of a text without padding and paint. Both axes "
            "go by powers of two: n² is twice as steep as n.",
            picture=Drawing("masks_growth", states(model, state)),
            sentence=found.sentence,
            table=found.table,
            sources=see_cost.SOURCES,
            recipe=see_recipe.growth_recipe(terms_of(now)),
            mode=frame.mode(),
        )
