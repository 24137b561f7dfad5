"""What the view "diagram" shows, without the app."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tfm_core import Transformer, TransformerConfig, block_costs, recording, stack_blocks


def machine(
    *, config: TransformerConfig, lengths: Mapping[str, int], classes: int
) -> tuple[Mapping[str, int], Mapping[str, tuple[int, int]]]:
    """Block -> its parameters; and its multiply-adds and the numbers that it writes."""
    stacks = stack_blocks(config, classes)
    counts = {block.name: block.parameters for blocks in stacks.values() for block in blocks}
    costs = {}
    for stack, blocks in stacks.items():
        for block in blocks:
            cost = block_costs(block, config, lengths[stack], lengths.get("encoder", 0), classes)
            costs[block.name] = (sum(term.value for term in cost.time), sum(term.value for term in cost.space))
    return counts, costs


def flows(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, ends: Mapping[str, Sequence[str]]
) -> Mapping[str, Tensor]:
    """What flows in and out of a block, (token, d_model): the sum of what was recorded at these sites."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sorted({site for sites in ends.values() for site in sites})) as trace:
        model(*inputs, mask=mask)
    flows = {end: torch.stack([trace[site][0] for site in sites]).sum(0) for end, sites in ends.items() if sites}
    return flows


def path(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor | None,
    places: Sequence[Sequence[str]],
    token: int,
    read_out: bool,
) -> tuple[Sequence[float], Sequence[float], Tensor | None]:
    """One token's vector at each place of the residual stream: its length, and the cosine to the place before; and
    what the output makes of the last one, its logits.
    """
    model = Transformer(config).eval()
    with torch.no_grad(), recording(sorted({site for sites in places for site in sites})) as trace:
        model(*inputs, mask=mask)
        vectors = torch.stack([torch.stack([trace[site][0, token] for site in sites]).sum(0) for sites in places])
        logits = model.unembedding(vectors[-1]) if read_out else None
    vectors = vectors.double()
    lengths = vectors.norm(dim=-1).tolist()
    cosines = torch.cosine_similarity(vectors[1:], vectors[:-1]).tolist()
    return lengths, cosines, logits
