"""Which outputs move when a token is changed, beside what a mask allows through all layers, without the app."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tfm_core import (
    Tokens,
    Transformer,
    TransformerConfig,
    causal_mask,
    influence,
    leaks,
    padding_mask,
    reachability,
    recording,
)


def in_a_single_stack(
    *,
    config: TransformerConfig,
    source: Tokens,
    mask: Tensor,
    promise: Tensor,
    mask_site: str,
    sites: Sequence[str],
    places: Sequence[int],
    vocab_size: int,
    tries: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """How far outputs moved, (token, layer, output); which may, (output, token); the leaks, (token, output)."""
    model = Transformer(config).eval().double()  # in float64 effects of 1e-9 are more than rounding
    run = streams(lambda tokens: model.stack(tokens, mask), mask, mask_site, sites)
    measured = influence(run, source.batch, vocab_size=vocab_size, tries=tries, places=places)
    moved = measured.moved  # (token, layer, output)
    allowed = reachability(promise, len(sites))[:, places]
    leaking = leaks(moved[:, -1], allowed, measured.tolerance)  # (token, output)
    return moved, allowed, leaking


def in_a_decoder(
    *,
    config: TransformerConfig,
    source: Tokens,
    target: Tokens,
    mask: Tensor,
    promise: Tensor,
    mask_site: str,
    sites: Sequence[str],
    places: Sequence[int],
    vocab_size: int,
    tries: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same of the target text, which a decoder reads beside a source text that stays as it is."""
    model = Transformer(config).eval().double()  # in float64 effects of 1e-9 are more than rounding
    padding = padding_mask(source.batch)
    memory = model.encoder(source.batch, padding).detach()

    def decode(tokens: Tensor) -> Tensor:
        output: Tensor = model.decoder(tokens, mask, memory=memory.expand(len(tokens), -1, -1), memory_mask=padding)
        return output

    run = streams(decode, mask, mask_site, sites)
    measured = influence(run, target.batch, vocab_size=vocab_size, tries=tries, places=places)
    moved = measured.moved  # (token, layer, output)
    allowed = reachability(promise, len(sites))[:, places]
    leaking = leaks(moved[:, -1], allowed, measured.tolerance)  # (token, output)
    return moved, allowed, leaking


def across(
    *,
    config: TransformerConfig,
    source: Tokens,
    target: Tokens,
    mask: Tensor,
    promise: Tensor,
    mask_site: str,
    sites: Sequence[str],
    places: Sequence[int],
    vocab_size: int,
    tries: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The same of the source text, which a decoder looks at by cross-attention."""
    model = Transformer(config).eval().double()  # in float64 effects of 1e-9 are more than rounding
    padding = padding_mask(source.batch)

    def translate(tokens: Tensor) -> Tensor:
        memory = model.encoder(tokens, padding)
        output: Tensor = model.decoder(target.batch.expand(len(tokens), -1), memory=memory, memory_mask=mask)
        return output

    run = streams(translate, mask, mask_site, sites)
    measured = influence(run, source.batch, vocab_size=vocab_size, tries=tries, places=places)
    moved = measured.moved  # (token, layer, output)
    encoder = padding[0, 0].expand(mask.shape[1], -1)  # in the encoder all tokens look at all that are no padding
    allowed = reachability(causal_mask(mask.shape[0]), len(sites), cross=promise, encoder=encoder)[:, places]
    leaking = leaks(moved[:, -1], allowed, measured.tolerance)  # (token, output)
    return moved, allowed, leaking


def streams(
    forward: Callable[[Tensor], Tensor], mask: Tensor, mask_site: str, sites: Sequence[str]
) -> Callable[[Tensor], Tensor]:
    """Token ids (batch, token) -> the residual stream after each layer, (batch, layer, output, d_model)."""
    exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}  # in place of what the model hides by itself

    def run(tokens: Tensor) -> Tensor:
        with torch.no_grad(), recording(sites, exactly) as trace:
            forward(tokens)
        return torch.stack([trace[site] for site in sites], 1)

    return run
