"""The activations as functions, with their derivatives, and where the live model's numbers fall."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd
import torch
from torch import Tensor

from tfm_core import ACTIVATIONS
from tfm_ui.lenses.model.feed_forward import recipe
from tfm_ui.lenses.model.feed_forward.hidden import CALLED, Hidden
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

LOW, HIGH, POINTS = -4.0, 4.0, 161
STEP = 1e-5  # of the differences that the derivatives are compared with


@dataclass(frozen=True)
class Curves(Result):
    """Each activation over the same numbers.

    Attributes:
        hidden: the hidden units of the live model under each activation.
        x: (points), where.
        values, slopes: activation -> (points).
    """

    hidden: Hidden
    x: Tensor
    values: dict[str, Tensor]
    slopes: dict[str, Tensor]

    @cached_property
    def middle(self) -> tuple[float, float]:
        """The bounds of the middle 90% of the numbers that the model's activation reads."""
        low, high = torch.quantile(self.hidden.pre[self.hidden.activation].double().flatten()[:100_000], _ENDS)
        return float(low), float(high)

    @cached_property
    def negative(self) -> float:
        """The share of these numbers that are negative."""
        return float((self.hidden.pre[self.hidden.activation] < 0).double().mean())

    def sentence(self) -> str:
        """What the model's activation does to the numbers that it reads."""
        name, (low, high) = self.hidden.activation, self.middle
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
        columns = {f"{name}": values.numpy() for name, values in self.values.items()}
        slopes = {f"derivative of {name}": values.numpy() for name, values in self.slopes.items()}
        return pd.DataFrame(columns | slopes, index=pd.Index(self.x.numpy(), name="x"))

    def recipe(self) -> str:
        """A script that leaves `x`, `values` and `slopes`."""
        return script(recipe.curves, low=LOW, high=HIGH, points=POINTS)


_ENDS = torch.tensor([0.05, 0.95], dtype=torch.float64)


def curves(hidden: Hidden) -> Curves:
    """All activations, beside the numbers of this layer."""
    x, values, slopes = recipe.curves(low=LOW, high=HIGH, points=POINTS)
    return Curves(hidden, x, dict(values), dict(slopes))
