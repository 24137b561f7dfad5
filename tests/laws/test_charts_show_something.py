"""No chart is shown without a point: where there is nothing to draw, a sentence stands in its place."""

import base64
import math
from typing import Any

import numpy as np
import pytest

from tfm_core import POSITIONAL
from tfm_ui.lenses import lens, lenses
from tfm_ui.lenses.positions.state import CLAIMS
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import panels_in
from tfm_ui.state.model_state import ModelState

Values = dict[str, Any]
MODELS: list[Values] = [{}, {"text": "a"}, {"weights": "lab-gpt"}]
VIEWS = [(each.name, {"view": view} if len(each.views) > 1 else {}) for each in lenses() for view in each.views]
CLAIMED: Values = {"claim": CLAIMS, "a": tuple(POSITIONAL), "b": ("nothing", "sinusoidal", "learned", "rope")}


def numbers(values: Any) -> list[float]:
    """The numbers of an axis of a trace, as Plotly's JSON has them; names count as numbers that are there."""
    if isinstance(values, dict):
        return [float(each) for each in np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"])]
    return [math.nan if each is None else 1.0 if isinstance(each, str) else float(each) for each in values]


def empty_charts(name: str, model: ModelState, page: Values) -> list[str]:
    """The charts on screen that have no point."""
    of, without_points = lens(name), []
    state = of.state(**page)
    for panel in panels_in(of.blocks(model, state)):
        picture = of.pictures.get(panel.picture_name)
        if picture is None or picture.canvas is not CHART:
            continue
        figure = picture.content(model, state)[0]["figure"]
        for axis in (key for key in figure["layout"] if key.startswith("yaxis")):
            is_log = figure["layout"][axis].get("type") == "log"
            of_axis = [trace for trace in figure["data"] if f"yaxis{trace.get('yaxis', 'y')[1:]}" == axis]
            ys = [y for trace in of_axis if trace.get("meta") != "gap" for y in numbers(trace["y"])]
            if not any(math.isfinite(y) and (y > 0 or not is_log) for y in ys):
                without_points.append(f"{panel.picture_name}, {axis}")
    return without_points


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "page"), VIEWS)
def test_each_chart_of_a_view_has_a_point(name, page, model):
    assert not empty_charts(name, ModelState(**model), page)


@pytest.mark.parametrize("shift", [0, 5])
@pytest.mark.crossed(**CLAIMED)
def test_whatever_is_claimed_of_positions(claim, a, b, shift):
    assert not empty_charts("positions", ModelState(), {"view": "why", "claim": claim, "a": a, "b": b, "shift": shift})
