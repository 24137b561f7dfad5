"""What each entry of `ATTENTION` costs: for the pairs that it lets see each other, and as the code here computes it.

The projections, 4 n d² multiply-adds, are the same for all and left out. Vaswani et al. 2017, table 1; Child et al.
2019, section 4; Katharopoulos et al. 2020, section 3.2.
"""

from functools import lru_cache
from typing import NamedTuple

import torch

from tfm_core.model.attention import ATTENTION
from tfm_core.model.choices import check_choice


class AttentionCost(NamedTuple):
    """The costs of the self-attention of one layer, all heads together.

    Attributes:
        pairs: how many of the n² pairs of a query and a key may see each other.
        needed: multiply-adds for these pairs alone, or of linear attention for its sums and its normaliser.
        computed: multiply-adds of the code here, which computes all pairs and hides some.
        kept: numbers to hold at a time for these pairs: their scores; of linear attention the sums over the keys, of
            the fused kernel a maximum and a sum for each query.

    Examples:
        >>> from tfm_core import attention_costs
        >>> cost = attention_costs("full", 10, d_model=8, num_heads=2)
        >>> cost.pairs, cost.needed == cost.computed
        (100, True)
    """

    pairs: int
    needed: int
    computed: int
    kept: int


def attention_costs(attention: str, n: int, *, d_model: int, num_heads: int, causal: bool = False) -> AttentionCost:
    """The costs of one entry of `ATTENTION` for n tokens without padding.

    Args:
        attention: a key of `ATTENTION`.
        n: how many tokens.
        d_model: width of the residual stream.
        num_heads: heads of the layer.
        causal: whether no query sees a later key.

    Raises:
        ValueError: if there is no such attention.

    Examples:
        >>> from tfm_core import attention_costs
        >>> full, linear = (attention_costs(name, 1000, d_model=8, num_heads=2) for name in ("full", "linear"))
        >>> full.needed, linear.needed
        (16000000, 72000)
    """
    check_choice("attention", attention, ATTENTION)
    entry = ATTENTION[attention]
    pairs = visible_pairs(attention, n, causal=causal)
    if not entry.has_scores:
        # For each head a matrix of head_dim x head_dim, and the normaliser: a vector of head_dim.
        sums = d_model * (d_model // num_heads)
        products = 2 * n * sums + n * d_model
        return AttentionCost(pairs, products, products, sums + d_model)
    kept = num_heads * pairs if entry.writes_scores else 2 * num_heads * n
    return AttentionCost(pairs, 2 * pairs * d_model, 2 * n * n * d_model, kept)


@lru_cache(maxsize=1024)
def visible_pairs(attention: str, n: int, *, causal: bool = False) -> int:
    """How many of n² pairs may see each other, for a pattern in which that depends on their distance alone.

    Args:
        attention: a key of `ATTENTION`.
        n: how many tokens.
        causal: whether no query sees a later key.

    Examples:
        >>> from tfm_core import visible_pairs
        >>> visible_pairs("full", 10), visible_pairs("full", 10, causal=True)
        (100, 55)
    """
    pattern = ATTENTION[attention].pattern(1, n)  # of the last query, which sees all distances, the largest first
    row = torch.ones(1, n, dtype=torch.bool) if pattern is None else pattern
    backward = torch.arange(1, n + 1)[row[0]]  # a pair n - 1 apart is there once, a query and itself n times
    total = int(backward.sum())
    return total if causal else 2 * total - n * bool(row[0, -1])
