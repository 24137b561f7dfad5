"""The pictures of the view "see", as functions of the link."""

from collections.abc import Sequence

import numpy as np

from tfm_ui.components import lines, maps
from tfm_ui.components.canvas import Content
from tfm_ui.components.lines import Chart, Line
from tfm_ui.components.maps import MASKED, Axis, Map
from tfm_ui.model_state import ModelState
from tfm_ui.positions_lens.see import CURVES, chosen, dimensions, encoded, toggled
from tfm_ui.positions_lens.see_bias import Bias, bias
from tfm_ui.positions_lens.see_waves import about_curves, about_waves, ends, waves
from tfm_ui.positions_lens.see_waves import curves as curves_of
from tfm_ui.positions_lens.state import PREFIX, PositionsState
from tfm_ui.windows import by_distance, matrix, pooled

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
        return _gone()
    seen, zooms = encoded(model, state, scheme), f"part_{side.lower()}"
    part = seen.part(getattr(state, zooms))
    dims, columns = dimensions(state, seen.values.shape[1]), part.column_names()
    row = (state.position - part.top) // part.block[0]
    return maps.content(
        [Map(scheme.name, pooled(matrix(seen.values), part), seen.top or 1.0, "", signed=True)],
        Axis(part.row_names(), "position", "position"),
        Axis(columns, "dimension", "dimension"),
        about=seen.sentence,
        picked=(row, 0) if 0 <= state.position - part.top < part.rows else None,
        whole_row=True,
        asks=(PREFIX + "position", PREFIX + "dims"),
        places=(
            list(range(part.top, part.top + part.rows, part.block[0])),
            [toggled(dims, int(name)) for name in columns],
        ),
        square=False,
        part=part,
        zooms=PREFIX + zooms,
        blank="not defined",
    )


def _gone() -> Content:
    """For a scheme that has been left: the page is about to take the picture away."""
    return maps.content([Map("", np.full((1, 1), MASKED), 1.0, "")], Axis([""], "", ""), Axis([""], "", ""), about="")


def _bias(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return _gone()
    seen = bias(model, state, scheme)
    part = seen.part(state.square)
    return maps.content(
        [
            Map(f"head {i + 1}", pooled(by_distance(values), part), seen.top or 1.0, "", signed=True)
            for i, values in enumerate(seen.values)
        ],
        Axis(part.row_names(), "query position", "query position", "query"),
        Axis(part.column_names(), "key position", "key position", "key"),
        about=seen.sentence,
        part=part,
        zooms=PREFIX + "square",
        blank="not defined",
    )


def _distance(model: ModelState, state: PositionsState, side: str) -> Content:
    scheme = chosen(model, state, side, "bias_at")
    if not scheme:
        return lines.content([Chart("", "", [])], about="")
    seen = bias(model, state, scheme)
    heads = range(len(seen.values))
    charts = [_heads(seen, heads[first : first + HEADS]) for first in range(0, len(heads), HEADS)]
    if seen.buckets is not None:
        x, y = seen.distance.tolist(), seen.buckets.tolist()
        charts.append(Chart("distance, key − query", "bucket", [Line("bucket", x, y, "ink", "dots")]))
    return lines.content(charts, about=seen.sentence)


def _heads(seen: Bias, heads: Sequence[int]) -> Chart:
    drawn = []
    for head in heads:
        y = seen.values[head].float().numpy()
        at = ends(y)
        drawn.append(
            Line(f"head {head + 1}", seen.distance.numpy()[at].tolist(), y[at].tolist(), f"head {head % HEADS + 1}")
        )
    which = "" if len(seen.values) <= HEADS else f" of heads {heads[0] + 1} to {heads[-1] + 1}"
    return Chart("distance, key − query", f"bias{which}", drawn, reach=(0,))


def curves(model: ModelState, state: PositionsState) -> Content:
    """Chosen dimensions over the positions, of A beside B."""
    seen = curves_of(model, state)
    charts = []
    for one in seen:
        drawn = []
        for colour, dim in enumerate(dimensions(state, one.values.shape[1])):
            y = one.values[:, dim].numpy()
            at = ends(y[: one.known])
            drawn.append(Line(f"{dim}", at.tolist(), y[at].tolist(), f"head {colour % CURVES + 1}"))
        charts.append(Chart("position", one.scheme.title, drawn, reach=(0,)))
    return lines.content(charts or [Chart("", "", [])], about=about_curves(seen, state))


def wavelengths(model: ModelState, state: PositionsState) -> Content:
    """How long the waves of each pair of dimensions are."""
    colours = {"A": "query", "B": "key"}
    drawn = [
        Line(one.scheme.title, range(len(one.lengths)), one.lengths.tolist(), colours[one.scheme.side])
        for one in waves(model, state)
    ]
    most = max((len(line.x) for line in drawn), default=1) - 1
    law = [
        Line(
            f"length {state.length}", [0, most] if most else [0], [state.length] * (2 if most else 1), "muted", "dashed"
        )
    ]
    chart = Chart("pair i of dimensions", "wavelength, positions", [*law, *drawn], "linear", "log10")
    return lines.content([chart], about=about_waves(model, state))
