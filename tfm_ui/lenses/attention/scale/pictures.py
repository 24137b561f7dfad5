"""The experiment on scaling as three charts over d_k."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from tfm_ui.lenses.attention.scale.numbers import WIDTHS, effect_of_scaling
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import and_scores
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.registry import Picture
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER

COLOURS = {"unscaled": "head 2", "scaled": "head 1"}


def content(model: ModelState, state: AttentionState) -> Content:
    """What lines.js draws."""
    effect = effect_of_scaling(model, state)
    measured, widths = effect.measured, effect.measured.widths
    variance = {"unscaled": measured.variance, "scaled": measured.variance / measured.variance.new_tensor(widths)}
    at_model = [effect.head_dim] * len(effect.heads)
    heads = [Line("your heads", at_model, effect.heads, "ink", "dots")] if effect.heads else []
    marks = {f"your model: dₖ = {effect.head_dim}": effect.head_dim}

    def over_width(what: str, drawn: Sequence[Line], *, wide: bool = False) -> Chart:
        """`wide` numbers go by powers of 2, others from 0."""
        reach = () if wide else (0,)
        return Chart("dₖ, width of a head", what, drawn, "log2", "log2" if wide else "linear", reach, marks)

    def series(of_draws: Mapping[str, Tensor]) -> list[Line]:
        return [Line(name, widths, values.tolist(), COLOURS[name]) for name, values in of_draws.items()]

    def law(name: str, values: Sequence[float], of: str) -> Line:
        return Line(name, widths, values, COLOURS[of], "dashed")

    def most(value: float) -> Line:
        return Line("the most possible", widths, [value] * len(widths), "muted", "dashed")

    laws = [law("the law: dₖ", widths, "unscaled"), law("the law: 1", [1.0] * len(widths), "scaled")]
    charts = [
        over_width("variance of the scores", laws + series(variance) + heads, wide=True),
        over_width("entropy of the weights, nats", [most(math.log(measured.keys)), *series(measured.entropy)]),
        over_width("largest gradient, median", [most(0.25), *series(measured.median_gradient)]),
    ]
    return lines.content(charts, about=effect.sentence())


def _needs(model: ModelState, state: AttentionState) -> int:
    """A layer's scores; and of the experiment the keys of all draws, of the widest head, with their scores."""
    keys: int = NUMBER * state.draws * state.draw_keys * (WIDTHS[-1] + 8)
    return and_scores(1)(model, state) + LITTLE + keys


PICTURES = {"scale": Picture(CHART, content, needs=_needs)}
