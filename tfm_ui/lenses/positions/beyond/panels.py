"""Beyond the trained length: what A and B say of positions and distances past max_len."""

import streamlit as st

from tfm_core import alibi_slopes, apply_rotary, sinusoidal_encoding, t5_buckets
from tfm_core.positional.maths import frequencies
from tfm_ui.lenses.positions.beyond.scores import scores
from tfm_ui.lenses.positions.beyond.turns import turns
from tfm_ui.lenses.positions.beyond.vectors import beyond
from tfm_ui.lenses.positions.boxes import pair, states
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page import frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """A panel for vectors, one for scores, one for waves, as far as A and B have them."""
    state = pair(model, "head")
    with st.container(key="beyond_notes"):
        sides = schemes(model, state)
        if state.length <= state.max_len and any(scheme.module.enters() for scheme in sides):
            st.info(f"All {state.length} positions lie within max_len = {state.max_len}: raise Length beyond it.")
        for scheme in sides:
            if not scheme.module.enters():
                st.info(f"{scheme.title} adds nothing and turns nothing: there is nothing to run out of.")
    with st.container(key="beyond_vectors"):
        _vectors(model, state)
    with st.container(key="beyond_scores"):
        _scores(model, state)
    with st.container(key="beyond_turns"):
        _turns(model, state)


def _vectors(model: ModelState, state: PositionsState) -> None:
    seen = beyond(model, state)
    if not seen.sides:
        return
    with panel("positions_beyond") as show:
        show(
            title="Vectors past max_len",
            how_to_read="x: position; shaded, those past max_len, which stands for the longest text of a training. "
            "First, how long the vector is that is added, or a query that is turned; then, its dot product with the "
            "last one within max_len.",
            shape=f"max_len {state.max_len}, length {state.length}",
            picture=Drawing("positions_beyond", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[sinusoidal_encoding, apply_rotary],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _scores(model: ModelState, state: PositionsState) -> None:
    seen = scores(model, state)
    if not seen.sides:
        return
    with panel("positions_beyond_scores") as show:
        show(
            title="Scores past max_len",
            how_to_read="x: how far the key stands behind the query; shaded, distances that no text of max_len has. "
            "y: the score of a turned query and a turned key, or the bias that is added to scores.",
            picture=Drawing("positions_beyond_scores", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[apply_rotary, alibi_slopes, t5_buckets],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _turns(model: ModelState, state: PositionsState) -> None:
    seen = turns(model, state)
    if not seen.sides:
        return
    with panel("positions_beyond_turns") as show:
        show(
            title="Who has come round?",
            how_to_read="x: pairs of dimensions, each a wave. y, in powers of 10: how many positions a full turn "
            "takes. Above the line of max_len: more than a text of max_len has.",
            picture=Drawing("positions_beyond_turns", states(model, state)),
            sentence=seen.sentence,
            table=seen.table,
            sources=[frequencies],
            recipe=seen.recipe,
            mode=frame.mode(),
        )
