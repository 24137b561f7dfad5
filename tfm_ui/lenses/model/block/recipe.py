"""What the view "block" shows, without the app."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from tfm_core import Transformer, TransformerConfig, recording


def run(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, block: str, whats: Sequence[str]
) -> tuple[list[Tensor], nn.Module]:
    """What a pass records in a block, without the batch axis; and the module below which the block lies."""
    model = Transformer(config).eval()
    sites = [f"{block}.{what}" for what in whats]
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    modules = model if config.architecture == "encoder-decoder" else model.get_submodule("stack")
    return [trace[site][0] for site in sites], modules


def layer_norm(x: Tensor, modules: nn.Module, name: str) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mean, variance, normalised numbers and result of a layer norm: Ba et al. 2016, equations 3 and 4."""
    norm = modules.get_submodule(name)
    assert isinstance(norm, nn.LayerNorm)
    mean = x.mean(-1, keepdim=True)
    variance = x.var(-1, correction=0, keepdim=True)
    normalised = (x - mean) / torch.sqrt(variance + norm.eps)
    return mean, variance, normalised, (normalised * norm.weight + norm.bias).detach()


def steps(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, ...]:
    """All steps of a block, (token, dimension); mean and variance (token, 1)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    torch.manual_seed(draw)
    dropped = nn.functional.dropout(output, dropout)
    total = x + dropped
    into_norm = x if config.norm == "pre" else total
    mean, variance, normalised, normed = layer_norm(into_norm, modules, f"{block}_norm")
    return x, output, dropped, total, mean, variance, normalised, normed


def moments(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
) -> tuple[Tensor, Tensor]:
    """The mean and the variance of each token before and after the norm, (token, 2)."""
    (x, output), modules = run(config, inputs, mask, block, ("residual_before", "output"))
    torch.manual_seed(draw)
    into_norm = x if config.norm == "pre" else x + nn.functional.dropout(output, dropout)
    mean, variance, _, normed = layer_norm(into_norm, modules, f"{block}_norm")
    before = torch.cat([mean, variance], -1)
    after = torch.stack([normed.mean(-1), normed.var(-1, correction=0)], -1)
    return before, after


def cell(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    block: str,
    dropout: float,
    draw: int,
    inner: str,
    token: int,
    dim: int,
) -> tuple[Tensor, ...]:
    """One dimension of one token through the block, in float64."""
    (x, output, read), modules = run(config, inputs, mask, block, ("residual_before", "output", inner))
    read = read.transpose(0, 1).flatten(1) if read.dim() == 3 else read  # all heads of a token side by side
    last = modules.get_submodule(f"{block}.output_projection")
    assert isinstance(last, nn.Linear)
    products = (last.weight[dim].double() * read[token].double()).detach()
    written = products.sum() + last.bias[dim].item()
    torch.manual_seed(draw)
    factor = nn.functional.dropout(torch.ones_like(output), dropout)[token, dim].item()
    total = x[token, dim].item() + factor * written
    return products, written, total


def both_norms(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, block: str
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
    """The block in evaluation mode under both norms, the weights the same: norm -> (token, dimension)."""
    x, total, out = {}, {}, {}
    for norm in ("pre", "post"):
        recorded, _ = run(
            replace(config, norm=norm), inputs, mask, block, ("residual_before", "output", "residual_after")
        )
        x[norm], out[norm] = recorded[0], recorded[2]
        total[norm] = recorded[0] + recorded[1]
    return x, total, out
