"""What the view "depth" shows, without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core import (
    DepthSignal,
    Transformer,
    TransformerConfig,
    TransformerLayer,
    causal_mask,
    parameter_gradients,
    recording,
    signals_by_depth,
)


def wired(
    *, config: TransformerConfig, ids: Sequence[int], causal: bool
) -> tuple[Mapping[str, DepthSignal], Mapping[str, Tensor]]:
    """Wiring -> lengths, gradients and similarities by layer, in float64, of one stack with the same weights; and, of
    the two wirings that models have, wiring -> the length of the gradient of each layer's last matrix.
    """
    stack = Transformer(config).eval().stack
    layers = [layer for layer in stack.layers if isinstance(layer, TransformerLayer)]
    positional = stack.positional.double()
    stack.embedding.double()
    x = stack.place(stack.embed(torch.tensor([ids]))).detach()
    mask = causal_mask(x.shape[1]) if causal else None
    signals = signals_by_depth(layers, x, mask=mask, positional=positional)
    norms = ["pre-norm", "post-norm"]
    of_parameters = parameter_gradients(layers, x, norms, mask=mask, positional=positional)
    return signals, of_parameters


def stream(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    sub_layers: Sequence[str],
    read: Sequence[int],
) -> Mapping[str, Mapping[str, Tensor]]:
    """Sub-layer -> the residual stream "before" and "after" it and what it "adds", (token, d_model)."""
    sites = {"before": "residual_before", "adds": "output", "after": "residual_after"}
    wanted = [f"{name}.{site}" for name in sub_layers for site in sites.values()]
    with torch.no_grad(), recording(wanted) as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    stream = {
        name: {what: trace[f"{name}.{site}"][0, list(read)] for what, site in sites.items()} for name in sub_layers
    }
    return stream


def dropped(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    read: int,
    rate: float,
    draws: int,
    sites: str,
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Site -> weights, when the first tokens alone are read: in evaluation mode, (head, query, key), and in training
    mode, with a first axis for the draws, each from its own seed.
    """
    inputs = [text[:, :read] for text in inputs]
    mask = None if mask is None else mask[:read, :read]
    model = Transformer(replace(config, dropout=rate)).eval()
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    calm = {site: weights[0] for site, weights in trace.items()}
    each: dict[str, list[Tensor]] = {site: [] for site in calm}
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model.train()
        for draw in range(draws):
            torch.default_generator.manual_seed(draw)  # of the processor alone, which is quick
            with recording(sites) as trace:
                model(*inputs, mask=mask)
            for site, weights in trace.items():
                each[site].append(weights[0])
    trained = {site: torch.stack(weights) for site, weights in each.items()}
    return calm, trained
