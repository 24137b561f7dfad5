"""Linear attention: softmax is replaced by a product of features, so that no matrix of pairs is needed.

    weights[i, j] = phi(q_i) . phi(k_j) / sum over visible j of phi(q_i) . phi(k_j),   phi(x) = elu(x) + 1

The sums over keys can be computed before a query is known: n d^2 operations in place of n^2 d. Katharopoulos et al.
2020, "Transformers are RNNs", equations 4 to 7, causal: 8 to 12.
"""

import torch
from torch import Tensor

from tfm_core.masks.basic import causal_mask

AT_ONCE = 2**19  # numbers of causal sums that are in memory at a time


def features(x: Tensor) -> Tensor:
    """phi(x) = elu(x) + 1, the same shape. Katharopoulos et al. 2020, equation 7.

    Below 0 that is exp(x), written as such: 1 + (exp(x) - 1) would be rounded to 0 in float32 from x = -17 on.
    """
    return torch.where(x > 0, x + 1, x.clamp(max=0).exp())


def linear_attention(
    query: Tensor, key: Tensor, value: Tensor, *, causal: bool = False, visible: Tensor | None = None
) -> Tensor:
    """What each query gathers, (..., query, value_dim), without the matrix of weights.

    Args:
        query: (..., query, head_dim).
        key: (..., key, head_dim).
        value: (..., key, value_dim).
        causal: whether a query sees no later key; then there must be as many keys as queries.
        visible: boolean, broadcasts to (..., key), True = may be attended to, such as the keys that are no padding.

    Raises:
        ValueError: if `causal` is asked of queries and keys of different lengths, or `visible` is not boolean.

    Examples:
        >>> import torch
        >>> from tfm_core import linear_attention, linear_attention_weights
        >>> query, key, value = torch.randn(3, 1, 5, 4, generator=torch.Generator().manual_seed(0))
        >>> gathered = linear_attention(query, key, value, causal=True)
        >>> torch.allclose(gathered, linear_attention_weights(query, key, causal=True) @ value, atol=1e-5)
        True
    """
    q, k = _features(query, key, causal, visible)
    if causal:
        gathered = _gathered_causally(q, k, value)
        total = (q * k.cumsum(-2)).sum(-1, keepdim=True)
    else:
        gathered = q @ (k.mT @ value)
        total = (q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True)
    return _divided(gathered, total)


def _gathered_causally(q: Tensor, k: Tensor, value: Tensor) -> Tensor:
    """The sum for each query over the keys up to it, as a recurrent network would: a state, to which each key adds.

    The states of a few keys are in memory at a time: those of all keys would be n d^2 numbers.
    """
    state: Tensor | float = 0.0
    gathered = q.new_empty(*q.shape[:-1], value.shape[-1])
    few = max(1, AT_ONCE // (k[..., 0, :].numel() * value.shape[-1]))
    for start in range(0, q.shape[-2], few):
        now = slice(start, start + few)
        states = (k[..., now, :, None] * value[..., now, None, :]).cumsum(-3) + state  # (..., key, head_dim, value_dim)
        gathered[..., now, :] = (q[..., now, None, :] @ states)[..., 0, :]
        state = states[..., -1:, :, :].clone()
    return gathered


def linear_attention_weights(
    query: Tensor, key: Tensor, *, causal: bool = False, visible: Tensor | None = None
) -> Tensor:
    """The weights that linear attention implies, (..., query, key): the matrix that it never writes.

    A row sums to 1; to 0 if no key is visible to its query.

    Args:
        query: (..., query, head_dim).
        key: (..., key, head_dim).
        causal: whether a query sees no later key; then there must be as many keys as queries.
        visible: boolean, broadcasts to (..., key), True = may be attended to.

    Raises:
        ValueError: as `linear_attention`.

    Examples:
        >>> import torch
        >>> from tfm_core import linear_attention_weights
        >>> weights = linear_attention_weights(torch.zeros(2, 4), torch.zeros(2, 4))
        >>> weights.tolist()
        [[0.5, 0.5], [0.5, 0.5]]
    """
    q, k = _features(query, key, causal, visible)
    pairs = q @ k.mT
    if causal:
        pairs = pairs.masked_fill(~causal_mask(q.shape[-2], device=q.device), 0.0)
    return _divided(pairs, pairs.sum(-1, keepdim=True))


def _divided(sums: Tensor, total: Tensor) -> Tensor:
    """sums / total, and 0 where the total is 0: for a query that sees no key. Never 0 / 0, whose gradient is NaN."""
    return sums / total.masked_fill(total == 0, 1.0)


def causal_and_visible(mask: Tensor | None, query_len: int, key_len: int) -> tuple[bool, Tensor | None]:
    """A mask as linear attention takes it: whether it is causal, and which keys are visible, (..., key) or None.

    Raises:
        ValueError: for a mask that is more than these two.
    """
    if mask is None:
        return False, None
    mask = mask.expand(*mask.shape[:-2], query_len, key_len) if mask.dim() > 1 else mask.expand(query_len, key_len)
    visible = mask.any(-2)
    same_for_all = visible[..., None, :].expand_as(mask)
    if torch.equal(mask, same_for_all):
        return False, visible
    if query_len == key_len and torch.equal(mask, same_for_all & causal_mask(query_len, device=mask.device)):
        return True, visible
    raise ValueError(
        "linear attention: expected a mask that hides the same keys from all queries, the future, or both; "
        f"got another one of shape {tuple(mask.shape)}"
    )


def _features(query: Tensor, key: Tensor, causal: bool, visible: Tensor | None) -> tuple[Tensor, Tensor]:
    """The features of the queries, and of the keys, where a hidden key has none."""
    if causal and query.shape[-2] != key.shape[-2]:
        raise ValueError(f"causal: expected as many keys as queries, got {query.shape[-2]} and {key.shape[-2]}")
    if visible is not None and visible.dtype != torch.bool:
        raise ValueError(f"visible: expected a boolean tensor, True = may be attended to; got {visible.dtype}")
    k = features(key)
    return features(query), k if visible is None else k * visible[..., None]
