"""What lessons measure on the pages of the Positions lens."""

from collections.abc import Callable, Mapping

import numpy as np

from tfm_ui.lenses.positions.beyond import Beyond
from tfm_ui.lenses.positions.fault import FaultAdded
from tfm_ui.lenses.positions.schemes import schemes
from tfm_ui.lenses.positions.see.clocks import Wavelengths
from tfm_ui.lenses.positions.see.encode import EncodeA
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.lenses.positions.why.added import ShiftMatrix
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.turned import Turned
from tfm_ui.state.model_state import ModelState

ONE_SCORE, MANY_SCORES = "one score", "many scores"


def by_distance_alone(model: ModelState, state: PositionsState) -> int:
    """How many of A and B say the same of all pairs of positions that are equally far apart."""
    return sum(table.by_distance_alone for _, table in Pairs(model, state).sides)


def longest_vector(model: ModelState, state: PositionsState) -> float:
    """The length of the longest vector of A, of those that are added, or of a drawn query that it turns; 0 of none."""
    sides = Beyond(model, state).sides
    return float(sides[0].norm.nan_to_num().max()) if sides else 0.0


def rows_on_wrong_axis(model: ModelState, state: PositionsState) -> int:
    """How many different rows the positions of the sentence get, where they are added along the batch."""
    return len(np.unique(FaultAdded(model, state).effects["wrong"].added, axis=0))


def same_from(model: ModelState, state: PositionsState) -> int:
    """The distance from which A or B adds the same number to the score of every earlier key; 0 if there is none."""
    shared = (scheme.shared_from for scheme in schemes(model, state))
    return next((first for first in shared if first is not None), 0)


def scores_at_a_distance(model: ModelState, state: PositionsState) -> str:
    """Whether a query and a key that are turned have one score for all pairs at the same distance, or many; "" if
    neither A nor B turns anything."""
    turned = Turned(model, state)
    if not turned.is_shown:
        return ""
    return ONE_SCORE if all(turned.laws().values()) else MANY_SCORES


def shift_numbers(model: ModelState, state: PositionsState) -> int:
    """How many numbers of the matrix of a shift can differ from 0; 0 if neither A nor B adds waves."""
    matrix = ShiftMatrix(model, state)
    return matrix.blocks.numel() if matrix.is_shown else 0


def undefined(model: ModelState, state: PositionsState) -> int:
    """How many of the positions have no vector in A; 0 if it adds none at all."""
    vectors = EncodeA(model, state)
    return int(vectors.values.isnan().all(1).sum()) if vectors.is_shown else 0


def unfinished(model: ModelState, state: PositionsState) -> int:
    """The first dimension of A, or of B, whose wave does not complete a turn within the positions on screen; 0 if
    neither is made of waves."""
    waves = Wavelengths(model, state)
    return 2 * waves.turned(waves.sides[0][1]) if waves.is_shown else 0


def waves(model: ModelState, state: PositionsState) -> int:
    """How many waves A, or else B, is made of; 0 if neither is."""
    sides = Wavelengths(model, state).sides
    return len(sides[0][1]) if sides else 0


MEASURES: Mapping[str, Callable[[ModelState, PositionsState], float | str]] = {
    measure.__name__: measure
    for measure in (
        by_distance_alone,
        longest_vector,
        rows_on_wrong_axis,
        same_from,
        scores_at_a_distance,
        shift_numbers,
        undefined,
        unfinished,
        waves,
    )
}
