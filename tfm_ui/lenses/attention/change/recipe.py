"""The weights of a head of a changed model, without the app."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from tfm_core import Tokens, Transformer, TransformerConfig, encode, recording
from tfm_core.model.tokens import PAD_ID, Tokenizer
from tfm_core.study.interventions import in_turn


def changed_weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The weights of a model with edits, (query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights", {name: in_turn(*made) for name, made in edits.items()}) as trace:
        model(*inputs, mask=mask)
    weights = trace[site][0, head]  # (query, key)
    return weights


def weights_of_changed_texts(
    *,
    config: TransformerConfig,
    texts: Sequence[Tokens],
    tokenizer: str | Tokenizer,
    replaced: Sequence[Mapping[int, str]],
    swapped: Sequence[Sequence[tuple[int, int]]],
    dropped: Sequence[Sequence[int]],
    mask: Tensor | None,
    edits: Mapping[str, Sequence[Callable[[Tensor], Tensor]]],
    site: str,
    head: int,
) -> Tensor:
    """The same of other texts; tokens count from 0, as the texts are written."""
    inputs = []
    for text, others, swaps, gone in zip(texts, replaced, swapped, dropped, strict=True):
        ids, order = list(text.ids), list(range(len(text.pieces)))
        for token, piece in others.items():
            ids[token] = encode(piece, tokenizer).ids[0]
        for pair in swaps:
            first, second = (order.index(token) for token in pair)
            order[first], order[second] = order[second], order[first]
        order = [token for token in order if token not in gone]
        inputs.append(torch.tensor([[ids[token] for token in order] + [PAD_ID] * (len(ids) - len(order))]))
    weights = changed_weights(config=config, inputs=inputs, mask=mask, edits=edits, site=site, head=head)
    return weights
