"""The view "leaks": token changed x output moved, after the last layer and after each; how far, and how much."""

import math

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.masks.leaks.layers import LayerByLayer
from tfm_ui.lenses.masks.leaks.measured import Measurement, measure, measure_needs
from tfm_ui.lenses.masks.leaks.moved_outputs import MovedOutputs
from tfm_ui.lenses.masks.leaks.plan import CROSSES
from tfm_ui.lenses.masks.leaks.travel import Travel
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, from_zero, powers_of_ten
from tfm_ui.pictures.maps import ABSENT, MAPS, MASKED, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

NOT_PROMISED, STILL, LEAK = "forbidden", "allowed, did not move", "leak: forbidden"


def changes(model: ModelState, state: MasksState) -> Content:
    """What moved after the last layer, beside after which layer it is allowed to."""
    measured = measure(model, state)
    arrives = np.where(measured.allowed[-1], measured.allowed.shape[0] - measured.allowed.sum(0) + 1.0, MASKED)
    drawn = [
        Map(name="measured: largest change", values=_moved(measured, -1), scale=_scale(measured)),
        Map(
            name="allowed: from this layer on",
            values=arrives.astype(np.float32),
            scale=from_zero(float(len(measured.allowed))),
            unit="layers",
            whole=True,
        ),
    ]
    crosses = [(0, row, column) for row, column in _largest(measured.moved[-1], measured.leaking, CROSSES)]
    return _maps(measured, drawn, crosses, MovedOutputs(measured).sentence())


def layer_by_layer(model: ModelState, state: MasksState) -> Content:
    """What has moved after each layer."""
    result = LayerByLayer(measure(model, state))
    measured = result.measured
    scale = _scale(measured)
    drawn = [
        Map(name=f"after layer {layer}", values=_moved(measured, layer - 1), scale=scale, unit="largest change")
        for layer in measured.layers
    ]
    crosses = [
        (i, row, column)
        for i, (moved, wrong) in enumerate(zip(measured.moved, measured.leaking_behind, strict=True))
        for row, column in _largest(moved, wrong, result.crosses)
    ]
    return _maps(measured, drawn, crosses, result.sentence())


def distances(model: ModelState, state: MasksState) -> Content:
    """How far tokens act, layer by layer, and how much, by distance."""
    travel = Travel(measure(model, state))
    unit = "tokens" if travel.one_text else "places"
    charts = [
        Chart(
            "layer",
            f"farthest {name}, {unit}",
            [
                Line("allowed", travel.measured.layers, allowed, "muted", "dashed"),
                Line("measured", travel.measured.layers, measured, "result"),
            ],
            reach=(0, 1),
        )
        for name, (allowed, measured) in travel.reaches.items()
    ]
    colours = {"largest": "result", "median": "muted"}
    effects = [Line(name, *points, colours[name]) for name, points in travel.effects.items()]
    charts.append(
        Chart(f"output − token, in {unit}; below 0 it lies ahead", "change of the output", effects, y_scale="log10")
    )
    return lines.content(charts, about=travel.sentence())


def _moved(measured: Measurement, layer: int) -> NDArray[np.float32]:
    """The changes: hatched where nothing was allowed and nothing moved, a frame where it was allowed."""
    still = np.where(measured.allowed[layer], ABSENT, MASKED)
    return np.where(measured.moves[layer], measured.moved[layer], still).astype(np.float32)


def _scale(measured: Measurement) -> Scale:
    """Powers of ten around all that moved, in any layer."""
    moved = measured.moved[measured.moves]
    low, top = (math.log10(number) for number in (moved.min(initial=1), moved.max(initial=0) or 1))
    return powers_of_ten(10.0 ** min(math.floor(low), math.ceil(top) - 1), 10.0 ** math.ceil(top))


def _largest(moved: NDArray[np.float64], where: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """The cells that are crossed out, (token, output); of too many, those that moved most."""
    rows, columns = np.nonzero(where)
    first = np.argsort(-moved[rows, columns])[:most]
    return list(zip(rows[first].tolist(), columns[first].tolist(), strict=True))


def _maps(measured: Measurement, drawn: list[Map], crosses: list[tuple[int, int, int]], about: str) -> Content:
    cross = measured.setting.place == "cross"
    return maps.content(
        drawn,
        rows=Axis(measured.rows, f"{'source ' if cross else ''}token changed (row)", "token", "key"),
        columns=Axis(measured.columns, "output moved (column)", "output", "result"),
        places=([place + 1 for place in measured.plan.places], list(range(1, len(measured.columns) + 1))),
        picked=measured.locked,
        asks=(f"{PREFIX}changed", f"{PREFIX}moved"),
        crosses=crosses,
        square=len(measured.rows) == len(measured.columns),
        about=about,
        blank=NOT_PROMISED,
        absent=STILL,
        crossed=LEAK,
    )


PICTURES = {
    "masks_leaks": Picture(MAPS, changes, needs=measure_needs),
    "masks_leaks_layers": Picture(MAPS, layer_by_layer, needs=measure_needs),
    "masks_leaks_distance": Picture(CHART, distances, needs=measure_needs),
}
