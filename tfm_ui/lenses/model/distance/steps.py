"""How many layers or steps lie between two tokens, found by running networks; with tfm_core alone, for scripts too.

The networks here are narrow: what a token can reach depends on no width.
"""

from bisect import bisect_left
from collections import Counter
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core import TransformerConfig, gradient_by_distance
from tfm_core.model.initialization import draw
from tfm_core.model.layer import TransformerLayer
from tfm_core.profiling.targets_others import Recurrence
from tfm_ui.jobs.networks import network_of, reading


def small_of(config: TransformerConfig) -> TransformerConfig:
    """The same kind of transformer, narrow."""
    return replace(config, d_model=8, num_heads=2, d_ff=8)


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


def reach_of_convolutions(tokens: int, layers: int, kernel: int, *, dilated: bool) -> int:
    """The largest distance at which their gradient is not 0."""
    x = draw(0, "x", (1, tokens, 4), std=1.0).double()
    lengths = gradient_by_distance(lambda x: convolved(x, layers, kernel, dilated=dilated), x)[0]
    return int(lengths.nonzero().max())


def reach_of_attention(config: TransformerConfig, tokens: int, layers: int, *, causal: bool) -> int:
    """The largest distance at which the gradient of `layers` layers of this transformer is not 0."""
    network = network_of("transformer", replace(small_of(config), num_layers=layers), 3, causal=causal)
    x = draw(0, "x", (1, tokens, 8), std=1.0).double()
    lengths = gradient_by_distance(reading(network, causal=causal), x)[0]
    return int(lengths.nonzero().max())


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
    furthest = int(gradient_by_distance(network, x)[0].nonzero().max())
    return len(outputs), error, furthest
