"""Other libraries' attention with the weights of ours, called with a mask in their convention.

All take (attention, queries (batch, query, d_model), keys (batch, key, d_model), the mask), and return (batch, query,
d_model): what the heads gathered, side by side, or where the call goes on to project it, the output.
"""

from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tfm_core.model.attention import MultiHeadAttention
from tfm_core.model.torch_twin import as_of_each_head, as_torch
from tfm_core.model.unfilled import copied


def merged(heads: Tensor) -> Tensor:
    """(batch, head, query, head_dim) -> (batch, query, d_model)."""
    return heads.transpose(1, 2).flatten(2)


def sdpa(attention: MultiHeadAttention, query: Tensor, key: Tensor, handed: Tensor) -> Tensor:
    """F.scaled_dot_product_attention with an attn_mask."""

    def split(x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], attention.num_heads, -1).transpose(1, 2)

    q, k, v = (
        attention.query_projection(query),
        as_of_each_head(attention, "key")(key),
        as_of_each_head(attention, "value")(key),
    )
    return merged(F.scaled_dot_product_attention(split(q), split(k), split(v), attn_mask=handed))


def mha(attention: MultiHeadAttention, query: Tensor, key: Tensor, handed: Tensor) -> Tensor:
    """nn.MultiheadAttention with an attn_mask."""
    output: Tensor = as_torch(attention).eval()(query, key, key, attn_mask=handed, need_weights=False)[0]
    return output


def mha_padding(attention: MultiHeadAttention, query: Tensor, key: Tensor, handed: Tensor) -> Tensor:
    """nn.MultiheadAttention with a key_padding_mask."""
    output: Tensor = as_torch(attention).eval()(query, key, key, key_padding_mask=handed, need_weights=False)[0]
    return output


def bert(attention: MultiHeadAttention, query: Tensor, key: Tensor, handed: Tensor, *, causal: bool = False) -> Tensor:
    """The attention of transformers' BERT with our weights, its mask made as its models make it."""
    from transformers.masking_utils import create_bidirectional_mask, create_causal_mask  # here, as in `_empty_bert`

    memory = [] if key is query else [key]
    config, empty = _empty_bert(attention.d_model, attention.num_heads, causal=causal, across=bool(memory))
    attend = copied(empty)
    attend.query, attend.key = attention.query_projection, as_of_each_head(attention, "key")
    attend.value = as_of_each_head(attention, "value")
    if causal:
        mask = create_causal_mask(config, query, handed, None)  # no cache: that argument's name depends on the version
    else:
        mask = create_bidirectional_mask(config, query, handed, encoder_hidden_states=memory[0] if memory else None)
    output: Tensor = attend(query, *memory, attention_mask=mask)[0]
    return output


@lru_cache(maxsize=32)  # transformers takes longer to make them than a pass takes
def _empty_bert(d_model: int, num_heads: int, *, causal: bool, across: bool) -> tuple[Any, nn.Module]:
    """The configuration of a BERT, and one attention of it, on the meta device: no memory, no random numbers."""
    from transformers import BertConfig  # imported here, as it takes seconds, and few need it
    from transformers.models.bert.modeling_bert import BertCrossAttention, BertSelfAttention

    config = BertConfig(hidden_size=d_model, num_attention_heads=num_heads)
    config._attn_implementation = "sdpa"  # as in a model that is loaded, by default
    with torch.device("meta"):
        return config, (BertCrossAttention if across else BertSelfAttention)(config, is_causal=causal).eval()


def bert_causal(attention: MultiHeadAttention, query: Tensor, key: Tensor, handed: Tensor) -> Tensor:
    """The same for a model in which no token sees later ones."""
    return bert(attention, query, key, handed, causal=True)
