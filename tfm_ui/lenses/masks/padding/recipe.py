"""A sentence alone and beside padding, and what becomes of rows without any key, without the app."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from tfm_core import MultiHeadAttention, Positional, Trace, Transformer, TransformerConfig, padding_mask, recording
from tfm_core.study.empty_rows import TREATMENTS, Case, Treated, instead, minus_a_billion, minus_infinity
from tfm_core.study.order import apart


def shares_moved(
    *,
    config: TransformerConfig,
    alone: Sequence[Tensor],
    padded: Sequence[Tensor],
    key_ids: Tensor,
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    argument: str,
    mask_site: str,
    sites: Sequence[str],
) -> dict[str, list[Tensor]]:
    """How far each token's vector is from what it is alone: way -> for each place, a share of its length (token)."""
    run = under(Transformer(config).eval(), argument, mask_site)
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    before = run(alone, among_tokens)
    shares = {}
    hidden = mask_with_padding & padding_mask(key_ids)[0, 0]
    masks = {"with": hidden, "without": mask_with_padding}  # padding hidden, and not
    for way in masks:
        after = run(padded, masks[way])
        shares[way] = [apart(before[site], after[site][:, rows])[0] for site in sites]
    return shares


def weights_beside(
    *,
    config: TransformerConfig,
    alone: Sequence[Tensor],
    padded: Sequence[Tensor],
    key_ids: Tensor,
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    argument: str,
    mask_site: str,
    site: str,
    head: int,
) -> dict[str, Tensor]:
    """The weights of one head, alone and in the batch: run -> (token, key)."""
    run = under(Transformer(config).eval(), argument, mask_site)
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    weights = {"alone": run(alone, among_tokens)[site][0, head]}
    hidden = mask_with_padding & padding_mask(key_ids)[0, 0]
    masks = {"with": hidden, "without": mask_with_padding}  # padding hidden, and not
    for way in masks:
        weights[way] = run(padded, masks[way])[site][0, head, rows]
    return weights


def moves_by_amount(
    *,
    config: TransformerConfig,
    alone: Sequence[Tensor],
    among_tokens: Tensor,
    composed: Callable[[Tensor, Tensor, int, int], Tensor],
    texts: Sequence[int],
    left: bool,
    amounts: Sequence[int],
    argument: str,
    mask_site: str,
    output: str,
) -> dict[int, list[float]]:
    """The largest move of an output by the number of PADs, with padding hidden, and without."""
    run = under(Transformer(config).eval(), argument, mask_site)
    before, moves = run(alone, among_tokens)[output][0], {}
    for pads in amounts:
        padded = [torch.nn.functional.pad(alone[0], (pads, 0) if left else (0, pads)), *alone[1:]]
        first = pads if left else 0
        tokens = slice(first, first + alone[0].shape[1])
        queries, keys = (padded[text] for text in texts)
        rows, columns = (slice(None) if text else tokens for text in texts)  # the target is not padded
        mask_with_padding = composed(queries.clamp(min=1), keys.clamp(min=1), queries.shape[1], keys.shape[1])
        mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
        masks = (mask_with_padding & padding_mask(keys)[0, 0], mask_with_padding)
        moves[pads] = [apart(before, run(padded, mask)[output][0, rows]).max().item() for mask in masks]
    return moves


def treatments(
    *,
    config: TransformerConfig,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    query_site: str,
    key_site: str,
    attention_path: str,
    positional_path: str | None,
) -> dict[str, Treated]:
    """What each treatment makes of rows without a key: output (1, query, d_model), weights (1, head, query, key)."""
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask = mask_with_padding.clone()
    mask[emptied] = False
    model = Transformer(config).eval()
    trace = under(model, argument, mask_site)(padded, mask)
    attention = model.get_submodule(attention_path)
    positional = model.get_submodule(positional_path) if positional_path else None
    assert isinstance(attention, MultiHeadAttention)
    assert isinstance(positional, Positional | None)
    case = Case.of(attention, trace[query_site], trace[key_site], mask, positional)
    treated = {name: treatment.run(case)[0] for name, treatment in TREATMENTS.items()}
    return treated


def spread_through_the_model(
    *,
    config: TransformerConfig,
    padded: Sequence[Tensor],
    among_tokens: Tensor,
    mask_with_padding: Tensor,
    rows: slice,
    columns: slice,
    emptied: Sequence[int],
    argument: str,
    mask_site: str,
    attention: str,
    sites: Sequence[str],
) -> tuple[dict[str, list[Tensor]], dict[str, Tensor]]:
    """Streams, way -> for each place (token, d_model), and logits, way -> (token, vocab)."""
    mask_with_padding = with_tokens(mask_with_padding, rows, columns, among_tokens)
    mask = mask_with_padding.clone()
    mask[emptied] = False
    model = Transformer(config).eval()
    exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}  # in place of what the model hides by itself
    ways = {"−∞ and softmax": minus_infinity, "−1e9 and softmax": minus_a_billion, "ours": None}
    streams, logits = {}, {}
    for way, weights_of in ways.items():
        edits = instead(weights_of, attention) if weights_of else {}
        with torch.no_grad(), recording(sites, exactly | edits) as trace:
            output = model(*padded, **{argument: mask})
        streams[way], logits[way] = [trace[site][0] for site in sites], output[0]
    return streams, logits


def under(model: Transformer, argument: str, mask_site: str) -> Callable[[Sequence[Tensor], Tensor], Trace]:
    """Runs the model under exactly the mask that is handed over, and returns all that was recorded."""

    def run(inputs: Sequence[Tensor], mask: Tensor) -> Trace:
        exactly = {mask_site: lambda automatic: mask.expand_as(automatic)}  # in place of what the model hides by itself
        with torch.no_grad(), recording(edits=exactly) as trace:
            model(*inputs, **{argument: mask})
        return trace

    return run


def with_tokens(mask_with_padding: Tensor, rows: slice, columns: slice, among_tokens: Tensor) -> Tensor:
    """A mask with padding, (query, key), that is among tokens what it is without padding."""
    mask = mask_with_padding.clone()
    mask[rows, columns] = among_tokens
    return mask
