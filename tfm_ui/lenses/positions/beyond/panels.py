"""The view "beyond", beyond the trained length: what A and B say of positions and distances past max_len."""

from functools import partial

from tfm_core import alibi_slopes, apply_rotary, sinusoidal_encoding, t5_buckets
from tfm_core.positional.maths import frequencies
from tfm_ui.lenses.positions.beyond.max_len import as_trained, measured, stands_for
from tfm_ui.lenses.positions.beyond.pictures import PICTURES
from tfm_ui.lenses.positions.beyond.scores import Scores, scores
from tfm_ui.lenses.positions.beyond.unfinished_waves import UnfinishedWaves, unfinished_waves
from tfm_ui.lenses.positions.beyond.vectors import Beyond, beyond
from tfm_ui.lenses.positions.controls import PICTURES as OF_LENS
from tfm_ui.lenses.positions.controls import a_and_b, positions_alone
from tfm_ui.lenses.positions.schemes import aside_of, schemes
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.page.lens import View
from tfm_ui.pictures.panel import Block, Box, Note, Panel
from tfm_ui.state.model_state import ModelState


def blocks(model: ModelState, state: PositionsState) -> list[Block | None]:
    """A panel for vectors, one for scores, one for waves, as far as A and B have them."""
    state = as_trained(model, state)
    aside, shown = aside_of(model, state), schemes(model, state)
    vectors, by_distance, waves = beyond(model, state), scores(model, state), unfinished_waves(model, state)
    within = state.length <= state.max_len and any(scheme.module.enters() for scheme in shown)
    without = [scheme.title for scheme in shown if not scheme.module.enters()]
    nothing = " ".join(f"{title} adds nothing and turns nothing: there is nothing to run out of." for title in without)
    panels = [
        *([_vectors_panel(model, state, vectors)] if vectors.sides else []),
        *([_scores_panel(by_distance)] if by_distance.sides else []),
        *([_waves_panel(waves)] if waves.sides else []),
    ]
    notes = [Note(note) for note in (aside, nothing if panels else "", measured(model, state)) if note]
    if within:
        notes.append(
            Note(f"All {state.length} positions lie within max_len = {state.max_len}: raise Length beyond it.")
        )
    return [*panels[:1], *notes, *panels[1:]] if panels else [Note(nothing), *notes]


def _vectors_panel(model: ModelState, state: PositionsState, vectors: Beyond) -> Panel:
    added = any(side.alike is not None for side in vectors.sides)
    turned = any(side.alike is None for side in vectors.sides)
    whose = " or ".join([*["the vector that is added"] * added, *["a query that is turned"] * turned])
    second = f"the dot product of each vector that is added with the one at position {vectors.last}"
    alike = f" y in the second chart: {second}." if added else ""
    return Box(
        key="positions_beyond",
        title="Vectors past max_len",
        how_to_read=f"x: position; shaded, those past {stands_for(model)}. y: the length of {whose}.{alike}",
        shape=f"max_len {state.max_len}, length {state.length}",
        picture="positions_beyond",
        result=vectors,
        sources=[sinusoidal_encoding, apply_rotary],
    )


def _scores_panel(by_distance: Scores) -> Panel:
    return Box(
        key="positions_beyond_scores",
        title="Scores past max_len",
        how_to_read="x: how many positions the key stands before the query; shaded, distances that no text of max_len "
        "has. y: the score of a turned query and a turned key, or the bias that is added to scores.",
        picture="positions_beyond_scores",
        result=by_distance,
        sources=[apply_rotary, alibi_slopes, t5_buckets],
    )


def _waves_panel(waves: UnfinishedWaves) -> Panel:
    return Box(
        key="positions_beyond_turns",
        title="Which waves complete a turn?",
        how_to_read="x: pairs of dimensions, each a wave. y, in powers of 10: how many positions a full turn "
        "takes. Above the line of max_len: more than a text of max_len has.",
        picture="positions_beyond_turns",
        result=waves,
        sources=[frequencies],
    )


VIEW = View(
    title="Past the end",
    blocks=blocks,
    drawn=OF_LENS | PICTURES,
    controls=partial(a_and_b, more=("head",)),
    reads_instead=positions_alone,
)
