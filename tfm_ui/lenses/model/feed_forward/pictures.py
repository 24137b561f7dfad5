"""The pictures of the view "feed_forward", as functions of the link."""

from tfm_core import ACTIVATIONS
from tfm_ui.lenses.model.feed_forward.curves import curves
from tfm_ui.lenses.model.feed_forward.hidden import hidden
from tfm_ui.lenses.model.feed_forward.unit import unit
from tfm_ui.lenses.model.state import PREFIX, ModelLensState
from tfm_ui.live.passes import and_scores
from tfm_ui.live.tables import SIDE, matrix
from tfm_ui.live.windows import part_of, pooled
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import around_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState


def two_charts(model: ModelState, state: ModelLensState) -> Content:
    """Each activation and its derivative; a gated one is drawn once, with the function that it shares."""
    shown = curves(hidden(model, state))
    plain = [name for name, entry in ACTIVATIONS.items() if not entry.gated]
    charts = [
        Chart(
            "what the activation reads",
            heading,
            [Line(name, shown.x.tolist(), values[name].tolist(), f"head {at + 1}") for at, name in enumerate(plain)],
            ranges={"90% here": shown.middle},
        )
        for heading, values in (("activation", shown.values), ("derivative", shown.slopes))
    ]
    return lines.content(charts, about=shown.sentence())


def under_each(model: ModelState, state: ModelLensState) -> Content:
    """A map of hidden units for each activation, on one scale."""
    shown = hidden(model, state)
    rows, width = next(iter(shown.units.values())).shape
    part = part_of(state.hidden_part, rows, width, SIDE // 2)
    whole = part.exact and (part.rows, part.columns) == (rows, width)
    top = max(float(units.abs().max()) for units in shown.units.values())
    return maps.content(
        [
            Map(name=name, values=pooled(matrix(units), part), scale=around_zero(top), unit="one scale")
            for name, units in shown.units.items()
        ],
        rows=Axis(part.row_names(shown.names), "token", "token"),
        columns=Axis(part.column_names([str(at + 1) for at in range(width)]), "hidden unit", "unit", counted=whole),
        about=shown.sentence(),
        square=False,
        part=None if whole else part,
        zooms=PREFIX + "hidden_part",
        counted_from=1,
    )


def one_unit(model: ModelState, state: ModelLensState) -> Content:
    """A row of numbers over the tokens: how far the unit fires, and what it writes towards."""
    shown = unit(hidden(model, state), state)
    name = f"unit {shown.unit + 1}"
    return maps.content(
        [
            Map(
                name="fires",
                values=shown.fires[None].numpy(),
                scale=around_zero(float(shown.fires.abs().max())),
                unit="activation",
            ),
            Map(
                name="writes towards the embedding of",
                values=shown.towards[None].numpy(),
                scale=around_zero(1.0),
                unit="cosine",
            ),
        ],
        rows=Axis([name], "hidden unit", "unit"),
        columns=Axis(shown.names, "token", "token"),
        about=shown.sentence(),
        square=False,
    )


PICTURES = {
    "model_activations": Picture(CHART, two_charts, needs=and_scores(2)),
    "model_hidden": Picture(MAPS, under_each, needs=and_scores(2)),
    "model_one_unit": Picture(MAPS, one_unit, needs=and_scores(2)),
}
