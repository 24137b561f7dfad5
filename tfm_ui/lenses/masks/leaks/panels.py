"""The view "leaks": change one token, and see which outputs move."""

import streamlit as st

from tfm_ui.lenses.masks.boxes import mask, states
from tfm_ui.lenses.masks.leaks import numbers as leaks
from tfm_ui.lenses.masks.leaks import recipe as leaks_recipe
from tfm_ui.lenses.masks.leaks import travel as leaks_travel
from tfm_ui.page import frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """Change one token, and see which outputs move."""
    state = mask(model, "promise", "tries")
    plan = leaks.plan_of(model, state)
    with st.container(key="masks_leaks_aside"):
        if plan.aside:
            st.info(plan.aside)
    with st.container(key="masks_leaks_running"):
        if plan.slow:
            with st.spinner("Changing one token after the other", show_time=True):
                leaks.view(model, state)
    seen, travel = leaks.view(model, state), leaks_travel.view(model, state)

    script = leaks_recipe.recipe(seen)

    def drawing(name: str) -> Drawing:
        return Drawing(name, states(model, state), slow=plan.slow)

    with panel("masks_leaks") as show:
        show(
            title="Change one token: which outputs move?",
            how_to_read="Each row: one token is changed into others. Columns: by how much the outputs, the residual "
            "stream behind the last layer, change at most, in powers of ten. Beside it, what the promise lets pass "
            "through all layers.",
            shape=f"token × output = {len(seen.rows)} × {len(seen.columns)}, each token changed into {plan.tries}",
            picture=drawing("masks_leaks"),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            sources=leaks.SOURCES,
            recipe=script,
            locked=seen.locked is not None,
            mode=frame.mode(),
        )
    with panel("masks_leaks_layers") as show:
        show(
            title="Layer by layer",
            how_to_read="The same behind each layer: information goes one step of the mask further in each.",
            shape=f"{len(travel.layers)} × token × output",
            picture=drawing("masks_leaks_layers"),
            sentence=travel.about_maps(),
            table=seen.table,
            sources=leaks_travel.SOURCES,
            recipe=script,
            mode=frame.mode(),
        )
    with panel("masks_leaks_distance") as show:
        show(
            title="How far information travels",
            how_to_read="First, by layer, the farthest tokens that an output moved with, back and ahead of it; then by "
            "how much outputs moved, by distance. Padding is left out.",
            picture=drawing("masks_leaks_distance"),
            sentence=travel.about_reach(),
            laws=travel.laws(),
            table=travel.table,
            sources=leaks_travel.SOURCES,
            recipe=script,
            mode=frame.mode(),
        )
