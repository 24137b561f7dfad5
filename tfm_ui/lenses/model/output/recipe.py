"""What the view "output" shows, without the app."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, special

from tfm_core import Transformer, TransformerConfig, logit_lens, recording


def run(
    config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> tuple[list[Tensor], Transformer]:
    """What a pass records at these sites, without the batch axis; and the model."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sites) as trace:
        model(*inputs, mask=mask)
    return [trace[site][0] for site in sites], model


def likeliest(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    token: int,
    temperature: float,
    top: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The ids of the likeliest tokens at a position, their logits, and their probabilities at this temperature."""
    (recorded,), _ = run(config, inputs, mask, ["logits"])
    probabilities = (recorded[token].double() / temperature).softmax(-1)
    ids = recorded[token].topk(top).indices
    logits, shares = recorded[token][ids], probabilities[ids]
    return ids, logits, shares


def by_position(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int, temperature: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The id of each position's likeliest token, its probability, and the entropy of all, in nats."""
    (recorded,), _ = run(config, inputs, mask, ["logits"])
    probabilities = (recorded[:read].double() / temperature).softmax(-1)
    ids = recorded[:read].argmax(-1)
    shares, entropies = probabilities.amax(-1), special.entr(probabilities).sum(-1)
    return ids, shares, entropies


def final_norm(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str], read: int
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Mean, variance and length of each position's vector after the last layer, and after the final norm if any."""
    recorded, _ = run(config, inputs, mask, sites)
    vectors = [x[:read].double() for x in recorded]
    means = [x.mean(-1) for x in vectors]
    variances = [x.var(-1, correction=0) for x in vectors]
    lengths = [x.norm(dim=-1) for x in vectors]
    return means, variances, lengths


def layer_by_layer(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor]]:
    """Place -> the likeliest token's id at each position, and the probability of the one that is likeliest at last."""
    every = logit_lens(Transformer(config).eval(), *inputs, mask=mask)
    logits = {place: table[0, :read] for place, table in every.items()}
    ids = {place: table.argmax(-1) for place, table in logits.items()}
    final = ids[f"layer {config.num_layers}"]
    shares = {place: table.softmax(-1).gather(-1, final[:, None])[:, 0] for place, table in logits.items()}
    return ids, shares


def tied_and_untied(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, read: int, temperature: float
) -> tuple[Mapping[str, Tensor], Mapping[str, Tensor], Mapping[str, int]]:
    """The logit and the probability of the token that stands at each position itself, and the number of parameters."""
    itself = inputs[-1][0, :read, None]  # the ids of the text whose next tokens are predicted
    logits, shares, parameters = {}, {}, {}
    for name, tie in {"tied": True, "untied": False}.items():
        (recorded,), model = run(replace(config, tie_embeddings=tie), inputs, mask, ["logits"])
        logits[name] = recorded[:read].gather(-1, itself)[:, 0]
        probabilities = (recorded[:read].double() / temperature).softmax(-1)
        shares[name] = probabilities.gather(-1, itself)[:, 0]
        parameters[name] = sum(parameter.numel() for parameter in model.parameters())
    return logits, shares, parameters
