"""torch's own module with our weights in it, so that the two can be compared number by number."""

from functools import lru_cache

import torch
from torch import nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.unfilled import copied


def as_torch(attention: MultiHeadAttention) -> nn.MultiheadAttention:
    """An nn.MultiheadAttention that computes what ours computes: batch first, in the same mode and dtype.

    torch packs the three projections into one matrix. Its masks mean the opposite of ours (`to_ignore`), and a
    scheme of positions that acts inside the attention (rope, alibi, t5) has no place in it: it knows none. The
    weights are copies.
    """
    projections = (attention.query_projection, attention.key_projection, attention.value_projection)
    last = attention.output_projection
    twin = copied(_empty(attention.d_model, attention.num_heads, attention.dropout))
    packed = {
        "in_proj_weight": torch.cat([projection.weight for projection in projections]),
        "in_proj_bias": torch.cat([projection.bias for projection in projections]),
        "out_proj.weight": last.weight.clone(),
        "out_proj.bias": last.bias.clone(),
    }
    twin.load_state_dict({name: tensor.detach() for name, tensor in packed.items()}, assign=True)
    return twin.train(attention.training)


@lru_cache(maxsize=32)
def _empty(d_model: int, num_heads: int, dropout: float) -> nn.MultiheadAttention:
    """torch's module on the meta device: nothing is drawn, and torch's random numbers stay where they were."""
    return nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True, device="meta")
