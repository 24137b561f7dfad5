"""The pictures of the view "depth", as functions of the link."""

import numpy as np

from tfm_ui.lenses.model.depth.dropped import dropped
from tfm_ui.lenses.model.depth.stream import stream
from tfm_ui.lenses.model.depth.wired import OF_PARAMETERS, WHAT, Alike, Wired, wired, wired_needs
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live import passes
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER

AFTER = "layer, from the input (0) on"


def _by_wiring(shown: Wired, measure: str) -> list[Line]:
    layers = list(range(shown.config.num_layers + 1))
    return [
        Line(wiring, layers, np.where(np.isfinite(mean), mean, np.nan).tolist(), f"head {at + 1}")  # inf has no place
        for at, (wiring, mean) in enumerate(shown.means[measure].items())
    ]


def _of_parameters(shown: Wired) -> list[Line]:
    """A line per norm, in the colour that its wiring has beside it."""
    layers = list(range(1, shown.config.num_layers + 1))
    colours = {wiring: f"head {at + 1}" for at, wiring in enumerate(shown.by_wiring)}
    return [Line(wiring, layers, lengths.tolist(), colours[wiring]) for wiring, lengths in shown.of_parameters.items()]


def four_wirings(model: ModelState, state: ModelLensState) -> Content:
    """Lengths of vectors, of their gradients and of those of parameters at each layer, a line per wiring."""
    shown = wired(model, state)
    charts = [
        Chart(AFTER, WHAT[measure], _by_wiring(shown, measure), y_scale="log10") for measure in ("forward", "backward")
    ]
    charts.append(Chart(AFTER, OF_PARAMETERS, _of_parameters(shown), y_scale="log10"))
    return lines.content(charts, about=shown.sentence())


def alike(model: ModelState, state: ModelLensState) -> Content:
    """The mean cosine of two tokens after each layer."""
    shown = wired(model, state)
    chart = Chart(AFTER, "mean cosine of two different tokens", _by_wiring(shown, "similarity"), reach=(0, 1))
    return lines.content([chart], about=Alike(shown).sentence())


def residual_stream(model: ModelState, state: ModelLensState) -> Content:
    """The residual stream before and after each sub-layer, and what it adds."""
    shown = stream(model, state)
    places = list(range(1, len(shown.places) + 1))
    chart = Chart(
        "sub-layer, in order",
        "mean length",
        [
            Line("stream after", places, shown.lengths("after"), "query"),
            Line("what the sub-layer adds", places, shown.lengths("adds"), "value"),
            Line("stream before", places, shown.lengths("before"), "ink", "dashed"),  # in sight where both are alike
        ],
        reach=(0,),
    )
    cosine = Chart(
        "sub-layers passed",
        "mean cosine of two tokens",
        [Line("mean cosine", [0, *places], shown.similarity, "result")],
        reach=(0, 1),
    )
    return lines.content([chart, cosine] if len(shown.read) > 1 else [chart], about=shown.sentence())


def draws(model: ModelState, state: ModelLensState) -> Content:
    """A dot per draw and key; the row in evaluation mode as a line."""
    shown = dropped(model, state)
    visible = shown.visible
    keys = [key + 1 for key in visible]
    each = shown.trained[:, visible].flatten().tolist()
    chart = Chart(
        "key, by its place in the text",
        "weight",
        [
            Line(
                "training mode, a dot per draw",
                keys * len(shown.trained),
                each,
                "key",
                "dots",
            ),
            Line("evaluation mode", keys, shown.calm[visible].tolist(), "ink", "dots"),
        ],
        reach=(0,),
    )
    return lines.content([chart], about=shown.sentence())


def _stream_needs(model: ModelState, state: ModelLensState) -> int:
    """A pass, and what stands before and after each sub-layer and what it adds, which is kept."""
    sub_layers = (5 if model.is_encoder_decoder else 2) * model.num_layers
    return passes.needs(model) + NUMBER * 3 * sub_layers * model.longest * model.d_model


PICTURES = {
    "model_wirings": Picture(CHART, four_wirings, needs=wired_needs),
    "model_alike": Picture(CHART, alike, needs=wired_needs),
    "model_stream_lengths": Picture(CHART, residual_stream, needs=_stream_needs),
    "model_training_mode": Picture(CHART, draws),
}
