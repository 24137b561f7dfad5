"""The activations as functions, with their derivatives; and the size and cost of a network with each."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import pandas as pd
import torch
from streamlit.column_config import NumberColumn, TextColumn
from torch import Tensor

from tfm_core import ACTIVATIONS, FeedForward
from tfm_ui.lenses.model.feed_forward.hidden import FeedForwardPanel
from tfm_ui.lenses.model.machine import ModelPanel
from tfm_ui.lenses.model.state import FFN_SIZES
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import OpenTable
from tfm_ui.text import formats
from tfm_ui.text.activation_names import CALLED

LOW, HIGH, POINTS = -4.0, 4.0, 161
STEP = 1e-5  # of the differences that the derivatives are compared with
OUTSIDE_LAYERS = torch.tensor([0.05, 0.95], dtype=torch.float64)  # of the middle 90%
LOCALIZED = NumberColumn(format="localized")


def curves(*, low: float, high: float, points: int) -> tuple[Tensor, Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Where the activations are evaluated, (points); activation -> its values there, and its derivatives."""
    x = torch.linspace(low, high, points, dtype=torch.float64)
    values, slopes = {}, {}
    for name, activation in ACTIVATIONS.items():
        z = x.clone().requires_grad_()
        y = activation.function(z)
        (slopes[name],) = torch.autograd.grad(y.sum(), z)
        values[name] = y.detach()
    return x, values, slopes


def sizes(*, d_model: int, widths: Sequence[tuple[str, int]]) -> Sequence[tuple[int, int]]:
    """Parameters with biases and without (also the multiply-adds per token), for each (activation, d_ff)."""
    counts = []
    for activation, d_ff in widths:
        with torch.device("meta"):
            network = FeedForward(d_model, d_ff, activation=activation)
        every = sum(parameter.numel() for parameter in network.parameters())
        counts.append((every, sum(parameter.numel() for parameter in network.parameters() if parameter.dim() == 2)))
    return counts


def two_thirds(d_ff: int) -> int:
    """The width at which three matrices have as many parameters as two of width d_ff."""
    return max(1, round(2 * d_ff / 3))


class Activations(FeedForwardPanel):
    """Each activation over the same numbers, and where those fall that the live model's reads."""

    title = "The activations and their derivatives"
    sources = (curves, FeedForward.forward)
    canvas = CHART

    @cached_property
    def _curves(self) -> tuple[Tensor, Mapping[str, Tensor], Mapping[str, Tensor]]:
        return curves(low=LOW, high=HIGH, points=POINTS)

    @property
    def x(self) -> Tensor:
        """Where the activations are evaluated, (points)."""
        return self._curves[0]

    @property
    def values(self) -> Mapping[str, Tensor]:
        """Activation -> its values, (points)."""
        return self._curves[1]

    @property
    def slopes(self) -> Mapping[str, Tensor]:
        """Activation -> its derivatives, (points)."""
        return self._curves[2]

    @cached_property
    def reads(self) -> Tensor:
        """The numbers that the model's activation reads, (token, d_ff)."""
        return self.read_under(self.config.activation)

    @cached_property
    def middle(self) -> tuple[float, float]:
        """The bounds of the middle 90% of these numbers."""
        low, high = torch.quantile(self.reads.double().flatten()[:100_000], OUTSIDE_LAYERS)
        return float(low), float(high)

    @cached_property
    def negative(self) -> float:
        """The share of these numbers that are negative."""
        return float((self.reads < 0).double().mean())

    @property
    def how_to_read(self) -> str:
        return (
            f"Shaded: the middle 90% of what {CALLED[self.config.activation]} reads in {self.where} of the live model. "
            "SwiGLU is SiLU of a gate, times a second projection. GELU: x Φ(x), Hendrycks and Gimpel 2016."
        )

    def sentence(self) -> str:
        """What the model's activation does to the numbers that it reads."""
        name, (low, high) = self.config.activation, self.middle
        gate = ", of its gate," if ACTIVATIONS[name].gated else ""
        least = {name: float(values.min()) for name, values in self.values.items()}
        return (
            f"{formats.percent(self.negative)} of the numbers that the model’s {CALLED[name]}{gate} reads in this "
            f"layer are negative; the middle 90% lie between {formats.number(low)} and {formats.number(high)}. ReLU "
            f"makes every negative number 0, with a derivative of 0; GELU goes down to "
            f"{formats.number(least['gelu'])} and SiLU to {formats.number(least['silu'])}, and their derivatives have "
            "no jump."
        )

    def laws(self) -> dict[str, bool]:
        """The derivatives are those of the curves, but at ReLU's corner."""
        worst = 0.0
        smooth = self.x.abs() > STEP  # at 0 ReLU has a corner, and no derivative
        for name, slopes in self.slopes.items():
            function = ACTIVATIONS[name].function
            quotient = (function(self.x + STEP) - function(self.x - STEP)) / (2 * STEP)
            worst = max(worst, float((quotient - slopes)[smooth].abs().max()))
        law = f"each derivative is its curve’s slope, by small differences (largest error {formats.tiny(worst)})"
        return {
            law: worst < 1e-8,
            "SwiGLU’s gate is SiLU": torch.equal(self.values["swiglu"], self.values["silu"]),
        }

    def table(self) -> pd.DataFrame:
        """A row per point."""
        columns = {name: values.numpy() for name, values in self.values.items()}
        slopes = {f"derivative of {name}": values.numpy() for name, values in self.slopes.items()}
        return pd.DataFrame(columns | slopes, index=pd.Index(self.x.numpy(), name="x"))

    def picture(self) -> Content:
        """Each activation and its derivative; a gated one is drawn once, with the function that it shares."""
        plain = [name for name, entry in ACTIVATIONS.items() if not entry.gated]
        charts = [
            Chart(
                "what the activation reads",
                heading,
                [Line(name, self.x.tolist(), values[name].tolist(), f"head {at}") for at, name in enumerate(plain, 1)],
                ranges={"90% here": self.middle},
            )
            for heading, values in (("activation", self.values), ("derivative", self.slopes))
        ]
        return lines.content(charts)

    def recipe(self) -> str:
        """A script that leaves `x`, `values` and `slopes`."""
        return script(curves, low=LOW, high=HIGH, points=POINTS)


class FfnSizes(ModelPanel):
    """Parameters and cost of the network at equal width and at equal parameter count, counted on the real modules."""

    title = "Parameters and cost"
    how_to_read = "Counted on the modules themselves. Multiply-adds are those of matrix products."
    sources = (sizes, FeedForward.__init__)
    open_table = OpenTable(
        {
            "width": LOCALIZED,
            "compared at": TextColumn(),
            "parameters": LOCALIZED,
            "without biases": LOCALIZED,
            "multiply-adds per token": LOCALIZED,
        },
        not_on_phones=("compared at", "without biases"),
    )

    @cached_property
    def size(self) -> tuple[int, int]:
        """d_model and d_ff of the sidebar's model, or the published ones."""
        model = self.model
        return (512, 2048) if self.state.ffn_size == FFN_SIZES[1] else (model.d_model, model.config.feed_forward_dim)

    @cached_property
    def widths(self) -> list[tuple[str, int]]:
        """(activation, width) of each network."""
        d_ff = self.size[1]
        narrow = [(name, two_thirds(d_ff)) for name, entry in ACTIVATIONS.items() if entry.gated and d_ff > 1]
        return [*((name, d_ff) for name in ACTIVATIONS), *narrow]

    @cached_property
    def counts(self) -> Sequence[tuple[int, int]]:
        """The parameters of each network, with biases and without."""
        return sizes(d_model=self.size[0], widths=self.widths)

    def count(self, activation: str, width: int) -> tuple[int, int]:
        """The parameters of one of the networks, with biases and without."""
        return self.counts[self.widths.index((activation, width))]

    @property
    def shape(self) -> str:
        d_model, d_ff = self.size
        return f"d_model × d_ff = {formats.count(d_model)} × {formats.count(d_ff)}"

    def sentence(self) -> str:
        """SwiGLU beside ReLU, at both widths."""
        d_model, d_ff = self.size
        relu, wide = self.count("relu", d_ff), self.count("swiglu", d_ff)
        narrow = two_thirds(d_ff)
        third = self.count("swiglu", narrow)
        return (
            f"With d_model {formats.count(d_model)} and d_ff {formats.count(d_ff)}, two matrices and their "
            f"biases have {formats.count(relu[0])} parameters. SwiGLU has a third matrix, its gate: "
            f"{formats.count(wide[0])} with biases, {formats.count(wide[1])} without. At two thirds of the width, "
            f"{formats.count(narrow)}, it has {formats.count(third[1])} without biases, "
            f"{formats.percent(third[1] / relu[1], 4)} of the two matrices (Shazeer 2020, section 2)."
        )

    def laws(self) -> dict[str, bool]:
        """The counts are those of the formulas."""
        ok, d_model = True, self.size[0]
        for (activation, width), (every, matrices) in zip(self.widths, self.counts, strict=True):
            many = 3 if ACTIVATIONS[activation].gated else 2
            ok &= matrices == many * d_model * width and every == matrices + (many - 1) * width + d_model
        return {"two matrices d d_ff, or three with a gate, and a bias for each of their outputs": ok}

    def table(self) -> pd.DataFrame:
        """A row per network."""
        equal_width = [width == self.size[1] for _, width in self.widths]
        return pd.DataFrame(
            {
                "width": [width for _, width in self.widths],
                "compared at": ["equal width" if equal else "equal count" for equal in equal_width],
                "parameters": [every for every, _ in self.counts],
                "without biases": [matrices for _, matrices in self.counts],
                "multiply-adds per token": [matrices for _, matrices in self.counts],
            },
            index=pd.Index([activation for activation, _ in self.widths], name="activation"),
        )

    def recipe(self) -> str:
        """A script that leaves `counts`."""
        return script(sizes, d_model=self.size[0], widths=self.widths)
