"""Table 1 of Vaswani et al. 2017, and beside it what running the networks shows.

How many layers or steps lie between two tokens is found by running narrow networks: what a token can reach depends on
no width.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pandas as pd
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core import TransformerConfig, gradient_by_distance
from tfm_core.model.initialization import draw
from tfm_core.model.layer import TransformerLayer
from tfm_core.profiling.targets_others import Recurrence
from tfm_ui.jobs.networks import RECURRENT, network_of, reading
from tfm_ui.lenses.model.distance.reach import FiveNetworks
from tfm_ui.live.cache import cached
from tfm_ui.live.script import config_code, script
from tfm_ui.pictures.panel import OpenTable
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


def small_of(config: TransformerConfig) -> TransformerConfig:
    """The same kind of transformer, narrow."""
    return replace(config, d_model=8, num_heads=2, num_kv_heads=min(1, config.num_kv_heads), d_ff=8)


def convolved(x: Tensor, layers: int, kernel: int, *, dilated: bool) -> Tensor:
    """Convolutions, GELU after each, as in the chart: (batch, seq, channel) in and out.

    Dilated, they look back only, and what a layer takes lies kernel times as far apart as in the one before it: 1, k,
    k^2, ... tokens. From the length of the text on, all but the token itself is padding, however far apart.
    """
    x = x.mT
    for layer in range(layers):
        weight = draw(layer, "convolution", (x.shape[1], x.shape[1], kernel), std=(kernel * x.shape[1]) ** -0.5).to(x)
        apart = min(kernel**layer, x.shape[-1]) if dilated else 1
        before, after = (apart * (kernel - 1), 0) if dilated else (kernel // 2, kernel // 2)
        x = F.gelu(F.conv1d(F.pad(x, (before, after)), weight, dilation=apart))
    return x.mT


def reach_of(network: Callable[[Tensor], Tensor], tokens: int, width: int) -> int:
    """The largest distance at which the gradient of a network of this width is not 0."""
    x = draw(0, "x", (1, tokens, width), std=1.0).double()
    return int(gradient_by_distance(network, x)[0].nonzero().max())


def reach_of_convolutions(tokens: int, layers: int, kernel: int, *, dilated: bool) -> int:
    """The largest distance at which their gradient is not 0."""
    return reach_of(lambda x: convolved(x, layers, kernel, dilated=dilated), tokens, width=4)


def reach_of_attention(config: TransformerConfig, tokens: int, layers: int, *, causal: bool) -> int:
    """The largest distance at which the gradient of `layers` layers of this transformer is not 0."""
    network = network_of("transformer", replace(small_of(config), num_layers=layers), 3, causal=causal)
    return reach_of(reading(network, causal=causal), tokens, width=8)


def reach_after(name: str, config: TransformerConfig, tokens: int, kernel: int, layers: int, *, causal: bool) -> int:
    """The largest distance that `layers` layers of one of the networks without a state see."""
    if name == "transformer":
        return reach_of_attention(config, tokens, layers, causal=causal)
    return reach_of_convolutions(tokens, layers, kernel, dilated=name == "dilated convolution")


def layers_to_first(name: str, config: TransformerConfig, tokens: int, kernel: int, *, causal: bool) -> int:
    """The smallest number of layers that reach the first token; each layer reaches a token further at least."""

    def reaches(layers: int) -> bool:
        return reach_after(name, config, tokens, kernel, layers, causal=causal) == tokens - 1

    enough = 1
    while enough < tokens and not reaches(enough):
        enough *= 2
    return bisect_left(range(enough), True, lo=enough // 2 + 1, key=reaches) if enough > 1 else 1


def calls_of_each_layer(config: TransformerConfig, tokens: int, kernel: int, *, causal: bool) -> dict[str, int]:
    """Network -> how often each layer was called in one pass over all tokens."""
    calls = {}
    for name, kind in {"transformer": TransformerLayer, "convolution": nn.Conv1d}.items():
        network = network_of(name, config, kernel, causal=causal)
        called: list[nn.Module] = []
        for module in network.modules():
            if isinstance(module, kind):
                module.register_forward_pre_hook(lambda module, _, called=called: called.append(module))
        with torch.no_grad():
            reading(network, causal=causal)(draw(0, "x", (1, tokens, config.d_model), std=1.0).double())
        calls[name] = max(Counter(called).values())
    return calls


def steps_of_recurrence(name: str, config: TransformerConfig, tokens: int) -> tuple[int, float, int]:
    """Calls that each get one token and the state before it; the largest error; how far the gradient reaches.

    The error is the difference from the output of one call with all tokens. If it is 0 but for rounding, nothing goes
    around the state: whatever the last output knows of the first token has passed through every call.
    """
    network = network_of(name, config, 3, causal=True)
    assert isinstance(network, Recurrence)
    x = draw(0, "x", (1, tokens, config.d_model), std=1.0).double()
    outputs, state = [], None
    with torch.no_grad():
        for token in range(tokens):
            output, state = network.recurrence(x[:, token : token + 1], state)
            outputs.append(output)
        error = float((torch.cat(outputs, dim=1) - network.recurrence(x)[0]).abs().max())
    return len(outputs), error, reach_of(network, tokens, config.d_model)


def paths(
    *, config: TransformerConfig, tokens: int, kernel: int, causal: bool
) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int], float]:
    """Layers or steps to the first token; how far the layers see; calls of a layer; the recurrences' largest error."""
    path, sight = {}, {}
    for name in ("transformer", "convolution", "dilated convolution"):
        path[name] = layers_to_first(name, config, tokens, kernel, causal=causal)
        sight[name] = reach_after(name, config, tokens, kernel, config.num_layers, causal=causal)
    calls = calls_of_each_layer(small_of(config), tokens, kernel, causal=causal)
    steps = {name: steps_of_recurrence(name, small_of(config), tokens) for name in ("LSTM", "GRU", "RNN")}
    path |= {name: count for name, (count, _, _) in steps.items()}
    calls |= {name: count for name, (count, _, _) in steps.items()}
    sight |= {name: far for name, (_, _, far) in steps.items()}
    error = max(error for _, error, _ in steps.values())
    return path, sight, calls, error


measured = cached(always_kept=64)(paths)


class DistancePaths(FiveNetworks):
    """The paths of the networks in the main picture."""

    title = "How long the path is"
    how_to_read = (
        "Paper: Vaswani et al. 2017, table 1, for n tokens and kernels of k. Path: layers, or in recurrent "
        "networks steps, from the first token to the last output. In a row: calls of a layer that wait for each other."
    )
    sources = (
        paths,
        layers_to_first,
        reach_of,
        reach_of_attention,
        reach_of_convolutions,
        convolved,
        calls_of_each_layer,
        steps_of_recurrence,
    )
    open_table = OpenTable({}, not_on_phones=("path (paper)", "in a row (paper)", "parameters"))

    @property
    def of_no_seed(self) -> TransformerConfig:
        """The first of all weights: no path depends on them, so a change of the seed computes nothing anew."""
        return replace(self.config, seed=0)

    @property
    def measured(self) -> tuple[Mapping[str, int], Mapping[str, int], Mapping[str, int], float]:
        """What `paths` measures."""
        kernel = self.state.reach_kernel
        return measured(config=self.of_no_seed, tokens=self.tokens, kernel=kernel, causal=self.causal)

    def of_attention(self) -> str:
        """What the table says of the transformer's path; attention across to an encoder is full in every kind."""
        across = self.config.architecture == "encoder-decoder"
        return "O(1)" if across else OF_ATTENTION.get(self.config.attention, "not in it")

    def sentence(self) -> str:
        """How long the paths are, and where the configured layers are too few."""
        path, sight, _, _ = self.measured
        layers, tokens, kernel = self.config.num_layers, self.tokens, self.state.reach_kernel
        blind = [name for name in ("transformer", "convolution") if sight[name] < tokens - 1]
        too_few = [
            f"{formats.plural(layers, 'layer').capitalize()} of {name} "
            f"{'see' if layers > 1 else 'sees'} {formats.plural(sight[name], 'token')} back."
            for name in blind
        ]
        dilated = formats.plural(path["dilated convolution"], "layer")
        return " ".join(
            [
                f"From the first of {tokens} tokens to the last output it takes "
                f"{formats.plural(path['transformer'], 'layer')} of the transformer, "
                f"{formats.plural(path['convolution'], 'layer')} of convolution over {kernel} tokens, {dilated} "
                f"of dilated convolution, and {path['RNN']} steps in an RNN, LSTM or GRU, which must come one "
                f"after the other. Dilated: it looks back only, in each layer {kernel} times as far as in the one "
                "before.",
                *too_few,
                "This follows from how the networks are built, and training cannot change it.",
            ]
        )

    def table(self) -> pd.DataFrame:
        """A row per network."""
        measured, sight, calls, _ = self.measured
        counts = self.parameters
        rows = {
            name: {
                "path (paper)": path or self.of_attention(),
                "path measured": formats.plural(measured[name], "step" if name in RECURRENT else "layer"),
                "successive calls (paper)": in_a_row,
                "successive calls, measured": formats.count(calls.get(name, 1)),
                "sees back": sight[name],
                "parameters": formats.count(counts[name]) if name in counts else "not in the chart",
            }
            for name, (path, in_a_row) in TABLE_1.items()
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("network")

    def laws(self) -> dict[str, bool]:
        """Whether the paths agree with closed forms, and each recurrence with itself token by token."""
        path, _, _, error = self.measured
        last, kernel = self.tokens - 1, self.state.reach_kernel
        spread = next(layers for layers in range(1, 9) if kernel**layers > last)
        return {
            f"given one token at a time with the state before it, each recurrent network puts out the same (largest "
            f"error {formats.tiny(error)})": error < NEAR,
            "convolution needs (n − 1) / ((k − 1) / 2) layers, rounded up": path["convolution"]
            == math.ceil(last / (kernel // 2)),
            "dilated, it needs log_k(n) layers, rounded up": path["dilated convolution"] == spread,
        }

    def recipe(self) -> str:
        """A script that leaves `path`, `sight` and `calls` by network, and `error`."""
        return script(
            paths,
            config=config_code(self.of_no_seed),
            tokens=self.tokens,
            kernel=self.state.reach_kernel,
            causal=self.causal,
        )
