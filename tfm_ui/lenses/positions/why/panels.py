"""Why it works: which positions are alike, what shifts and turns do, and whether positions can be told apart."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from tfm_core import apply_rotary, sinusoidal_encoding
from tfm_core.study import closest_rows, position_laws
from tfm_ui.lenses.positions import pairs as position_pairs
from tfm_ui.lenses.positions.boxes import boxes, pair, states
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why import shift as why_shift
from tfm_ui.lenses.positions.why import similarity as why
from tfm_ui.lenses.positions.why import turned as why_turned
from tfm_ui.lenses.positions.why import unique as why_unique
from tfm_ui.page import frame
from tfm_ui.page.panels import panel
from tfm_ui.pictures.registry import Drawing
from tfm_ui.state.model_state import ModelState


def draw(model: ModelState) -> None:
    """A panel per claim, as far as A and B make it."""
    state = pair(model, "head", "measure")
    left, right = st.columns(2)
    _alike(model, state, left.container(key="why_alike"), right.container(key="why_distances"))
    _shift(model, state, left.container(key="why_shift"), right.container(key="why_unique"))
    with st.container(key="why_turned"):
        _turned(model, state)


def _alike(model: ModelState, state: PositionsState, left: DeltaGenerator, right: DeltaGenerator) -> None:
    seen = why.similarity(model, state)
    if not seen.sides:
        left.info(f"{seen.sentence} Choose another A or B to compare positions.")
        return
    sources = [position_pairs.pairs, position_laws.by_distance]
    with left, panel("positions_pairs") as show:
        show(
            title="Position × position",
            how_to_read="Each cell: two positions, m and n. Equal colour along a diagonal: equal at equal distance.",
            shape=f"{state.length} × {state.length}",
            picture=Drawing("positions_pairs", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=sources,
            recipe=seen.recipe,
            mode=frame.mode(),
        )
    with right, panel("positions_distances") as show:
        show(
            title="By distance",
            how_to_read="x: n − m, how far n stands after m; negative: before it. y: how alike they are. A solid, B "
            "dashed; thin: the least and the most, where pairs of one distance differ.",
            picture=Drawing("positions_distances", states(model, state)),
            sentence=seen.measured,
            table=seen.table,
            sources=sources,
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _shift(model: ModelState, state: PositionsState, left: DeltaGenerator, right: DeltaGenerator) -> None:
    seen, matrix = why_shift.shift(model, state), why_shift.matrix_of(model, state)
    if not seen.sides:
        return
    if matrix:
        with left, panel("positions_shift_matrix") as show:
            boxes(model, st.container(horizontal=True, key="line_positions_pair"), "pair")
            st.latex(matrix.formula)
            show(
                title="A shift is one matrix",
                how_to_read="M turns each pair of dimensions, a sine and a cosine, by its own angle kθ: 2 × 2 blocks.",
                shape=f"{2 * len(matrix.blocks)} × {2 * len(matrix.blocks)}",
                picture=Drawing("positions_shift_matrix", states(model, state)),
                sentence=matrix.sentence,
                laws=matrix.laws(),
                table=matrix.table,
                sources=[position_laws.shift_blocks, position_laws.shift_matrix],
                recipe=matrix.recipe,
                mode=frame.mode(),
            )
    with right if matrix else left:
        _shift_errors(model, state, seen)
    with right:
        _unique(model, state)


def _shift_errors(model: ModelState, state: PositionsState, seen: why_shift.Shift) -> None:
    if not seen.measurable:
        st.info(seen.sentence)
        return
    with panel("positions_shift_errors") as show:
        show(
            title="PE(pos + k) = M PE(pos)?",
            how_to_read="x: pos. y, in powers of 10: the largest error of any dimension, M applied to that position; "
            "a gap: none at all. A solid, B dashed.",
            picture=Drawing("positions_shift_errors", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[position_laws.shift_error, position_laws.shift_by, position_laws.fitted_shift_error],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _turned(model: ModelState, state: PositionsState) -> None:
    seen = why_turned.turned(model, state)
    if seen is None:
        return
    with panel("positions_turned") as show:
        show(
            title="One score per distance",
            how_to_read="One query and one key of standard normal numbers, at many positions m and n: a point per "
            "pair. First, both turned by their positions; then, an encoding added to both.",
            shape=f"{len(seen.at)} × {len(seen.at)} pairs",
            picture=Drawing("positions_turned", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[position_laws.turned_scores, apply_rotary, position_laws.by_distance],
            recipe=seen.recipe,
            mode=frame.mode(),
        )


def _unique(model: ModelState, state: PositionsState) -> None:
    seen = why_unique.unique(model, state)
    if not seen.sides:
        return
    with panel("positions_unique") as show:
        show(
            title="Can positions be told apart?",
            how_to_read="x: how many positions. y: the smallest distance between any two of them, all pairs compared.",
            picture=Drawing("positions_unique", states(model, state)),
            sentence=seen.sentence,
            laws=seen.laws(),
            table=seen.table,
            sources=[closest_rows.closest, sinusoidal_encoding],
            recipe=seen.recipe,
            mode=frame.mode(),
        )
