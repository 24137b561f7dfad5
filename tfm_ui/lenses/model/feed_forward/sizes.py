"""Parameters and cost of the feed-forward network at equal width and at equal parameter count."""

from dataclasses import dataclass

import pandas as pd

from tfm_core import ACTIVATIONS
from tfm_ui.lenses.model.feed_forward import recipe
from tfm_ui.lenses.model.state import FFN_SIZES, ModelLensState
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats


@dataclass(frozen=True)
class Sizes(Result):
    """Networks of one d_model, counted on the real modules.

    Attributes:
        d_model, d_ff: the sizes.
        widths: (activation, width) of each network.
        counts: for each of them its parameters with biases, and without.
    """

    d_model: int
    d_ff: int
    widths: tuple[tuple[str, int], ...]
    counts: tuple[tuple[int, int], ...]

    def count(self, activation: str, width: int) -> tuple[int, int]:
        """The parameters of one of the networks, with biases and without."""
        return self.counts[self.widths.index((activation, width))]

    def sentence(self) -> str:
        """SwiGLU beside ReLU, at both widths."""
        relu, wide = self.count("relu", self.d_ff), self.count("swiglu", self.d_ff)
        narrow = two_thirds(self.d_ff)
        third = self.count("swiglu", narrow)
        return (
            f"With d_model {formats.count(self.d_model)} and d_ff {formats.count(self.d_ff)}, two matrices and their "
            f"biases have {formats.count(relu[0])} parameters. SwiGLU has a third matrix, its gate: "
            f"{formats.count(wide[0])} with biases, {formats.count(wide[1])} without. At two thirds of the width, "
            f"{formats.count(narrow)}, it has {formats.count(third[1])} without biases, "
            f"{formats.percent(third[1] / relu[1], 4)} of the two matrices (Shazeer 2020, section 2)."
        )

    def laws(self) -> dict[str, bool]:
        """The counts are those of the formulas."""
        ok = True
        for (activation, width), (every, matrices) in zip(self.widths, self.counts, strict=True):
            many = 3 if ACTIVATIONS[activation].gated else 2
            ok &= matrices == many * self.d_model * width and every == matrices + (many - 1) * width + self.d_model
        return {"two matrices d d_ff, or three with a gate, and a bias for each of their outputs": ok}

    def table(self) -> pd.DataFrame:
        """A row per network."""
        return pd.DataFrame(
            {
                "width": [width for _, width in self.widths],
                "compared at": ["equal width" if width == self.d_ff else "equal count" for _, width in self.widths],
                "parameters": [every for every, _ in self.counts],
                "without biases": [matrices for _, matrices in self.counts],
                "multiply-adds per token": [matrices for _, matrices in self.counts],
            },
            index=pd.Index([activation for activation, _ in self.widths], name="activation"),
        )

    def recipe(self) -> str:
        """A script that leaves `counts`."""
        return script(recipe.sizes, d_model=self.d_model, widths=list(self.widths))


def two_thirds(d_ff: int) -> int:
    """The width at which three matrices have as many parameters as two of width d_ff."""
    return max(1, round(2 * d_ff / 3))


def sizes(model: ModelState, state: ModelLensState) -> Sizes:
    """The sizes at the widths of the sidebar's model, or of the published size."""
    d_model, d_ff = (512, 2048) if state.ffn_size == FFN_SIZES[1] else (model.d_model, model.config.feed_forward_dim)
    widths = [(name, d_ff) for name in ACTIVATIONS]
    widths += [(name, two_thirds(d_ff)) for name, entry in ACTIVATIONS.items() if entry.gated and d_ff > 1]
    return Sizes(d_model, d_ff, tuple(widths), tuple(recipe.sizes(d_model=d_model, widths=widths)))
