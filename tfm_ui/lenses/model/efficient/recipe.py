"""What the view "efficient" shows, without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core import (
    AttentionCost,
    Tile,
    Transformer,
    TransformerConfig,
    attention_costs,
    recording,
    tiled_attention,
    tiles,
)


def on_the_same_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    names: Sequence[str],
    site: str,
    head: int,
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Each attention in place of the full one at a site, on its recorded input: weights, visible pairs, outputs."""
    reads = f"{site}.normed" if config.norm == "pre" else f"{site}.residual_before"
    with torch.no_grad(), recording([reads, f"{site}.mask"]) as trace:
        Transformer(config).eval()(*inputs, mask=mask)
    weights, visible, outputs = {}, {}, {}
    for name in names:
        model = Transformer(replace(config, attention=name)).eval()  # the same weights, as they are drawn by name
        root = model if config.architecture == "encoder-decoder" else model.stack
        positional = root.get_submodule(site.rpartition("layers.")[0] + "positional")
        with torch.no_grad(), recording([f"{site}.weights", f"{site}.mask"]) as inside:
            output = root.get_submodule(site)(trace[reads], mask=trace[f"{site}.mask"], positional=positional)
        weights[name] = inside[f"{site}.weights"][0, head]
        visible[name] = inside[f"{site}.mask"].expand_as(inside[f"{site}.weights"])[0, head]
        outputs[name] = output[0]
    return weights, visible, outputs


def by_length(
    *, names: Sequence[str], lengths: Sequence[int], d_model: int, num_heads: int, causal: bool
) -> Mapping[str, Sequence[AttentionCost]]:
    """Attention -> its costs at each length."""
    costs = {
        name: [attention_costs(name, n, d_model=d_model, num_heads=num_heads, causal=causal) for n in lengths]
        for name in names
    }
    return costs


def tile_by_tile(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    site: str,
    head: int,
    read: int,
    side: int,
) -> tuple[Sequence[Tile], Tensor, Tensor]:
    """The steps of one head's attention over the first tokens; their result; and the plain one, in float64."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(f"{site}.*") as trace:
        model(*inputs, mask=mask)
    rotated = "rotated_" if f"{site}.rotated_query" in trace else ""
    sites = [f"{site}.{rotated}query", f"{site}.{rotated}key", f"{site}.value"]
    query, key, value = (trace[name][0, head, :read].double() for name in sites)
    visible = trace[f"{site}.mask"].expand(1, config.num_heads, *trace[f"{site}.scores"].shape[-2:])[0, head]
    visible = visible[:read, :read]
    steps = list(tiles(query, key, value, visible, rows=side, columns=side))
    result = tiled_attention(steps)
    scores = (query @ key.T / config.head_dim**0.5).masked_fill(~visible, float("-inf"))
    plain = scores.softmax(-1).nan_to_num(0.0) @ value
    return steps, result, plain
