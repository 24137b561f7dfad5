"""Scripts of the view "kept": what is stored, both ways of writing, and what they cost."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tfm_core import Sampling, Transformer, TransformerConfig, generate
from tfm_core.generation.costs import step_flops
from tfm_core.model.cache import KeyValueCache


def stored(*, config: TransformerConfig, tokens: Sequence[int], layer: int) -> tuple[Tensor, Tensor, int]:
    """Keys and values of one layer, (token, d_model), heads side by side, and the bytes of all layers."""
    model = Transformer(config).eval()
    cache = KeyValueCache(config)
    with torch.no_grad():
        model(torch.tensor([tokens]), cache=cache)
    keys = cache.keys(layer)[0].transpose(0, 1).flatten(1)  # (head, token, head_dim) -> (token, d_model)
    values = cache.values(layer)[0].transpose(0, 1).flatten(1)
    nbytes = cache.nbytes
    return keys, values, nbytes


def both_ways(
    *,
    config: TransformerConfig,
    prompt: Sequence[int],
    sampling: Sampling,
    steps: int,
    forced: Mapping[int, int],
    context: int,
    when_full: str,
) -> tuple[list[int], list[int], list[float]]:
    """The tokens that are written with the cache and without it, and the largest difference of logits at each step."""
    model = Transformer(config).eval()
    ways = [
        generate(
            model,
            prompt,
            sampling,
            steps=steps,
            forced=forced,
            use_cache=use_cache,
            context=context,
            when_full=when_full,
        )
        for use_cache in (True, False)
    ]
    cached, whole = map(list, ways)
    with_cache, without = [step.token for step in cached], [step.token for step in whole]
    differences = [float((a.logits - b.logits).abs().max()) for a, b in zip(cached, whole, strict=False)]
    return with_cache, without, differences


def costs(*, config: TransformerConfig, lengths: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Operations for one more token with and without the cache, and the cache's bytes, after texts of these lengths."""
    with_cache = [step_flops(config, length, cached=True) for length in lengths]
    without = [step_flops(config, length, cached=False) for length in lengths]
    nbytes = [KeyValueCache.memory_of(config, length) for length in lengths]
    return with_cache, without, nbytes
