"""Contributions, beside attention weights: a weight says nothing of the length of the vector that it multiplies."""

from torch import Tensor


def contribution_norms(weights: Tensor, value: Tensor, output_weight: Tensor) -> Tensor:
    """||a_ij v_j W_O||, how long the contribution of key j to query i is, (..., query, key).

    The sum over j of the vectors themselves is the head's share of the attention's output. A weight is not negative, so
    the norm is a_ij ||v_j W_O||. Kobayashi et al. 2020, "Attention is Not Only a Weight", where v W_O is called f(x).

    Args:
        weights: (..., query, key), a.
        value: (..., key, head_dim), v.
        output_weight: (..., head_dim, d_model), the rows of W_O that the head is multiplied with.

    Raises:
        ValueError: for shapes that do not fit.
    """
    shapes = tuple(weights.shape), tuple(value.shape), tuple(output_weight.shape)
    if min(map(len, shapes)) < 2 or shapes[0][-1] != shapes[1][-2] or shapes[1][-1] != shapes[2][-2]:
        raise ValueError(
            "expected weights (..., query, key), value (..., key, head_dim), output_weight (..., head_dim, d_model); "
            f"got {', '.join(map(str, shapes))}"
        )
    written: Tensor = (value @ output_weight).norm(dim=-1)  # (..., key)
    return weights.abs() * written[..., None, :]
