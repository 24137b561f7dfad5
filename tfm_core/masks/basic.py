"""Masks: who may see whom.

A mask is a boolean tensor and **True means "may attend"**, as in F.scaled_dot_product_attention. It has any
shape that broadcasts to (batch, head, query, key); (query, key) is the plainest. `None` hides nothing.
"""

import math
from collections.abc import Callable, Sequence
from functools import reduce

import torch
from torch import Tensor


def causal_mask(
    query_len: int, key_len: int | None = None, *, diagonal: int = 0, device: torch.device | str | None = None
) -> Tensor:
    """No looking ahead: (query, key), where the last query sees up to the last key. Vaswani et al. 2017, section 3.2.3.

    Args:
        query_len: number of queries.
        key_len: number of keys, `query_len` by default. With more keys than queries the surplus lies in
            the past (a cache); with fewer, the first queries see nothing.
        diagonal: how many tokens further each query sees, as in torch.tril; 1 is the usual slip, which leaks.
        device: where to make it, torch's default by default.

    Raises:
        ValueError: for a length below 1.

    Examples:
        >>> from tfm_core import causal_mask
        >>> causal_mask(3).int().tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
        >>> causal_mask(1, 3).tolist()  # a query with two earlier keys
        [[True, True, True]]
    """
    key_len = query_len if key_len is None else key_len
    if query_len < 1 or key_len < 1:
        raise ValueError(f"causal_mask: expected lengths of at least 1, got query_len={query_len}, key_len={key_len}")
    return torch.ones(query_len, key_len, dtype=torch.bool, device=device).tril(key_len - query_len + diagonal)


def padding_mask(tokens: Tensor, pad_id: int = 0) -> Tensor:
    """Nobody looks at padding: (batch, 1, 1, key) from token ids (batch, key).

    The opposite of nn.MultiheadAttention's key_padding_mask, with axes for head and query.

    Args:
        tokens: token ids (batch, key).
        pad_id: the token that stands for padding.

    Raises:
        ValueError: for token ids of another shape.

    Examples:
        >>> import torch
        >>> from tfm_core import padding_mask
        >>> padding_mask(torch.tensor([[5, 6, 0]])).tolist()
        [[[[True, True, False]]]]
    """
    if tokens.dim() != 2:
        raise ValueError(f"padding_mask: expected token ids of shape (batch, key), got {tuple(tokens.shape)}")
    return (tokens != pad_id)[:, None, None, :]


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """Masks joined by "and": a pair may attend where all allow it. `None` hides nothing; all `None` gives `None`.

    Args:
        masks: boolean, True = may attend; each broadcasts to (batch, head, query, key).

    Raises:
        ValueError: for masks that are not boolean, or of shapes that do not broadcast together.

    Examples:
        >>> import torch
        >>> from tfm_core import causal_mask, combine_masks, padding_mask
        >>> mask = combine_masks(causal_mask(3), padding_mask(torch.tensor([[5, 6, 0]])))
        >>> mask.shape
        torch.Size([1, 1, 3, 3])
        >>> mask[0, 0].int().tolist()
        [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    """
    return _fold("combine_masks", torch.logical_and, [mask for mask in masks if mask is not None])


def either_mask(*masks: Tensor | None) -> Tensor | None:
    """Masks joined by "or": a pair may attend where any allows it. One `None`, which hides nothing, gives `None`.

    Args:
        masks: boolean, True = may attend; each broadcasts to (batch, head, query, key).

    Raises:
        ValueError: for masks that are not boolean, or of shapes that do not broadcast together.

    Examples:
        >>> from tfm_core import either_mask, global_mask, window_mask
        >>> either_mask(window_mask(4, window=1), global_mask(4, tokens=[0])).int().tolist()
        [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 1]]
    """
    given = [mask for mask in masks if mask is not None]
    return _fold("either_mask", torch.logical_or, given) if len(given) == len(masks) else None


def _fold(name: str, how: Callable[[Tensor, Tensor], Tensor], masks: Sequence[Tensor]) -> Tensor | None:
    try:
        return reduce(how, map(check_mask, masks)) if masks else None
    except RuntimeError:
        shapes = ", ".join(str(tuple(mask.shape)) for mask in masks)
        raise ValueError(f"{name}: expected shapes that broadcast together, got {shapes}") from None


def check_mask(mask: Tensor, shape: Sequence[int] | None = None, *, name: str = "mask") -> Tensor:
    """Return the mask if it is one: boolean, and broadcasting to `shape` (batch, head, query, key).

    Raises:
        ValueError: naming what was expected and what came.
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise ValueError(f"{name}: expected a tensor of dtype torch.bool (True = may attend), got {got}")
    if shape is not None:
        pairs = zip(reversed(mask.shape), reversed(shape), strict=False)
        if mask.dim() > len(shape) or any(have not in (1, want) for have, want in pairs):
            axes = "(batch, head, query, key)" if len(shape) == 4 else "(..., query, key)"
            raise ValueError(
                f"{name}: expected a shape that broadcasts to {axes} = {tuple(shape)}, got {tuple(mask.shape)}"
            )
    return mask


def to_additive(mask: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """The float mask that is added to the scores: 0 where a pair may attend, -inf where not.

    So F.scaled_dot_product_attention and nn.MultiheadAttention take a float attn_mask.

    Args:
        mask: boolean, True = may attend, of any shape, such as (query, key).
        dtype: of the result, which has the same shape.

    Raises:
        ValueError: for a mask that is not boolean.

    Examples:
        >>> from tfm_core import causal_mask, to_additive
        >>> to_additive(causal_mask(2)).tolist()
        [[0.0, -inf], [0.0, 0.0]]
    """
    return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill(~check_mask(mask), -math.inf)


def to_ignore(mask: Tensor) -> Tensor:
    """The opposite convention, True = ignore, of nn.MultiheadAttention's attn_mask and key_padding_mask.

    Args:
        mask: boolean, True = may attend, of any shape, such as (query, key); the result has the same shape.

    Raises:
        ValueError: for a mask that is not boolean.

    Examples:
        >>> import torch
        >>> from tfm_core import causal_mask, to_ignore
        >>> attention, x = torch.nn.MultiheadAttention(4, 2, batch_first=True), torch.ones(1, 3, 4)
        >>> output, weights = attention(x, x, x, attn_mask=to_ignore(causal_mask(3)))
        >>> weights[0, 0].tolist()  # the first query sees itself alone
        [1.0, 0.0, 0.0]
    """
    return ~check_mask(mask)
