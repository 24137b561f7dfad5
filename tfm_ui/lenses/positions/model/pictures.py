"""The pictures of the view "model", as functions of the link."""

import numpy as np

from tfm_ui.lenses.positions import weight_maps
from tfm_ui.lenses.positions.charts import A_AND_B
from tfm_ui.lenses.positions.model import entry_canvas
from tfm_ui.lenses.positions.model.entry import diagram
from tfm_ui.lenses.positions.model.numbers import Distances, maps
from tfm_ui.lenses.positions.model.shuffle import shuffle
from tfm_ui.lenses.positions.state import PREFIX, PositionsState
from tfm_ui.live import passes
from tfm_ui.live.windows import part_of
from tfm_ui.pictures import lines
from tfm_ui.pictures import maps as maps_canvas
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MAPS, Axis, Map
from tfm_ui.pictures.picture import Picture
from tfm_ui.state.model_state import ModelState

OTHERS = ("head 3", "head 4", "head 5", "head 6", "head 7", "head 8")


def one_head(model: ModelState, state: PositionsState) -> Content:
    """One head under each scheme, on one scale."""
    shown = maps(model, state)
    return weight_maps.content(
        {state.title_of(name): head for name, head in shown.heads.items()},
        shown.names,
        part_of(state.part_maps, model.length, model.length),
        read=shown.read,
        about=shown.sentence(),
        zooms=PREFIX + "part_maps",
    )


def mean_scores(model: ModelState, state: PositionsState) -> Content:
    """The mean score of each distance."""
    shown = maps(model, state)
    rest = iter(OTHERS * len(shown.heads))
    drawn = []
    for name, head in shown.heads.items():
        colour, style = A_AND_B[state.sides[name]] if name in state.sides else (next(rest), "solid")
        scores = head.by_distance
        drawn.append(Line(state.title_of(name), scores.distance.tolist(), scores.mean.tolist(), colour, style))
    ahead = "" if model.looks_back_only and not model.is_encoder_decoder else "; below 0 the key is ahead"
    chart = Chart(f"distance, query − key, in tokens{ahead}", "mean score, before the softmax", drawn[::-1])
    return lines.content([chart], about=Distances(shown).sentence())


def moves(model: ModelState, state: PositionsState) -> Content:
    """How far each token's output moved, under each scheme."""
    shown = shuffle(model, state)
    shares = np.stack([row.shares for row in shown.rows.values()])
    scale = from_zero(float(shares.max()))
    return maps_canvas.content(
        [Map(name="‖after − before‖ / ‖before‖", values=shares, scale=scale, unit="of its length")],
        rows=Axis([row.title for row in shown.rows.values()], "scheme", "scheme"),
        columns=Axis(shown.names, "token (column), as the text was written", "token"),
        places=(list(range(1, len(shares) + 1)), list(range(len(shown.names)))),  # positions are counted from 0
        square=False,
        about=shown.sentence(),
    )


def entry(model: ModelState, state: PositionsState) -> Content:
    """Where A and B enter the model."""
    return entry_canvas.content(diagram(model, state))


PICTURES = {
    "positions_maps": Picture(MAPS, one_head, needs=passes.needs),
    "positions_distance": Picture(CHART, mean_scores, needs=passes.needs),
    "positions_shuffled": Picture(MAPS, moves, needs=passes.needs),
    "positions_entry": Picture(entry_canvas.ENTRY, entry, needs=passes.needs),
}
