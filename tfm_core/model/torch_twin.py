"""torch's own module with our weights in it, so that the two can be compared number by number."""

from functools import lru_cache

import torch
from torch import Tensor, nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.unfilled import copied


def as_torch(attention: MultiHeadAttention) -> nn.MultiheadAttention:
    """An nn.MultiheadAttention that computes what ours computes: batch first, in the same mode and dtype.

    torch packs the three projections into one matrix. Its masks mean the opposite of ours (`to_ignore`), and a
    scheme of positions that acts inside the attention (rope, alibi, t5) has no place in it: it knows none. Where heads
    share keys and values, each has its own here, with the same weights; biases that ours lacks are 0. The weights are
    copies.
    """
    query, output = attention.query_projection, attention.output_projection
    projections = (query, as_of_each_head(attention, "key"), as_of_each_head(attention, "value"))
    twin = copied(_empty(attention.d_model, attention.num_heads, attention.dropout))
    packed = {
        "in_proj_weight": torch.cat([projection.weight for projection in projections]),
        "in_proj_bias": torch.cat([bias_of(projection) for projection in projections]),
        "out_proj.weight": output.weight.clone(),
        "out_proj.bias": bias_of(output).clone(),
    }
    twin.load_state_dict({name: tensor.detach() for name, tensor in packed.items()}, assign=True)
    return twin.train(attention.training)


def bias_of(linear: nn.Linear) -> Tensor:
    """Its bias, or zeros where it has none."""
    bias: Tensor | None = linear.bias
    return linear.weight.new_zeros(len(linear.weight)) if bias is None else bias


def as_of_each_head(attention: MultiHeadAttention, what: str) -> nn.Linear:
    """Its projection of "key" or "value" with rows for each head: those that heads share are there for each of them."""
    shared: nn.Linear = getattr(attention, f"{what}_projection")
    if attention.num_kv_heads == attention.num_heads:
        return shared

    def rows(x: Tensor) -> nn.Parameter:
        groups = x.detach().view(attention.num_kv_heads, -1, *x.shape[1:])  # (kv_head, head_dim, ...)
        each = groups.repeat_interleave(attention.num_heads // attention.num_kv_heads, 0)
        return nn.Parameter(each.flatten(0, 1))

    with torch.device("meta"):
        linear = nn.Linear(attention.d_model, attention.d_model, bias=shared.bias is not None)
    linear.weight = rows(shared.weight)
    if shared.bias is not None:
        linear.bias = rows(shared.bias)
    return linear


@lru_cache(maxsize=32)
def _empty(d_model: int, num_heads: int, dropout: float) -> nn.MultiheadAttention:
    """torch's module on the meta device: nothing is drawn, and torch's random numbers stay where they were."""
    return nn.MultiheadAttention(d_model, num_heads, dropout=dropout, batch_first=True, device="meta")
