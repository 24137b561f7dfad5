"""What the view "feed_forward" shows, without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core import ACTIVATIONS, FeedForward, Transformer, TransformerConfig, recording


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


def hidden_units(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str, read: int
) -> Mapping[str, Tensor]:
    """Activation -> the hidden units of one feed-forward network, (token, d_ff), in the model with that activation."""
    hidden = {}
    for name in ACTIVATIONS:
        model = Transformer(replace(config, activation=name)).eval()
        with torch.no_grad(), recording(f"{site}.hidden") as trace:
            model(*inputs, mask=mask)
        hidden[name] = trace[f"{site}.hidden"][0, :read]
    return hidden


def sizes(*, d_model: int, widths: Sequence[tuple[str, int]]) -> Sequence[tuple[int, int]]:
    """Parameters with biases and without (also the multiply-adds per token), for each (activation, d_ff)."""
    counts = []
    for activation, d_ff in widths:
        with torch.device("meta"):
            network = FeedForward(d_model, d_ff, activation=activation)
        every = sum(parameter.numel() for parameter in network.parameters())
        counts.append((every, sum(parameter.numel() for parameter in network.parameters() if parameter.dim() == 2)))
    return counts


def single_unit(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    site: str,
    read: int,
    unit: int,
    ids: Sequence[int],
) -> tuple[Tensor, Tensor]:
    """How far one hidden unit fires at each token, (token); and the cosine of what it writes with their embeddings."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(f"{site}.hidden") as trace:
        model(*inputs, mask=mask)
    fires = trace[f"{site}.hidden"][0, :read, unit]
    root = model if config.architecture == "encoder-decoder" else model.stack
    writes = root.get_parameter(f"{site}.output_projection.weight").detach()[:, unit]
    embedding = root.get_parameter(site.rpartition("layers.")[0] + "embedding.weight").detach()
    towards = torch.cosine_similarity(embedding[list(ids)], writes, dim=-1)
    return fires, towards
