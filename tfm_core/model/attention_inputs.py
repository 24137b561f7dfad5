"""What multi-head attention can be given; anything else is an error that says what was expected and what came."""

from torch import Tensor

from tfm_core.masks.basic import check_mask


def check_inputs(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, *, d_model: int, num_heads: int, start: int = 0
) -> None:
    """Raise a ValueError unless attention of this width can work with these.

    Args:
        query: (batch, query, d_model).
        key: (batch, key, d_model).
        value: (batch, key, d_model).
        mask: boolean, broadcasts to (batch, head, query, start + key).
        d_model: of the attention.
        num_heads: likewise.
        start: how many keys are stored before these.
    """
    for name, x in (("query", query), ("key", key), ("value", value)):
        shape = x.shape
        if len(shape) != 3 or shape[-1] != d_model or 0 in shape:
            expected = f"(batch, seq, d_model={d_model})"
            raise ValueError(f"{name}: expected a non-empty {expected}, got {tuple(shape)}")
    if key.shape != value.shape or query.shape[0] != key.shape[0]:
        raise ValueError(
            "expected query, key and value of one batch, key and value of one length; "
            f"got {tuple(query.shape)}, {tuple(key.shape)}, {tuple(value.shape)}"
        )
    if mask is not None:
        check_mask(mask, (query.shape[0], num_heads, query.shape[1], start + key.shape[1]))
