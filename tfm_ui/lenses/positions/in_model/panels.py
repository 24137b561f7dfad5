"""What the schemes do in the sidebar's model: maps, scores by distance, shuffled words, and where they enter."""

from html import escape

import streamlit as st

from tfm_ui.lenses.positions.boxes import boxes, states
from tfm_ui.lenses.positions.in_model import entry as in_model_entry
from tfm_ui.lenses.positions.in_model import numbers as in_model
from tfm_ui.lenses.positions.in_model import recipe as in_model_recipe
from tfm_ui.lenses.positions.in_model import shuffle
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.page import controls, controls_line, frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """What the schemes do in the sidebar's model."""
    state = boxes(model, controls_line.row("positions"), "a", "b", "layer", "model_head")
    aside = in_model.left_out(model, state)
    with st.container(key="positions_asides"):
        if aside:
            st.info(aside)
    _entry(model, state)
    with st.container(key="positions_running"):
        if aside:  # it takes seconds
            with st.spinner("Running the model under each of these schemes, twice", show_time=True):
                in_model.view(model, state)
                shuffle.view(model, state)
    _maps(model, state)
    left, right = st.columns([9, 11], gap="medium")
    with left:
        _distance(model, state)
    with right:
        _shuffle(model, state)


def _entry(model: ModelState, state: PositionsState) -> None:
    with panel("positions_entry") as show:
        show(
            title="Where they enter",
            how_to_read="The way of a token through the sidebar’s model. Dashed: where a scheme could enter, and "
            "neither A nor B does.",
            picture=Drawing("positions_entry", states(model, state)),
            sentence=in_model_entry.diagram(model, state).about,
            table=lambda: in_model_entry.table(model, state),
            sources=in_model_entry.SOURCES,
            mode=frame.mode(),
        )


def _maps(model: ModelState, state: PositionsState) -> None:
    seen = in_model.view(model, state)
    with panel("positions_maps") as show:
        show(
            title="The same weights, other positions",
            how_to_read=f"The attention of {seen.where} under each scheme, on one scale. Rows look at columns.",
            shape=f"query × key = {model.seq_len} × {model.seq_len}",
            picture=Drawing("positions_maps", states(model, state)),
            sentence=seen.about_maps(),
            laws=seen.laws(),
            table=seen.maps_table,
            sources=in_model.SOURCES,
            recipe=in_model_recipe.maps_recipe(seen),
            mode=frame.mode(),
        )


def _distance(model: ModelState, state: PositionsState) -> None:
    seen = in_model.view(model, state)
    with panel("positions_distance") as show:
        show(
            title="Mean score by distance",
            how_to_read=f"q·k / √dₖ, and the bias where there is one, in {seen.where}; over all pairs that may look.",
            picture=Drawing("positions_distance", states(model, state)),
            sentence=seen.about_distance(),
            table=seen.distance_table,
            sources=in_model.DISTANCE_SOURCES,
            recipe=in_model_recipe.distance_recipe(seen),
            mode=frame.mode(),
        )


def _shuffle(model: ModelState, state: PositionsState) -> None:
    seen = shuffle.view(model, state)
    with panel("positions_shuffled") as show:
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="positions_shuffle"):
            st.button(
                "Shuffle again",
                icon=":material/shuffle:",
                on_click=controls.change,
                args=(PREFIX,),
                kwargs={"shuffle": (state.shuffle + 1) % 10_000},
                disabled=seen.in_order,
                key="_positions_shuffle",
            )
            if model.masks_the_future:
                off = {"causal": False}
                st.button(
                    "Switch the causal mask off",
                    on_click=controls.change,
                    args=("",),
                    kwargs=off,
                    key="_positions_causal",
                )
        before, after = seen.texts()
        output = "encoder output" if model.is_encoder_decoder else "output"
        st.html(
            f'<p class="order"><span>as written</span><span dir="auto">{escape(before)}</span></p>'
            f'<p class="order"><span>shuffled</span><span dir="auto">{escape(after)}</span></p>'
        )
        show(
            title="Shuffle the words",
            how_to_read=f"How far each token’s {output} moved, matched by token; 0: it moved with its word.",
            picture=Drawing("positions_shuffled", states(model, state)),
            sentence=seen.sentence(),
            laws=seen.laws(),
            table=seen.table,
            sources=shuffle.SOURCES,
            recipe=in_model_recipe.shuffle_recipe(seen),
            mode=frame.mode(),
        )
