"""The view "scale": why scores are divided by the root of d_k: an experiment, and the model's own heads beside it."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from tfm_core import ScaleExperiment, attention_scores, attention_weights, scale_experiment
from tfm_core.study import experiments
from tfm_core.study.analysis import entropy
from tfm_ui.lenses.attention.inside import AttentionPanel, inside
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import and_scores
from tfm_ui.live.places import tokens_of
from tfm_ui.live.script import script
from tfm_ui.page import controls_line
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import ModelState
from tfm_ui.state.pass_cost import NUMBER
from tfm_ui.text import formats

WIDTHS = tuple(2**power for power in range(9))  # up to the widest head that the sidebar offers
COLOURS = {"unscaled": "head 2", "scaled": "head 1"}


def measure(*, widths: Sequence[int], draws: int, keys: int, seed: int) -> ScaleExperiment:
    """Variance, entropy and gradients at each width."""
    measured = scale_experiment(widths, draws=draws, keys=keys, seed=seed)
    return measured


kept_measure = cached(heavy=never, always_kept=32)(measure)


@cached()
def score_variances(model: ModelState, kind: str, layer: int) -> list[float]:
    """Variance of q.k in each head of a layer, from 0; [] if there are not two pairs that may look at each other.

    Of all these pairs, without padding; before the division, and without what a positional scheme adds to the scores.
    """
    attention, read = inside(model, kind, layer), len(tokens_of(model, kind)[0].pieces)
    visible = attention.visible[:read]
    if visible.sum() < 2:
        return []
    variances = []
    for head in range(len(attention.query)):
        part = slice(head, head + 1)  # a head at a time: of many tokens, all at once take much memory
        products = attention_scores(attention.query[part, :read], attention.key[part], scale=1.0)[0]
        variances.append(torch.var(products[visible].double(), correction=0).item())
    return variances


def _needs(model: ModelState, state: AttentionState) -> int:
    """A layer's scores; and of the experiment the keys of all draws, of the widest head, with their scores."""
    keys: int = NUMBER * state.draws * state.draw_keys * (WIDTHS[-1] + 8)
    return and_scores(1)(model, state) + LITTLE + keys


class Scale(AttentionPanel):
    """The experiment beside one layer of the model."""

    name = "scale"
    title = "Why √dₖ"
    how_to_read = (
        "Queries and keys of independent standard normal numbers, drawn anew at each dₖ. Gradient: the largest "
        "|∂ weight / ∂ score|. Circles: your model’s heads."
    )
    sources = (
        experiments.scale_experiment,
        experiments.measure_width,
        experiments.largest_gradient,
        entropy,
        attention_scores,
        attention_weights,
        score_variances,
    )
    canvas = CHART
    needs = _needs

    @property
    def shape(self) -> str:
        return f"{self.state.draws} draws × {self.state.draw_keys} keys"

    @property
    def _arguments(self) -> dict[str, Any]:
        widths, state = tuple(sorted({*WIDTHS, self.model.config.head_dim})), self.state
        return {"widths": widths, "draws": state.draws, "keys": state.draw_keys, "seed": state.draw_seed}

    @cached_property
    def measured(self) -> ScaleExperiment:
        """The experiment, made at the model's d_k too."""
        return kept_measure(**self._arguments)

    @cached_property
    def variances(self) -> list[float]:
        """Variance of q.k in each head of the layer; empty where there are not two pairs to vary."""
        return score_variances(self.model, self.kind, self.layer)

    def sentence(self) -> str:
        """What was measured at the widest, and in the model."""
        measured, last = self.measured, self.measured.widths[-1]
        apart = max(abs(v / width - 1) for width, v in zip(measured.widths, measured.variance.tolist(), strict=True))
        off = formats.percent(apart)
        most = math.log(measured.keys)
        kept = {name: formats.percent(nats[-1].item() / most) for name, nats in measured.entropy.items()}
        half = {name: _gradient(values[-1].item()) for name, values in measured.median_gradient.items()}
        return (
            f"At dₖ = {last} the variance of q·k is {measured.variance[-1]:.4g}, over all widths at most {off} away "
            f"from dₖ. Unscaled, the softmax then has {kept['unscaled']} of the most possible entropy, and half of the "
            f"draws leave no gradient above {half['unscaled']}; divided by √dₖ, {kept['scaled']}, and "
            f"{half['scaled']}. {self.about_model}"
        )

    @property
    def about_model(self) -> str:
        """How the model's own scores spread."""
        if not self.variances:
            return "Your model sees one pair of tokens alone, and one score has no spread."
        head_dim = self.model.config.head_dim
        before = [math.sqrt(variance) for variance in self.variances]
        after = [spread / math.sqrt(head_dim) for spread in before]
        return (
            f"In layer {self.layer + 1} of your model, dₖ = {head_dim}, q·k has a standard deviation of "
            f"{_span(before)}, after the division {_span(after)}: a model need not follow the law."
        )

    def laws(self) -> dict[str, bool]:
        measured, most = self.measured, math.log(self.measured.keys)
        same = all(
            by_name["scaled"][0] == by_name["unscaled"][0]
            for by_name in (measured.entropy, measured.gradient, measured.median_gradient)
        )
        bounded = all(max(nats) <= most + 1e-6 for nats in measured.entropy.values())
        return {
            f"no entropy above ln {measured.keys} = {most:.2f}": bounded,
            "no gradient above 1/4": all(max(gradients) <= 0.25 for gradients in measured.gradient.values()),
            "at dₖ = 1 the division changes nothing": same,
        }

    def table(self) -> pd.DataFrame:
        """A row per width."""
        measured = self.measured
        columns = {"variance of q·k": measured.variance.tolist()}
        for what, by_name in (
            ("entropy in nats", measured.entropy),
            ("largest gradient, mean", measured.gradient),
            ("largest gradient, median", measured.median_gradient),
        ):
            columns |= {f"{what}, {name}": values.tolist() for name, values in by_name.items()}
        return pd.DataFrame(columns, index=pd.Index(measured.widths, name="d_k"))

    def picture(self) -> Content:
        """Three charts over d_k."""
        measured, widths = self.measured, self.measured.widths
        scores = {"unscaled": measured.variance, "scaled": measured.variance / measured.variance.new_tensor(widths)}
        head_dim, dots = self.model.config.head_dim, self.variances
        heads = [Line("your heads", [head_dim] * len(dots), dots, "ink", "dots")] if dots else []
        marks = {f"your model: dₖ = {head_dim}": head_dim}

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
            over_width("variance of the scores", laws + series(scores) + heads, wide=True),
            over_width("entropy of the weights, nats", [most(math.log(measured.keys)), *series(measured.entropy)]),
            over_width("largest gradient, median", [most(0.25), *series(measured.median_gradient)]),
        ]
        return lines.content(charts)

    def recipe(self) -> str:
        """A script that leaves the experiment in `measured`."""
        return script(measure, **self._arguments)


def _gradient(number: float) -> str:
    return formats.weight(number) if number >= 0.001 else formats.tiny(number)


def _span(numbers: list[float]) -> str:
    low, high = (f"{number:.2f}" for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def _controls(model: ModelState) -> AttentionState:
    """What is drawn at random, and which layer of the model stands beside it."""
    line = controls_line.row("line_scale")
    controls_line.draw(AttentionState, PREFIX, model, line, "draws", "draw_keys", "draw_seed")
    return controls_line.draw_more(AttentionState, PREFIX, model, line, "kind", "layer")


VIEW = View(title="√dₖ", exercise="scores", shows=[Scale], reads_pass=True, controls=_controls)
