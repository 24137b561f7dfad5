"""The view "why", why schemes work: which positions are alike, what shifts and turns do, which can be told apart."""

from functools import partial

import streamlit as st

from tfm_core import apply_rotary, sinusoidal_encoding
from tfm_core.study import closest_rows, position_laws
from tfm_ui.lenses.positions.controls import PICTURES as OF_LENS
from tfm_ui.lenses.positions.controls import a_and_b, positions_alone
from tfm_ui.lenses.positions.schemes import aside_of, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.pairs import pairs
from tfm_ui.lenses.positions.why.pictures import PICTURES
from tfm_ui.lenses.positions.why.shift import Matrix, Shift, matrix_of, shift
from tfm_ui.lenses.positions.why.similarity import Similarity, SimilarityByDistance, similarity
from tfm_ui.lenses.positions.why.turned import Turned, turned
from tfm_ui.lenses.positions.why.unique import Unique, unique
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState

ADDED = "choose sinusoidal or learned"
PAIRS_SOURCES = (pairs, position_laws.by_distance)


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """The chosen claim, as far as A and B make it."""
    aside = " ".join(filter(None, [aside_of(model, state), _without(model, state)]))
    return [_chosen(model, state), Note(aside) if aside else None]


def _without(model: ModelState, state: PositionsState) -> str:
    """Which of A and B is not in a picture of vectors that are added; "" if both are, or none."""
    shown = schemes(model, state)
    left_out = [scheme.title for scheme in shown if not scheme.has("encode")]
    if state.claim not in ("shift matrix", "shift error", "told apart") or len(left_out) in (0, len(shown)):
        return ""
    return f"{left_out[0]} adds no vector to tokens, so it has no place in this picture."


def _chosen(model: ModelState, state: PositionsState) -> Block:
    match state.claim:
        case "alike pairs" | "by distance":
            alike = similarity(model, state)
            if not alike.sides:
                return Note(f"{alike.sentence()} Choose another A or B to compare positions.")
            return _pairs_panel(state, alike) if state.claim == "alike pairs" else _distances_panel(alike)
        case "shift matrix":
            matrix = matrix_of(model, state)
            return (
                _matrix_panel(matrix) if matrix else Note("Only sinusoidal encodings have such a matrix: choose them.")
            )
        case "shift error":
            shifted = shift(model, state)
            return _errors_block(shifted) if shifted.sides else Note(f"Neither A nor B is added to tokens: {ADDED}.")
        case "told apart":
            nearest = unique(model, state)
            return _unique_panel(nearest) if nearest.sides else Note(f"Neither A nor B is added to tokens: {ADDED}.")
    scores = turned(model, state)
    return _turned_panel(scores) if scores else Note("Only rope turns queries and keys: choose it as A or B.")


def _pairs_panel(state: PositionsState, alike: Similarity) -> Panel:
    return Box(
        key="positions_pairs",
        title="Position × position",
        how_to_read="Each cell: two positions, m and n. Equal colour along a diagonal: equal at equal distance.",
        shape=f"{state.length} × {state.length}",
        picture="positions_pairs",
        result=alike,
        sources=PAIRS_SOURCES,
    )


def _distances_panel(alike: Similarity) -> Panel:
    return Box(
        key="positions_distances",
        title="By distance",
        how_to_read=f"x: n − m, how far n stands after m; negative: before it. y: {_compared(alike)}. A solid, B "
        "dashed; thin: the least and the most, where pairs at the same distance differ.",
        picture="positions_distances",
        result=SimilarityByDistance(alike),
        sources=PAIRS_SOURCES,
    )


def _compared(alike: Similarity) -> str:
    """What the curves are: vectors that are added are compared with each other, a turned query with another key."""
    shown = [scheme for scheme, _ in alike.sides]
    said = {
        "encode": "how alike the vectors are that are added",
        "rotate": "a drawn query turned to m beside a drawn key turned to n",
        "bias_at": "the bias that is added to scores",
    }
    return "; ".join(words for place, words in said.items() if any(scheme.has(place) for scheme in shown))


def _matrix_panel(matrix: Matrix) -> Panel:
    return Box(
        key="positions_shift_matrix",
        title="A shift is one matrix",
        how_to_read="M turns each pair of dimensions, a sine and a cosine, by its own angle kθ: 2 × 2 blocks.",
        shape=f"{2 * len(matrix.blocks)} × {2 * len(matrix.blocks)}",
        tools=partial(_draw_formula, matrix),
        picture="positions_shift_matrix",
        result=matrix,
        sources=[position_laws.shift_blocks, position_laws.shift_matrix],
    )


def _draw_formula(matrix: Matrix) -> None:
    st.latex(matrix.formula)


def _errors_block(shifted: Shift) -> Panel | Note:
    if not shifted.measurable:
        return Note(shifted.sentence())
    return Box(
        key="positions_shift_errors",
        title="PE(pos + k) = M PE(pos)?",
        how_to_read="x: pos. y, in powers of 10: the largest error of any dimension, M applied to that position; "
        "a gap: none at all. A solid, B dashed.",
        picture="positions_shift_errors",
        result=shifted,
        sources=[position_laws.shift_error, position_laws.shift_by, position_laws.fitted_shift_error],
    )


def _unique_panel(nearest: Unique) -> Panel:
    return Box(
        key="positions_unique",
        title="Can positions be told apart?",
        how_to_read="x: how many positions. y: the smallest distance between any two of them, all pairs compared.",
        picture="positions_unique",
        result=nearest,
        sources=[closest_rows.closest, sinusoidal_encoding],
    )


def _turned_panel(scores: Turned) -> Panel:
    return Box(
        key="positions_turned",
        title="One score per distance",
        how_to_read="One query and one key of standard normal numbers, at many positions m and n: a point per "
        "pair. First, both turned by their positions; then, an encoding added to both.",
        shape=f"{len(scores.at)} × {len(scores.at)} pairs",
        picture="positions_turned",
        result=scores,
        sources=[position_laws.turned_scores, apply_rotary, position_laws.by_distance],
    )


VIEW = View(
    title="Why they work",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    controls=partial(a_and_b, in_sight=("claim",), more=("head", "measure", "pair")),
    reads_instead=positions_alone,
)
