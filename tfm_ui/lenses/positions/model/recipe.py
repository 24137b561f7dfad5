"""What the view "model" shows, without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, causal_mask, recording
from tfm_core.study.analysis import ByDistance, mean_by_distance
from tfm_core.study.order import moved, shuffle_order


def sites_of_pass(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> list[Tensor]:
    """What a pass of the model records at these sites."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    return [trace[site] for site in sites]


def maps(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    sites: Sequence[str],
    head: int,
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Scheme -> the weights of one head, (query, key); and its scores before the mask."""
    weights, scores = {}, {}
    for name in schemes:
        recorded = sites_of_pass(replace(config, positional=name), inputs, mask, sites)
        weights[name], scores[name] = (site[0, head] for site in recorded)
    return weights, scores


def distances(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    site: str,
    head: int,
    read: int,
    looks_back_only: bool,
) -> Mapping[str, ByDistance]:
    """Scheme -> the mean score of one head at each distance, over all pairs of tokens that may look."""
    places = inputs[0].shape[1]
    tokens = torch.arange(places) < read  # the rest is padding
    visible = tokens[:, None] & tokens
    if looks_back_only:
        visible &= causal_mask(places)
    scores = {
        name: sites_of_pass(replace(config, positional=name), inputs, mask, [site])[0][0, head] for name in schemes
    }
    by_distance = {name: mean_by_distance(table, visible) for name, table in scores.items()}
    return by_distance


def shuffled(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    schemes: Sequence[str],
    without_mask: str,
    end: str,
    read: int,
    shuffle: int,
) -> Mapping[str, Tensor]:
    """Scheme -> how far each token's output moves when the words are shuffled, as a share of its length.

    `without_mask` is the name of one more row: no positions, and no causal mask.
    """
    text, *more = inputs
    order = shuffle_order(text[0, :read].tolist(), shuffle)
    ids = text.clone()
    ids[0, :read] = text[0, order]
    models = {name: (replace(config, positional=name), mask) for name in schemes}
    if without_mask:
        models[without_mask] = (replace(config, positional="none", architecture="encoder"), None)
    share = {}
    for name, (each, its_mask) in models.items():
        before, after = (sites_of_pass(each, [tokens, *more], its_mask, [end])[0][0, :read] for tokens in (text, ids))
        share[name] = moved(before, after, order)
    return share
