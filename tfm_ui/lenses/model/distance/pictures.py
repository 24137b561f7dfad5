"""The pictures of the view "distance", as functions of the link."""

import numpy as np

from tfm_ui.jobs.networks import NAMES
from tfm_ui.lenses.model.distance.numbers import reach, reach_needs
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState

COLOURS = dict(zip(NAMES, ("ink", "head 1", "head 2", "head 3", "head 4"), strict=True))


def draw_reach(model: ModelState, state: ModelLensState) -> Content:
    """The median of each network, between thin lines for the lowest and the highest draw."""
    shown = reach(model, state)
    around, medians = [], []
    for name in NAMES:
        reached = shown.lengths[name][:, : shown.furthest(name) + 1]  # a line ends where nothing arrives any more
        distances = list(range(reached.shape[1]))
        around += [
            Line("", distances, edge.tolist(), COLOURS[name], style="thin")
            for edge in (reached.min(axis=0), reached.max(axis=0))
        ]
        medians.append(Line(name, distances, np.median(reached, axis=0).tolist(), COLOURS[name]))
    chart = Chart("distance from the last token, tokens", "gradient length", [*around, *medians], y_scale="log10")
    return lines.content([chart], about=shown.sentence(), gap="0")


PICTURES: dict[str, Picture] = {"model_distance": Picture(CHART, draw_reach, needs=reach_needs)}
