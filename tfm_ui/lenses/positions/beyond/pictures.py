"""The pictures of the view "beyond", as functions of the link."""

from tfm_ui.lenses.positions.beyond.max_len import UNDEFINED, beyond_range
from tfm_ui.lenses.positions.beyond.scores import scores
from tfm_ui.lenses.positions.beyond.unfinished_waves import unfinished_waves
from tfm_ui.lenses.positions.beyond.vectors import beyond
from tfm_ui.lenses.positions.charts import level, line_of
from tfm_ui.lenses.positions.needs import tables
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState


def vectors(model: ModelState, state: PositionsState) -> Content:
    """Norms, and how alike each position and the last one within max_len are."""
    shown, x = beyond(model, state), range(state.length)
    alike = f"dot product with position {shown.last}"
    measured = {
        "norm": [line_of(side.scheme, x, side.norm.tolist()) for side in shown.sides],
        alike: [line_of(side.scheme, x, side.alike.tolist()) for side in shown.sides if side.alike is not None],
    }
    charts = [
        Chart("position", what, drawn, reach=(0,), ranges=beyond_range(shown.state, shown.undefined))
        for what, drawn in measured.items()
        if drawn
    ]
    return lines.content(charts, about=shown.sentence(), gap=UNDEFINED)


def scores_by_distance(model: ModelState, state: PositionsState) -> Content:
    """Scores and biases; those of one unit share a chart."""
    shown, charts = scores(model, state), dict[str, list[Line]]()
    for scheme, unit, values in shown.sides:
        charts.setdefault(unit, []).append(line_of(scheme, range(state.length), values.tolist()))
    return lines.content(
        [
            Chart("distance m − n", unit, drawn, reach=(0,), ranges=beyond_range(shown.state))
            for unit, drawn in charts.items()
        ],
        about=shown.sentence(),
    )


def waves_of_pairs(model: ModelState, state: PositionsState) -> Content:
    """The wavelength of each pair, beside max_len."""
    shown = unfinished_waves(model, state)
    drawn = [line_of(scheme, range(len(waves)), waves.tolist()) for scheme, waves in shown.sides]
    last = max((len(waves) for _, waves in shown.sides), default=1) - 1
    ends = [level(f"{name} = {y}", y, last) for name, y in (("max_len", shown.state.max_len), ("length", state.length))]
    chart = Chart("pair i of dimensions", "wavelength in positions", [*drawn, *ends], y_scale="log10")
    return lines.content([chart], about=shown.sentence())


PICTURES = {
    "positions_beyond": Picture(CHART, vectors, needs=tables),
    "positions_beyond_scores": Picture(CHART, scores_by_distance, needs=tables),
    "positions_beyond_turns": Picture(CHART, waves_of_pairs, needs=tables),
}
