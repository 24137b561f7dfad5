"""The pictures of the view "fault", as functions of the link."""

import numpy as np

from tfm_ui.lenses.positions import weight_maps
from tfm_ui.lenses.positions.fault.numbers import Added, Consequences, fault
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import passes
from tfm_ui.live.windows import WHOLE, part_of
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState

WAYS = {"right": "Right: along the sequence", "wrong": "Wrong: along the batch"}


def added_vectors(model: ModelState, state: PositionsState) -> Content:
    """Position x dimension, of one sentence."""
    shown = fault(model, state)
    scale = around_zero(max(float(np.abs(effect.added).max()) for effect in shown.effects.values()))
    return maps.content(
        [Map(name=WAYS[way], values=effect.added, scale=scale) for way, effect in shown.effects.items()],
        rows=Axis(shown.names, "position (token)", "position"),
        columns=Axis([str(i) for i in range(shown.model.d_model)], "dimension", "dimension", counted=True),
        places=(list(range(len(shown.names))), list(range(shown.model.d_model))),
        read=shown.read,
        square=False,
        about=Added(shown).sentence(),
    )


def one_head(model: ModelState, state: PositionsState) -> Content:
    """One head of this sentence."""
    shown = fault(model, state)
    side = shown.model.length
    return weight_maps.content(
        {WAYS[way]: effect.head for way, effect in shown.effects.items()},
        shown.names,
        part_of(WHOLE, side, side),
        read=shown.read,
        about=Consequences(shown).sentence(),
    )


PICTURES = {
    "positions_fault_added": Picture(MAPS, added_vectors, needs=passes.needs),
    "positions_fault_maps": Picture(MAPS, one_head, needs=passes.needs),
}
