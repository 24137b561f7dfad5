"""The pictures of the view "see", as functions of the link."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tfm_ui.lenses.positions.charts import level, line_of, no_lines, no_maps
from tfm_ui.lenses.positions.needs import tables
from tfm_ui.lenses.positions.schemes import chosen
from tfm_ui.lenses.positions.see.bias import Bias, bias
from tfm_ui.lenses.positions.see.clocks import clocks
from tfm_ui.lenses.positions.see.clocks_canvas import CLOCKS
from tfm_ui.lenses.positions.see.curves import Curves, curves, kept_points
from tfm_ui.lenses.positions.see.encode import dimensions, encoded, toggled
from tfm_ui.lenses.positions.see.waves import wavelengths
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live.tables import by_distance, matrix
from tfm_ui.live.windows import pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.pictures.registry import for_both_sides
from tfm_ui.state.model_state import ModelState

HEADS = 8  # colours of heads


def encode_map(model: ModelState, state: PositionsState, side: str) -> Content:
    """The vectors that are added, as a map position x dimension."""
    scheme = chosen(model, state, side, "encode")
    if not scheme:
        return no_maps()
    vectors = encoded(model, state, scheme)
    part = vectors.part(state.part)
    dims, columns = dimensions(state, vectors.values.shape[1]), part.column_names()
    row = (state.position - part.top) // part.block[0]
    return maps.content(
        [Map(name=scheme.name, values=pooled(matrix(vectors.values), part), scale=around_zero(vectors.top))],
        rows=Axis(part.row_names(), "position", "position"),
        columns=Axis(columns, "dimension", "dimension"),
        about=vectors.about,
        picked=(row, 0) if 0 <= state.position - part.top < part.rows else None,
        whole_row=True,
        asks=(PREFIX + "position", PREFIX + "dims"),
        places=(
            list(range(part.top, part.top + part.rows, part.block[0])),
            [toggled(dims, int(name)) for name in columns],
        ),
        square=False,
        part=part,
        zooms=PREFIX + "part",
        blank="not defined",
        marks=[
            ((dim - part.left) // part.block[1], colour)
            for colour, dim in enumerate(dims)
            if 0 <= dim - part.left < part.columns
        ],
    )


def bias_maps(model: ModelState, state: PositionsState, side: str) -> Content:
    """A matrix per head, query x key."""
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return no_maps()
    added = bias(model, state, scheme)
    part = added.part(state.square)
    return maps.content(
        [
            Map(name=name, values=pooled(by_distance(values), part), scale=scale)
            for name, values, scale in zip(added.names, added.values, added.scales, strict=True)
        ],
        rows=Axis(part.row_names(), "query position", "query position", "query"),
        columns=Axis(part.column_names(), "key position", "key position", "key"),
        about=added.sentence(),
        part=part,
        zooms=PREFIX + "square",
        blank="not defined",
    )


def bias_by_distance(model: ModelState, state: PositionsState, side: str) -> Content:
    """A line per head, and below them the buckets, if there are any."""
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return no_lines()
    added = bias(model, state, scheme)
    heads = range(len(added.values))
    charts = [_heads_chart(added, heads[first : first + HEADS]) for first in range(0, len(heads), HEADS)]
    if added.buckets is not None:
        line = _distance_line("bucket", added, added.buckets, "ink")
        charts.append(Chart("distance, key − query", "bucket", [line], reach=(0,)))
    return lines.content(charts, about=added.sentence())


def _heads_chart(added: Bias, heads: Sequence[int]) -> Chart:
    drawn = [_distance_line(f"head {i + 1}", added, added.values[i], f"head {i % HEADS + 1}") for i in heads]
    which = "" if len(added.values) <= HEADS else f" of heads {heads[0] + 1} to {heads[-1] + 1}"
    return Chart("distance, key − query", f"bias{which}", drawn, reach=(0,))


def _distance_line(name: str, added: Bias, values: Tensor, colour: str) -> Line:
    y = values.float().numpy()
    at = kept_points(y)
    return Line(name, added.distance.numpy()[at].tolist(), y[at].tolist(), colour)


def curves_of_one(model: ModelState, state: PositionsState, side: str) -> Content:
    """Chosen dimensions over the positions, of one side."""
    shown = [vectors for vectors in curves(model, state).sides if vectors.scheme.side == side]
    return _curves(Curves(state, shown))


def curves_of_both(model: ModelState, state: PositionsState) -> Content:
    """The curves of A beside those of B."""
    return _curves(curves(model, state))


def _curves(shown: Curves) -> Content:
    """A chart per scheme, on axes of the same range."""
    top, charts = max((vectors.top for vectors in shown.sides), default=1.0), []
    for vectors in shown.sides:
        drawn, part = [], vectors.part(shown.state.part)  # the curves show the positions that the heatmap shows
        for colour, dim in enumerate(shown.dimensions_of(vectors)):
            y = vectors.values[part.top : part.top + part.rows, dim].numpy()
            at = kept_points(y[: max(vectors.defined - part.top, 0)])
            if not np.isfinite(y[-1]):
                at = np.append(at, len(y) - 1)  # of which there is no value
            drawn.append(Line(f"{dim}", (part.top + at).tolist(), y[at].tolist(), f"head {colour + 1}"))
        charts.append(Chart("position", vectors.scheme.title, drawn, reach=(-top, top)))
    return lines.content(charts, about=shown.sentence()) if charts else no_lines()


def waves_of_pairs(model: ModelState, state: PositionsState) -> Content:
    """How long the waves of each pair of dimensions are, beside the length."""
    shown = wavelengths(model, state)
    drawn = [line_of(waves.scheme, range(len(waves.lengths)), waves.lengths.tolist()) for waves in shown.sides]
    last = max((len(waves.lengths) for waves in shown.sides), default=1) - 1
    length = level(f"length = {state.length}", state.length, last)
    chart = Chart("pair i of dimensions", "wavelength in positions", [length, *drawn], y_scale="log10")
    return lines.content([chart], about=shown.sentence())


def clock_hands(model: ModelState, state: PositionsState, side: str) -> Content:
    """A query and a key in each pair of dimensions, as this side turns them."""
    header: dict[str, Any] = {"parameters": {"query": f"{PREFIX}position", "key": f"{PREFIX}key"}}
    scheme = chosen(model, state, side, "rotate")
    if not scheme:  # it has been left: the page is about to take the picture away
        none = {"about": "", "pairs": [], "count": 0, "wavelengths": [], "at": {"query": 0, "key": 0}, "last": 0}
        return header | none, np.zeros(0, np.float32)
    hands = clocks(state, scheme)
    header |= {
        "about": hands.sentence(),
        "pairs": hands.shown.tolist(),
        "count": hands.pairs,
        "wavelengths": hands.wavelengths[hands.shown].tolist(),
        "at": {"query": hands.at, "key": hands.key_at},
        "last": hands.length - 1,
    }
    return header, torch.cat([hands.query, hands.key, hands.between[:, None].float()], 1)[hands.shown].numpy()


PICTURES = {
    **for_both_sides("positions_encode", MAPS, encode_map, needs=tables),
    **for_both_sides("positions_bias", MAPS, bias_maps, needs=tables),
    **for_both_sides("positions_distance", CHART, bias_by_distance, needs=tables),
    **for_both_sides("positions_curves", CHART, curves_of_one, needs=tables),
    "positions_curves": Picture(CHART, curves_of_both, needs=tables),
    "positions_wavelengths": Picture(CHART, waves_of_pairs, needs=tables),
    **for_both_sides("positions_clocks", CLOCKS, clock_hands, needs=tables),
}
