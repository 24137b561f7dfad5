"""The pictures of the view "why" of the Positions lens, as functions of the link."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.positions.measured import square
from tfm_ui.lenses.positions.pairs import Pairs
from tfm_ui.lenses.positions.sides import colour_of, level, line_of, no_lines, no_maps
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.why import shift as why_shift
from tfm_ui.lenses.positions.why import similarity as why
from tfm_ui.lenses.positions.why import turned as why_turned
from tfm_ui.lenses.positions.why import unique as why_unique
from tfm_ui.live.windows import WHOLE, matrix, part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, around_zero, holding
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.state.model_state import ModelState


def pairs(model: ModelState, state: PositionsState) -> Content:
    """Position x position, of A and B."""
    seen = why.similarity(model, state)
    if not seen.sides:
        return no_maps()
    part = part_of(state.square, state.length, state.length)
    drawn = []
    for scheme, found in seen.sides:
        cells = square(state, scheme, part)
        assert cells is not None
        drawn.append(Map(name=f"{scheme.title}, {found.unit}", values=cells, scale=_scale(found, cells)))
    turns = any(not scheme.has("encode") for scheme, _ in seen.sides)
    roles = ("query", "key") if turns else ("ink", "ink")
    return maps.content(
        drawn,
        rows=Axis(part.row_names(), "position m (row)", "position m", roles[0]),
        columns=Axis(part.column_names(), "position n (column)", "position n", roles[1]),
        about=seen.sentence,
        part=part,
        zooms=f"{PREFIX}square",
        blank="not defined",
    )


def _scale(found: Pairs, cells: NDArray[np.float32]) -> Scale:
    """Of the values that were measured and of those on screen: of a large table not all are measured."""
    low, high = found.ends
    there = cells[~np.isnan(cells)]
    low, high = float(there.min(initial=low)), float(there.max(initial=high))
    return around_zero(max(-low, high)) if found.signed else holding(low, high)


def distances(model: ModelState, state: PositionsState) -> Content:
    """The same by distance; sides of one unit share a chart."""
    seen = why.similarity(model, state)
    x = list(seen.distances)
    charts: dict[str, list[Line]] = {}
    for scheme, found in seen.sides:
        drawn = charts.setdefault(found.unit, [])
        alone = found.by_distance_alone
        drawn.append(line_of(scheme, x, found.found.mean.tolist(), scheme.title if alone else f"{scheme.title}, mean"))
        if not alone:
            for what, values in (("least", found.found.least), ("most", found.found.most)):
                drawn.append(Line(f"{scheme.title}, {what}", x, values.tolist(), colour_of(scheme.side), "thin"))
    return lines.content(
        [Chart("distance n − m", unit, drawn, reach=(0,)) for unit, drawn in charts.items()],
        about=seen.sentence,
        gap="not defined",
    )


def shift_matrix(model: ModelState, state: PositionsState) -> Content:
    """M_k of the paper."""
    seen = why_shift.matrix_of(model, state)
    if seen is None:
        return no_maps()
    table = seen.matrix
    part = part_of(WHOLE, *table.shape)
    corner = 2 * seen.pair
    return maps.content(
        [Map(name=f"M of k = {seen.shift}", values=pooled(matrix(table), part), scale=around_zero(1.0))],
        rows=Axis(part.row_names(), "dimension of PE(pos + k) (row)", "to dimension", counted=True),
        columns=Axis(part.column_names(), "dimension of PE(pos) (column)", "from dimension", counted=True),
        about=seen.sentence,
        picked=(corner, corner) if part.exact else None,
        part=None if part.exact else part,
    )


def shift_errors(model: ModelState, state: PositionsState) -> Content:
    """What is left at each position."""
    seen = why_shift.shift(model, state)
    drawn = [
        line_of(scheme, range(len(left.at)), left.at.tolist())
        for scheme, left in seen.sides
        if left and left.dimensions
    ]
    last = max((len(line.x) for line in drawn), default=1) - 1
    law = [level("float32’s rounding", why_shift.ALLOWED, last)] if seen.laws() else []
    chart = Chart("pos", f"largest |M PE(pos) − PE(pos + {seen.shift})|", [*drawn, *law], y_scale="log10")
    return lines.content([chart], about=seen.sentence)


def turned(model: ModelState, state: PositionsState) -> Content:
    """Scores of many pairs over their distance: turned, and with an encoding added."""
    seen = why_turned.turned(model, state)
    if seen is None:
        return no_lines()
    x = seen.distances.flatten()

    def points(name: str, what: str, scores: Tensor, side: str) -> Chart:
        there = ~scores.flatten().isnan()
        dots = Line(name, x[there].tolist(), scores.flatten()[there].tolist(), colour_of(side), "dots")
        return Chart("distance n − m", what, [dots])

    charts = [
        points(seen.scheme.title, "Rₘq·Rₙk", seen.scores, seen.scheme.side),
        points(seen.named, "(q + PE(m))·(k + PE(n))", seen.added, seen.beside.side),
    ]
    return lines.content(charts, about=seen.sentence)


def unique(model: ModelState, state: PositionsState) -> Content:
    """The smallest distance among the first positions, over how many there are."""
    seen = why_unique.unique(model, state)
    drawn = [
        line_of(scheme, range(2, len(found.within) + 1), found.within[1:].tolist()) for scheme, found in seen.sides
    ]
    powers = seen.falls_far
    chart = Chart(
        "number of positions",
        "smallest distance between two of them",
        drawn,
        x_scale="log2",
        y_scale="log10" if powers else "linear",
        reach=() if powers else (0,),
    )
    return lines.content([chart], about=seen.sentence)
