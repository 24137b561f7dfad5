"""The view "leaks": token changed x output moved, behind the last layer and behind each; how far, and how much."""

import math

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.masks.leaks import numbers as leaks_view
from tfm_ui.lenses.masks.leaks import travel as leaks_travel
from tfm_ui.lenses.masks.leaks.numbers import Leaks
from tfm_ui.lenses.masks.leaks.plan import CROSSES
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, from_zero, powers_of_ten
from tfm_ui.pictures.maps import ABSENT, MASKED, Axis, Map
from tfm_ui.state.model_state import ModelState

NOT_PROMISED, STILL, LEAK = "not promised", "promised, did not move", "leak: not promised"


def leaks(model: ModelState, state: MasksState) -> Content:
    """What moved behind the last layer, beside behind which layer it is promised to."""
    seen = leaks_view.view(model, state)
    arrives = np.where(seen.promised[-1], seen.promised.shape[0] - seen.promised.sum(0) + 1.0, MASKED)
    drawn = [
        Map(name="measured: largest change", values=_moved(seen, -1), scale=_scale(seen)),
        Map(
            name="promised: from this layer on",
            values=arrives.astype(np.float32),
            scale=from_zero(float(len(seen.promised))),
            unit="layers",
            whole=True,
        ),
    ]
    crosses = [(0, row, column) for row, column in _largest(seen.moved[-1], seen.leaking, CROSSES)]
    return _maps(seen, drawn, crosses, seen.sentence())


def leaks_layers(model: ModelState, state: MasksState) -> Content:
    """What has moved behind each layer."""
    travel = leaks_travel.view(model, state)
    seen = travel.seen
    scale = _scale(seen)
    drawn = [
        Map(name=f"after layer {layer}", values=_moved(seen, layer - 1), scale=scale, unit="largest change")
        for layer in travel.layers
    ]
    crosses = [
        (i, row, column)
        for i, (moved, wrong) in enumerate(zip(seen.moved, seen.leaking_behind, strict=True))
        for row, column in _largest(moved, wrong, travel.crosses)
    ]
    return _maps(seen, drawn, crosses, travel.about_maps())


def leaks_distance(model: ModelState, state: MasksState) -> Content:
    """How far tokens act, layer by layer, and how much, by distance."""
    travel = leaks_travel.view(model, state)
    unit = "tokens" if travel.one_text else "places"
    charts = [
        Chart(
            "layer",
            f"farthest {name}, {unit}",
            [
                Line("promised", travel.layers, promised, "muted", "dashed"),
                Line("measured", travel.layers, measured, "result"),
            ],
            reach=(0, 1),
        )
        for name, (promised, measured) in travel.reaches.items()
    ]
    colours = {"largest": "result", "median": "muted"}
    effects = [Line(name, *found, colours[name]) for name, found in travel.effects.items()]
    charts.append(
        Chart(f"output − token, in {unit}; below 0 it lies ahead", "change of the output", effects, y_scale="log10")
    )
    return lines.content(charts, about=travel.about_reach())


def _moved(seen: Leaks, layer: int) -> NDArray[np.float32]:
    """The changes: hatched where nothing was promised and nothing moved, a frame where it was promised."""
    still = np.where(seen.promised[layer], ABSENT, MASKED)
    return np.where(seen.moves[layer], seen.moved[layer], still).astype(np.float32)


def _scale(seen: Leaks) -> Scale:
    """Powers of ten around all that moved, in any layer."""
    moved = seen.moved[seen.moves]
    low, top = (math.log10(number) for number in (moved.min(initial=1), moved.max(initial=0) or 1))
    return powers_of_ten(10.0 ** min(math.floor(low), math.ceil(top) - 1), 10.0 ** math.ceil(top))


def _largest(moved: NDArray[np.float64], where: NDArray[np.bool_], most: int) -> list[tuple[int, int]]:
    """The cells that are crossed out, (token, output); of too many, those that moved most."""
    rows, columns = np.nonzero(where)
    first = np.argsort(-moved[rows, columns])[:most]
    return list(zip(rows[first].tolist(), columns[first].tolist(), strict=True))


def _maps(seen: Leaks, drawn: list[Map], crosses: list[tuple[int, int, int]], about: str) -> Content:
    cross = seen.setting.place == "cross"
    return maps.content(
        drawn,
        rows=Axis(seen.rows, f"{'source ' if cross else ''}token changed (row)", "token", "key"),
        columns=Axis(seen.columns, "output moved (column)", "output", "result"),
        places=([place + 1 for place in seen.plan.places], list(range(1, len(seen.columns) + 1))),
        picked=seen.locked,
        asks=(f"{PREFIX}changed", f"{PREFIX}moved"),
        crosses=crosses,
        square=len(seen.rows) == len(seen.columns),
        about=about,
        blank=NOT_PROMISED,
        absent=STILL,
        crossed=LEAK,
    )
