"""The view "fault": what is added to each position, and the maps of one head, right and wrong."""

import numpy as np

from tfm_ui.lenses.positions.fault import numbers as fault
from tfm_ui.lenses.positions.in_model.pictures import pooled, weights
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.live import windows
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.state.model_state import ModelState

WAYS = {"right": "Right: along the sequence", "wrong": "Wrong: along the batch"}


def positions_fault_added(model: ModelState, state: PositionsState) -> Content:
    """Position x dimension, of one sentence."""
    seen = fault.view(model, state)
    scale = around_zero(max(float(np.abs(effect.added).max()) for effect in seen.effects.values()))
    return maps.content(
        [Map(name=WAYS[way], values=effect.added, scale=scale) for way, effect in seen.effects.items()],
        rows=Axis(seen.names, "position (token)", "position"),
        columns=Axis([str(i) for i in range(seen.model.d_model)], "dimension", "dimension", counted=True),
        places=(list(range(len(seen.names))), list(range(seen.model.d_model))),
        read=seen.read,
        square=False,
        about=seen.about_added(),
    )


def positions_fault_maps(model: ModelState, state: PositionsState) -> Content:
    """One head of this sentence."""
    seen = fault.view(model, state)
    side = seen.model.seq_len
    part = windows.part_of(windows.WHOLE, side, side)
    scale = from_zero(max(float(effect.head.weights.max()) for effect in seen.effects.values()))
    drawn = [
        Map(
            name=WAYS[way],
            values=pooled(effect.head.weights, effect.head.visible, part),
            scale=scale,
            unit="weight",
        )
        for way, effect in seen.effects.items()
    ]
    return weights(drawn, seen.names, part, seen.read, seen.about_maps())
