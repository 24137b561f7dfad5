"""The pictures of the view "efficient", as functions of the link."""

import numpy as np

from tfm_ui.lenses.model.efficient.compared import compared
from tfm_ui.lenses.model.efficient.costs import LENGTHS, costs
from tfm_ui.lenses.model.efficient.tiling import Held, at_end, tiling
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.passes import and_scores
from tfm_ui.live.tables import SIDE, matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import knobs, lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.knobs import KNOBS, Knob
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.maps import ABSENT, MAPS, MASKED, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

MANY = SIDE // 2  # a side of each map, as there are five


def who_sees_whom(model: ModelState, state: ModelLensState) -> Content:
    """A map of weights for each attention, on one scale; what a query may not see is blank."""
    shown = compared(model, state)
    size = len(shown.names)
    part = part_of(state.efficient_part, size, size, MANY)
    whole = part.exact and (part.rows, part.columns) == (size, size)
    top = max(float(variant.weights.max()) for variant in shown.by_name.values())
    return maps.content(
        [
            Map(
                name=name,
                values=pooled(matrix(variant.weights.masked_fill(~variant.visible, float("nan"))), part),
                scale=from_zero(top),
                unit="weight, one scale",
            )
            for name, variant in shown.by_name.items()
        ],
        rows=Axis(part.row_names(shown.names), "query", "query", "query"),
        columns=Axis(part.column_names(shown.names), "key", "key", "key"),
        about=shown.sentence(),
        part=None if whole else part,
        zooms=PREFIX + "efficient_part",
        blank="hidden",
        counted_from=1,
    )


def tile_maps(model: ModelState, state: ModelLensState) -> Content:
    """The scores that have been read, and what they come to so far."""
    shown = tiling(compared(model, state), state)
    scores, shares = _cells(shown.scores.numpy()), _cells(shown.shares.numpy())
    top = max([float(abs(score)) for score in scores[np.isfinite(scores)]], default=1.0)
    tile = shown.now
    names = [f"{at}{'▸' * (tile.queries.start < at <= tile.queries.stop)} {n}" for at, n in enumerate(shown.names, 1)]
    keys = [f"{at}{'▸' * (tile.keys.start < at <= tile.keys.stop)} {n}" for at, n in enumerate(shown.names, 1)]
    return maps.content(
        [
            Map(name="scores read so far", values=scores, scale=around_zero(top), unit="score"),
            Map(name="exp(score − m) / l so far", values=shares, scale=from_zero(1.0), unit="share"),
        ],
        rows=Axis(names, "query", "query", "query"),
        columns=Axis(keys, "key", "key", "key"),
        about=shown.sentence(),
        absent="no tile has been here",
        blank="hidden",
    )


def _cells(values: np.ndarray) -> np.ndarray:
    """The values as cells of a map: MASKED for NaN, ABSENT for inf."""
    cells = values.astype(np.float32)
    cells[np.isnan(values)], cells[np.isinf(values)] = MASKED, ABSENT
    return cells


def running(model: ModelState, state: ModelLensState) -> Content:
    """The running maximum and sum of each query, beside what they will be."""
    shown = tiling(compared(model, state), state)
    end = at_end(shown)
    queries = list(range(1, len(shown.plain) + 1))
    x = "query, by its place in the text"
    return lines.content(
        [
            Chart(
                x,
                heading,
                [
                    Line("after the last step", queries, _drawn(end.held(name)), "muted", "dashed"),
                    Line("now", queries, _drawn(shown.held(name)), "query"),
                ],
                reach=(0,),
            )
            for name, heading in (("maximum", "running maximum m"), ("total", "running sum l"))
        ],
        about=Held(shown).sentence(),
        gap="no key seen yet",
    )


def _drawn(values: list[float]) -> list[float]:
    """A query that has seen no key has the maximum -inf, which no axis has."""
    return [value if np.isfinite(value) else float("nan") for value in values]


def knob(model: ModelState, state: ModelLensState) -> Content:
    """The slider of the step; it moves the pictures below while it is dragged."""
    shown = tiling(compared(model, state), state)
    count = len(shown.steps)
    return knobs.content(
        [Knob("Step", f"{PREFIX}tile_step", shown.step, 1, max(2, count), stops=range(1, max(2, count) + 1))]
    )


def growth(model: ModelState, state: ModelLensState) -> Content:
    """Multiply-adds needed and numbers held, against the length of the text, both on log axes."""
    shown = costs(model, state)
    charts = []
    for attribute, heading in (("needed", "multiply-adds needed"), ("kept", "numbers held at a time")):
        series = [
            Line(name, LENGTHS, [getattr(cost, attribute) for cost in by_length], f"head {at % 8 + 1}")
            for at, (name, by_length) in enumerate(shown.by_length.items())
        ]
        charts.append(Chart("tokens", heading, series, "log2", "log10", marks={"this text": shown.n}))
    return lines.content(charts, about=shown.sentence())


PICTURES = {
    "model_efficient": Picture(MAPS, who_sees_whom, needs=and_scores(3)),
    "model_efficient_tiles": Picture(MAPS, tile_maps, needs=and_scores(3)),
    "model_efficient_running": Picture(CHART, running, needs=and_scores(3)),
    "model_efficient_knob": Picture(KNOBS, knob, needs=and_scores(3)),
    "model_efficient_growth": Picture(CHART, growth, needs=and_scores(3)),
}
