"""The pictures of the view "beyond" of the Positions lens, as functions of the link."""

from tfm_ui.lenses.positions.beyond.scores import scores
from tfm_ui.lenses.positions.beyond.turns import turns
from tfm_ui.lenses.positions.beyond.vectors import UNDEFINED, beyond, beyond_range
from tfm_ui.lenses.positions.sides import level, line_of
from tfm_ui.lenses.positions.state import PositionsState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState


def vectors(model: ModelState, state: PositionsState) -> Content:
    """Norms, and how alike each position and the last one within max_len are."""
    seen, x = beyond(model, state), range(state.length)
    measured = {
        "norm": [line_of(side.scheme, x, side.norm.tolist()) for side in seen.sides],
        f"dot product with position {seen.last}": [line_of(side.scheme, x, side.alike.tolist()) for side in seen.sides],
    }
    charts = [
        Chart("position", what, drawn, reach=(0,), ranges=beyond_range(state, seen.undefined))
        for what, drawn in measured.items()
    ]
    return lines.content(charts, about=seen.sentence, gap=UNDEFINED)


def by_distance(model: ModelState, state: PositionsState) -> Content:
    """Scores and biases; those of one unit share a chart."""
    seen, charts = scores(model, state), dict[str, list[Line]]()
    for scheme, unit, values in seen.sides:
        charts.setdefault(unit, []).append(line_of(scheme, range(state.length), values.tolist()))
    return lines.content(
        [
            Chart("distance m − n", unit, drawn, reach=(0,), ranges=beyond_range(state))
            for unit, drawn in charts.items()
        ],
        about=seen.sentence,
    )


def wavelengths(model: ModelState, state: PositionsState) -> Content:
    """Of each pair, beside max_len."""
    seen = turns(model, state)
    drawn = [line_of(scheme, range(len(waves)), waves.tolist()) for scheme, waves in seen.sides]
    last = max((len(waves) for _, waves in seen.sides), default=1) - 1
    ends = [level(f"{name} = {y}", y, last) for name, y in (("max_len", state.max_len), ("length", state.length))]
    chart = Chart("pair i of dimensions", "wavelength in positions", [*drawn, *ends], y_scale="log10")
    return lines.content([chart], about=seen.sentence)
