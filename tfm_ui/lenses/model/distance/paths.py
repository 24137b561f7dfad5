"""Table 1 of Vaswani et al. 2017, and beside it what running the networks shows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pandas as pd

from tfm_core import TransformerConfig
from tfm_ui.jobs.networks import RECURRENT
from tfm_ui.lenses.model.distance import recipe
from tfm_ui.lenses.model.distance.numbers import Reach, reach
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

# network -> maximum path length, and sequential operations of a layer; the transformer's path depends on its attention
TABLE_1 = {
    "transformer": ("", "O(1)"),
    "convolution": ("O(n/k)", "O(1)"),
    "dilated convolution": ("O(log_k(n))", "O(1)"),
    **dict.fromkeys(RECURRENT, ("O(n)", "O(n)")),
}
OF_ATTENTION = {"full": "O(1)", "fused": "O(1)", "linear": "O(1)", "window": "O(n/r)"}
NEAR = 1e-12  # rounding in float64


@cached(apart=64)
def measured(
    config: TransformerConfig, tokens: int, kernel: int, *, causal: bool
) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int], float]:
    """Paths, how far the layers see, calls of each layer, and the largest error of the recurrences; see the recipe."""
    return recipe.paths(config=config, tokens=tokens, kernel=kernel, causal=causal)


@dataclass(frozen=True)
class Paths(Result):
    """What the table shows.

    Attributes:
        shown: the main picture's result.
        path: network -> layers, or in a recurrent network steps, from the first token to the last output.
        sight: network -> the largest distance that as many layers as configured see.
        calls: network -> how often a layer is called, one call after the other.
        error: of a recurrent network that gets one token at a time.
    """

    shown: Reach
    path: Mapping[str, int]
    sight: Mapping[str, int]
    calls: Mapping[str, int]
    error: float

    def of_attention(self) -> str:
        """What the table says of the transformer's path; attention across to an encoder is full in every kind."""
        config = self.shown.config
        return "O(1)" if config.architecture == "encoder-decoder" else OF_ATTENTION.get(config.attention, "not in it")

    def sentence(self) -> str:
        """How long the paths are, and where the configured layers are too few."""
        layers, tokens, kernel = self.shown.config.num_layers, self.shown.tokens, self.shown.state.reach_kernel
        blind = [name for name in ("transformer", "convolution") if self.sight[name] < tokens - 1]
        too_few = [
            f"{formats.plural(layers, 'layer').capitalize()} of {name} "
            f"{'see' if layers > 1 else 'sees'} {formats.plural(self.sight[name], 'token')} back."
            for name in blind
        ]
        dilated = formats.plural(self.path["dilated convolution"], "layer")
        return " ".join(
            [
                f"From the first of {tokens} tokens to the last output it takes "
                f"{formats.plural(self.path['transformer'], 'layer')} of the transformer, "
                f"{formats.plural(self.path['convolution'], 'layer')} of convolution over {kernel} tokens, {dilated} "
                f"of dilated convolution, and {self.path['RNN']} steps in an RNN, LSTM or GRU, which must come one "
                f"after the other. Dilated: it looks back only, in each layer {kernel} times as far as in the one "
                "before.",
                *too_few,
                "This follows from how the networks are built, and training cannot change it.",
            ]
        )

    def table(self) -> pd.DataFrame:
        """A row per network."""
        counts = self.shown.parameters
        rows = {
            name: {
                "path (paper)": path or self.of_attention(),
                "path measured": formats.plural(self.path[name], "step" if name in RECURRENT else "layer"),
                "successive calls (paper)": in_a_row,
                "successive calls, measured": formats.count(self.calls.get(name, 1)),
                "sees back": self.sight[name],
                "parameters": formats.count(counts[name]) if name in counts else "not in the chart",
            }
            for name, (path, in_a_row) in TABLE_1.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("network")

    def laws(self) -> dict[str, bool]:
        """Whether the paths agree with closed forms, and each recurrence with itself token by token."""
        last, kernel = self.shown.tokens - 1, self.shown.state.reach_kernel
        spread = next(layers for layers in range(1, 9) if kernel**layers > last)
        return {
            f"given one token at a time with the state before it, each recurrent network puts out the same (largest "
            f"error {formats.tiny(self.error)})": self.error < NEAR,
            "convolution needs (n − 1) / ((k − 1) / 2) layers, rounded up": self.path["convolution"]
            == math.ceil(last / (kernel // 2)),
            "dilated, it needs log_k(n) layers, rounded up": self.path["dilated convolution"] == spread,
        }

    def recipe(self) -> str:
        """A script that leaves `path`, `sight` and `calls` by network, and `error`."""
        return script(
            recipe.paths,
            config=config_code(of_no_seed(self.shown)),
            tokens=self.shown.tokens,
            kernel=self.shown.state.reach_kernel,
            causal=self.shown.causal,
        )


def of_no_seed(shown: Reach) -> TransformerConfig:
    """The first of all weights: no path depends on them, so a change of the seed computes nothing anew."""
    return replace(shown.config, seed=0)


def paths(model: ModelState, state: ModelLensState) -> Paths:
    """The paths of the networks in the main picture."""
    shown = reach(model, state)
    return Paths(shown, *measured(of_no_seed(shown), shown.tokens, state.reach_kernel, causal=shown.causal))
