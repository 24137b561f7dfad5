"""The experiment on scaling as three charts over d_k."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from tfm_ui.lenses.attention.scale.numbers import ScaleView
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line

COLOURS = {"unscaled": "head 2", "scaled": "head 1"}


def content(view: ScaleView) -> Content:
    """What lines.js draws."""
    found, widths = view.found, view.found.widths
    ones, nats = [1.0] * len(widths), math.log(found.keys)
    variance = {"unscaled": found.variance, "scaled": found.variance / found.variance.new_tensor(widths)}
    laws = {"dₖ, the law": widths, "1, the law": ones}
    heads = [Line("your heads", [view.head_dim] * len(view.heads), view.heads, "ink", "dots")] if view.heads else []
    marks = {f"your model: dₖ = {view.head_dim}": view.head_dim}

    def over_width(what: str, drawn: Sequence[Line], *, wide: bool = False) -> Chart:
        """`wide` numbers go by powers of 2, others from 0."""
        reach = () if wide else (0,)
        return Chart("dₖ, width of a head", what, drawn, "log2", "log2" if wide else "linear", reach, marks)

    def series(measured: Mapping[str, Tensor], dashed: Mapping[str, Sequence[float]]) -> list[Line]:
        found_lines = [Line(name, widths, values.tolist(), COLOURS[name]) for name, values in measured.items()]
        return [Line(name, widths, values, "muted", "dashed") for name, values in dashed.items()] + found_lines

    charts = [
        over_width("variance of the scores", series(variance, laws) + heads, wide=True),
        over_width(
            "entropy of the weights, nats",
            series(found.entropy, {f"ln {found.keys}, the most": [nats * x for x in ones]}),
        ),
        over_width("largest gradient, mean", series(found.gradient, {"1/4, the most": [x / 4 for x in ones]})),
    ]
    return lines.content(charts, about=view.sentence)
