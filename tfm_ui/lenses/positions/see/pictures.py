"""The pictures of the view "see", as functions of the link."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from tfm_ui.lenses.positions.schemes import chosen
from tfm_ui.lenses.positions.see.bias import Bias, bias
from tfm_ui.lenses.positions.see.encode import Encoded, dimensions, encoded, toggled
from tfm_ui.lenses.positions.see.waves import about_curves, about_waves, ends, waves
from tfm_ui.lenses.positions.see.waves import curves as curves_of
from tfm_ui.lenses.positions.sides import level, line_of, no_lines, no_maps
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live.windows import by_distance, matrix, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.state.model_state import ModelState

HEADS = 8  # colours of heads


def encode_a(model: ModelState, state: PositionsState) -> Content:
    """A's heatmap."""
    return _encode(model, state, "A")


def encode_b(model: ModelState, state: PositionsState) -> Content:
    """B's heatmap."""
    return _encode(model, state, "B")


def bias_a(model: ModelState, state: PositionsState) -> Content:
    """A's matrices."""
    return _bias(model, state, "A")


def bias_b(model: ModelState, state: PositionsState) -> Content:
    """B's matrices."""
    return _bias(model, state, "B")


def distance_a(model: ModelState, state: PositionsState) -> Content:
    """A's bias by distance."""
    return _distance(model, state, "A")


def distance_b(model: ModelState, state: PositionsState) -> Content:
    """B's bias by distance."""
    return _distance(model, state, "B")


def _encode(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "encode")
    if not scheme:
        return no_maps()
    seen = encoded(model, state, scheme)
    part = seen.part(state.part)
    dims, columns = dimensions(state, seen.values.shape[1]), part.column_names()
    row = (state.position - part.top) // part.block[0]
    return maps.content(
        [Map(name=scheme.name, values=pooled(matrix(seen.values), part), scale=around_zero(seen.top))],
        rows=Axis(part.row_names(), "position", "position"),
        columns=Axis(columns, "dimension", "dimension"),
        about=seen.about,
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


def _bias(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return no_maps()
    seen = bias(model, state, scheme)
    part = seen.part(state.square)
    return maps.content(
        [
            Map(name=name, values=pooled(by_distance(values), part), scale=scale)
            for name, values, scale in zip(seen.names, seen.values, seen.scales, strict=True)
        ],
        rows=Axis(part.row_names(), "query position", "query position", "query"),
        columns=Axis(part.column_names(), "key position", "key position", "key"),
        about=seen.sentence,
        part=part,
        zooms=PREFIX + "square",
        blank="not defined",
    )


def _distance(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return no_lines()
    seen = bias(model, state, scheme)
    heads = range(len(seen.values))
    charts = [_heads(seen, heads[first : first + HEADS]) for first in range(0, len(heads), HEADS)]
    if seen.buckets is not None:
        charts.append(
            Chart("distance, key − query", "bucket", [_line("bucket", seen, seen.buckets, "ink")], reach=(0,))
        )
    return lines.content(charts, about=seen.sentence)


def _heads(seen: Bias, heads: Sequence[int]) -> Chart:
    drawn = [_line(f"head {head + 1}", seen, seen.values[head], f"head {head % HEADS + 1}") for head in heads]
    which = "" if len(seen.values) <= HEADS else f" of heads {heads[0] + 1} to {heads[-1] + 1}"
    return Chart("distance, key − query", f"bias{which}", drawn, reach=(0,))


def _line(name: str, seen: Bias, values: Tensor, colour: str) -> Line:
    y = values.float().numpy()
    at = ends(y)
    return Line(name, seen.distance.numpy()[at].tolist(), y[at].tolist(), colour)


def curves_a(model: ModelState, state: PositionsState) -> Content:
    """Chosen dimensions over the positions."""
    return _curves(state, [one for one in curves_of(model, state) if one.scheme.side == "A"])


def curves_b(model: ModelState, state: PositionsState) -> Content:
    """The same of B."""
    return _curves(state, [one for one in curves_of(model, state) if one.scheme.side == "B"])


def curves(model: ModelState, state: PositionsState) -> Content:
    """A beside B."""
    return _curves(state, curves_of(model, state))


def _curves(state: PositionsState, seen: Sequence[Encoded]) -> Content:
    """On axes of the same reach."""
    top, charts = max((one.top for one in seen), default=1.0), []
    for one in seen:
        drawn, part = [], one.part(state.part)  # the curves show the positions that the heatmap shows
        for colour, dim in enumerate(dimensions(state, one.values.shape[1])):
            y = one.values[part.top : part.top + part.rows, dim].numpy()
            at = ends(y[: max(one.known - part.top, 0)])
            if not np.isfinite(y[-1]):
                at = np.append(at, len(y) - 1)  # of which there is no value
            drawn.append(Line(f"{dim}", (part.top + at).tolist(), y[at].tolist(), f"head {colour + 1}"))
        charts.append(Chart("position", one.scheme.title, drawn, reach=(-top, top)))
    return lines.content(charts, about=about_curves(seen, state)) if charts else no_lines()


def wavelengths(model: ModelState, state: PositionsState) -> Content:
    """How long the waves of each pair of dimensions are, beside the length."""
    found = waves(model, state)
    drawn = [line_of(one.scheme, range(len(one.lengths)), one.lengths.tolist()) for one in found]
    length = level(f"length = {state.length}", state.length, max((len(one.lengths) for one in found), default=1) - 1)
    chart = Chart("pair i of dimensions", "wavelength in positions", [length, *drawn], y_scale="log10")
    return lines.content([chart], about=about_waves(model, state))
