"""Why scores are divided by the root of d_k: the experiment in numbers and words, and the model beside it."""

import math
from dataclasses import dataclass

import pandas as pd
import torch

from tfm_core import ScaleExperiment, attention_scores, scale_experiment
from tfm_ui.lenses.attention import computed
from tfm_ui.lenses.attention.inside import Inside
from tfm_ui.lenses.attention.scale import recipe
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.places import kind_of
from tfm_ui.live.script import script
from tfm_ui.live.texts import tokens_of
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

WIDTHS = tuple(2**power for power in range(9))  # up to the widest head that the sidebar offers


@dataclass(frozen=True)
class ScaleEffect(Result):
    """The experiment beside one layer of the model.

    Attributes:
        measured: the experiment.
        seed: of the draws.
        head_dim: the model's d_k.
        heads: variance of q.k in each head of the layer; empty where there are not two pairs to vary.
        layer: from 1.
    """

    measured: ScaleExperiment
    seed: int
    head_dim: int
    heads: list[float]
    layer: int

    def sentence(self) -> str:
        """What was measured at the widest, and in the model."""
        measured, last = self.measured, self.measured.widths[-1]
        apart = max(abs(v / width - 1) for width, v in zip(measured.widths, measured.variance.tolist(), strict=True))
        off = formats.percent(apart)
        kept = {name: formats.percent((nats[-1] / nats[0]).item()) for name, nats in measured.entropy.items()}
        half = {name: _gradient(values[-1].item()) for name, values in measured.median_gradient.items()}
        return (
            f"At dₖ = {last} the variance of q·k is {measured.variance[-1]:.4g}, over all widths at most {off} away "
            f"from dₖ. Unscaled, the softmax then has {kept['unscaled']} of its entropy at dₖ = 1, and half of the "
            f"draws leave no gradient above {half['unscaled']}; divided by √dₖ, {kept['scaled']}, and "
            f"{half['scaled']}. {self.about_model}"
        )

    @property
    def about_model(self) -> str:
        """How the model's own scores spread."""
        if not self.heads:
            return "Your model sees one pair of tokens alone, and one score has no spread."
        before = [math.sqrt(variance) for variance in self.heads]
        after = [spread / math.sqrt(self.head_dim) for spread in before]
        return (
            f"In layer {self.layer} of your model, dₖ = {self.head_dim}, q·k has a standard deviation of "
            f"{_span(before)}, after the division {_span(after)}: a model need not follow the law."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of any draws."""
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

    def recipe(self) -> str:
        """A script that leaves the experiment in `measured`."""
        measured = self.measured
        return script(recipe.measure, widths=measured.widths, draws=measured.draws, keys=measured.keys, seed=self.seed)


def _gradient(number: float) -> str:
    return formats.weight(number) if number >= 0.001 else formats.tiny(number)


def _span(numbers: list[float]) -> str:
    low, high = (f"{number:.2f}" for number in (min(numbers), max(numbers)))
    return low if low == high else f"{low} to {high}"


def score_variances(inside: Inside, read: int) -> list[float]:
    """Variance of q.k in each head, over all pairs that may look at each other; [] if there are not two of them.

    Before the division, and without what a positional scheme adds to the scores.

    Args:
        inside: the attention.
        read: how many of its queries are tokens; the rest is padding.
    """
    visible = inside.visible[:read]
    if visible.sum() < 2:
        return []
    variances = []
    for head in range(len(inside.query)):
        part = slice(head, head + 1)  # a head at a time: of many tokens, all at once take much memory
        products = attention_scores(inside.query[part, :read], inside.key[part], scale=1.0)[0]
        variances.append(torch.var(products[visible].double(), correction=0).item())
    return variances


@cached()
def _model_variances(model: ModelState, kind: str, layer: int) -> list[float]:
    """The same of a layer, from 0, of the model."""
    queries, _ = tokens_of(model, kind)
    return score_variances(computed.inside(model, kind, layer), len(queries.pieces))


@cached(heavy=never, apart=32)
def _experiment(widths: tuple[int, ...], draws: int, keys: int, seed: int) -> ScaleExperiment:
    return scale_experiment(widths, draws=draws, keys=keys, seed=seed)


def effect_of_scaling(model: ModelState, state: AttentionState) -> ScaleEffect:
    """Run the experiment, at the model's own d_k too, and measure the model's scores."""
    head_dim = model.config.head_dim
    widths = tuple(sorted({*WIDTHS, head_dim}))
    heads = _model_variances(model, kind_of(model, state.kind), state.layer - 1)
    measured = _experiment(widths, state.draws, state.draw_keys, state.draw_seed)
    return ScaleEffect(measured, state.draw_seed, head_dim, heads, state.layer)
