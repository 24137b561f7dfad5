"""The pictures of the view "why", as functions of the link."""

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from tfm_ui.lenses.positions.charts import colour_of, level, line_of, no_lines, no_maps
from tfm_ui.lenses.positions.needs import tables
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.lenses.positions.why.pairs import Pairs
from tfm_ui.lenses.positions.why.shift import ALLOWED, matrix_of, shift
from tfm_ui.lenses.positions.why.similarity import similarity, square
from tfm_ui.lenses.positions.why.turned import turned
from tfm_ui.lenses.positions.why.unique import unique
from tfm_ui.live.tables import matrix
from tfm_ui.live.windows import WHOLE, part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import Scale, around_zero, holding
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState


def pair_maps(model: ModelState, state: PositionsState) -> Content:
    """Position x position, of A and B."""
    alike = similarity(model, state)
    if not alike.sides:
        return no_maps()
    part = part_of(state.square, state.length, state.length)
    drawn = []
    for scheme, table in alike.sides:
        cells = square(state, scheme, part)
        assert cells is not None
        drawn.append(Map(name=f"{scheme.title}, {table.unit}", values=cells, scale=_scale(table, cells)))
    turns = any(not scheme.has("encode") for scheme, _ in alike.sides)
    roles = ("query", "key") if turns else ("ink", "ink")
    return maps.content(
        drawn,
        rows=Axis(part.row_names(), "position m (row)", "position m", roles[0]),
        columns=Axis(part.column_names(), "position n (column)", "position n", roles[1]),
        about=alike.sentence(),
        part=part,
        zooms=f"{PREFIX}square",
        blank="not defined",
    )


def _scale(table: Pairs, cells: NDArray[np.float32]) -> Scale:
    """The scale that holds the values that were measured and those on screen: of a large table not all are measured."""
    low, high = table.ends
    there = cells[~np.isnan(cells)]
    low, high = float(there.min(initial=low)), float(there.max(initial=high))
    return around_zero(max(-low, high)) if table.signed else holding(low, high)


def alike_by_distance(model: ModelState, state: PositionsState) -> Content:
    """How alike positions are, by distance; sides of one unit share a chart."""
    alike = similarity(model, state)
    x = list(alike.distances)
    charts: dict[str, list[Line]] = {}
    for scheme, table in alike.sides:
        drawn = charts.setdefault(table.unit, [])
        values, alone = table.by_distance, table.by_distance_alone
        drawn.append(line_of(scheme, x, values.mean.tolist(), scheme.title if alone else f"{scheme.title}, mean"))
        if not alone:
            for what, ends in (("least", values.least), ("most", values.most)):
                drawn.append(Line(f"{scheme.title}, {what}", x, ends.tolist(), colour_of(scheme.side), "thin"))
    return lines.content(
        [Chart("distance n − m", unit, drawn, reach=(0,)) for unit, drawn in charts.items()],
        about=alike.sentence(),
        gap="not defined",
    )


def shift_as_matrix(model: ModelState, state: PositionsState) -> Content:
    """M_k of the paper."""
    shown = matrix_of(model, state)
    if shown is None:
        return no_maps()
    table = shown.matrix
    part = part_of(WHOLE, *table.shape)
    corner = 2 * shown.pair
    return maps.content(
        [Map(name=f"M of k = {shown.shift}", values=pooled(matrix(table), part), scale=around_zero(1.0))],
        rows=Axis(part.row_names(), "dimension of PE(pos + k) (row)", "to dimension", counted=True),
        columns=Axis(part.column_names(), "dimension of PE(pos) (column)", "from dimension", counted=True),
        about=shown.sentence(),
        picked=(corner, corner) if part.exact else None,
        part=None if part.exact else part,
    )


def shift_errors(model: ModelState, state: PositionsState) -> Content:
    """The error of a shift at each position."""
    shown = shift(model, state)
    drawn = [
        line_of(scheme, range(len(left.at)), left.at.tolist())
        for scheme, left in shown.sides
        if left and left.dimensions
    ]
    last = max((len(line.x) for line in drawn), default=1) - 1
    law = [level("float32’s rounding", ALLOWED, last)] if shown.laws() else []
    chart = Chart("pos", f"largest |M PE(pos) − PE(pos + {shown.shift})|", [*drawn, *law], y_scale="log10")
    return lines.content([chart], about=shown.sentence())


def scores_of_turned(model: ModelState, state: PositionsState) -> Content:
    """Scores of many pairs over their distance: turned, and with an encoding added."""
    shown = turned(model, state)
    if shown is None:
        return no_lines()
    x = shown.distances.flatten()

    def points(name: str, what: str, scores: Tensor, side: str) -> Chart:
        there = ~scores.flatten().isnan()
        dots = Line(name, x[there].tolist(), scores.flatten()[there].tolist(), colour_of(side), "dots")
        return Chart("distance n − m", what, [dots])

    charts = [
        points(shown.scheme.title, "Rₘq·Rₙk", shown.scores, shown.scheme.side),
        points(shown.named, "(q + PE(m))·(k + PE(n))", shown.added, shown.beside.side),
    ]
    return lines.content(charts, about=shown.sentence())


def smallest_distances(model: ModelState, state: PositionsState) -> Content:
    """The smallest distance among the first positions, over how many there are."""
    shown = unique(model, state)
    drawn = [
        line_of(scheme, range(2, len(nearest.within) + 1), nearest.within[1:].tolist())
        for scheme, nearest in shown.sides
    ]
    powers = shown.falls_far
    chart = Chart(
        "number of positions",
        "smallest distance between two of them",
        drawn,
        x_scale="log2",
        y_scale="log10" if powers else "linear",
        reach=() if powers else (0,),
    )
    return lines.content([chart], about=shown.sentence())


PICTURES = {
    "positions_pairs": Picture(MAPS, pair_maps, needs=tables),
    "positions_distances": Picture(CHART, alike_by_distance, needs=tables),
    "positions_shift_matrix": Picture(MAPS, shift_as_matrix, needs=tables),
    "positions_shift_errors": Picture(CHART, shift_errors, needs=tables),
    "positions_turned": Picture(CHART, scores_of_turned, needs=tables),
    "positions_unique": Picture(CHART, smallest_distances, needs=tables),
}
