"""The equations of the positional schemes, as pure functions; `schemes.py` makes modules of them."""

import math
from functools import lru_cache

import torch
from torch import Tensor


def sinusoidal_encoding(seq_len: int, d_model: int, *, base: float = 10000.0, start: int = 0) -> Tensor:
    """Fixed sines and cosines of falling frequency, float32 (seq_len, d_model).

    PE(pos, 2i) = sin(pos / base^(2i / d_model)), PE(pos, 2i+1) = cos(the same): sine in the even columns,
    cosine in the odd ones; an odd d_model ends in a sine. Positions are `start` to start + seq_len - 1. Vaswani et
    al. 2017, section 3.5.

    Raises:
        ValueError: for a seq_len or d_model below 1, a base that is not positive, or a start before the first position.

    Examples:
        >>> from tfm_core import sinusoidal_encoding
        >>> sinusoidal_encoding(10, 4).shape
        torch.Size([10, 4])
        >>> sinusoidal_encoding(1, 4).tolist()  # sin 0 and cos 0
        [[0.0, 1.0, 0.0, 1.0]]
    """
    if seq_len < 1 or d_model < 1 or not base > 0 or start < 0:
        raise ValueError(
            "sinusoidal_encoding: expected seq_len >= 1, d_model >= 1, base > 0, start >= 0; "
            f"got {seq_len}, {d_model}, {base}, {start}"
        )
    positions = torch.arange(start, start + seq_len)
    angles = _angles(positions, d_model, base, torch.float64)  # (seq, ceil(d_model / 2))
    encoding = torch.empty(seq_len, d_model, dtype=torch.float32)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles[:, : d_model // 2].cos()
    return encoding


def apply_rotary(
    x: Tensor, positions: Tensor | None = None, *, base: float = 10000.0, neighbours: bool = False
) -> Tensor:
    """Turn each pair of dimensions (i, i + width/2) by the angle position / base^(2i / width).

    The dot product of two vectors so turned depends on their distance alone. Su et al. 2021 (RoFormer),
    equation 34, with the halves paired as in GPT-NeoX and in transformers' Llama; or, as the paper writes it, with
    neighbours paired, (2i, 2i + 1), as in GPT-J and in Meta's Llama. The same numbers in another order: `rotary_pairs`.

    Args:
        x: (..., seq, width), width even; queries or keys, one head at a time.
        positions: broadcasts to (..., seq); 0 to seq - 1 by default. Need not be whole numbers.
        base: the slowest pair turns once in 2 pi base^((width - 2) / width) positions.
        neighbours: whether dimensions 2i and 2i + 1 are a pair.

    Returns:
        The same shape and dtype. Angles are worked out in x's dtype, in float32 at the least.

    Raises:
        ValueError: for an odd width, whole numbers, or positions of another length.

    Examples:
        >>> import torch
        >>> from tfm_core import apply_rotary
        >>> query, key = torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(0))
        >>> def score(i, j):
        ...     return apply_rotary(query, torch.tensor([i])) @ apply_rotary(key, torch.tensor([j])).mT
        >>> torch.allclose(score(5, 2), score(105, 102), atol=1e-4)  # the distance alone counts
        True
    """
    if x.dim() < 2 or x.shape[-1] % 2 or not x.is_floating_point():
        raise ValueError(
            f"apply_rotary: expected floats (..., seq, width) with an even width, got {tuple(x.shape)}, {x.dtype}"
        )
    if positions is None:
        positions = torch.arange(x.shape[-2], device=x.device)
    if positions.shape[-1:] not in ((), (1,), (x.shape[-2],)):
        raise ValueError(f"apply_rotary: expected positions of {x.shape[-2]} places, got {tuple(positions.shape)}")
    angles = _angles(positions, x.shape[-1], base, torch.promote_types(x.dtype, torch.float32))
    return turn_pairs(x, angles.cos(), angles.sin(), neighbours=neighbours)


def turn_pairs(x: Tensor, cos: Tensor, sin: Tensor, *, neighbours: bool = False) -> Tensor:
    """What `apply_rotary` does with the cosines and sines of its angles, (..., seq, width / 2); x's shape and dtype."""
    first, second = (x[..., 0::2], x[..., 1::2]) if neighbours else x.chunk(2, dim=-1)
    turned = first * cos - second * sin, second * cos + first * sin
    return (torch.stack(turned, dim=-1).flatten(-2) if neighbours else torch.cat(turned, dim=-1)).to(x.dtype)


@lru_cache(maxsize=8)  # of one pass: all of its layers turn by the same angles
def rotary_turns(start: int, seq_len: int, width: int, base: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The cosines and sines by which `apply_rotary` turns positions `start` and up, (seq, width / 2), on the CPU."""
    angles = _angles(torch.arange(start, start + seq_len), width, base, torch.promote_types(dtype, torch.float32))
    return angles.cos(), angles.sin()


def rotary_pairs(width: int, *, neighbours: bool = False) -> Tensor:
    """Which dimensions `apply_rotary` turns together, int64 (pair, 2)."""
    dimensions = torch.arange(width)
    return dimensions.view(-1, 2) if neighbours else dimensions.view(2, -1).mT


def _angles(positions: Tensor, width: int, base: float, dtype: torch.dtype) -> Tensor:
    """position x frequency, (..., seq, ceil(width / 2)), the frequencies base^(-2i / width)."""
    return positions.to(dtype)[..., None] * frequencies(width, base, positions.device).to(dtype)


def frequencies(width: int, base: float, device: torch.device | None = None) -> Tensor:
    """How far each pair of dimensions turns from one position to the next, float64 (pair), in radians."""
    steps = torch.arange(0, width, 2, dtype=torch.float64, device=device)
    return base ** (-steps / width)


def alibi_slopes(num_heads: int) -> Tensor:
    """How fast each head forgets with distance, float64 (head,): 2^(-8 h / num_heads) for h = 1 ... num_heads.

    For a number of heads that is no power of two, the slopes of the next lower power come first, then every
    second one of the next higher. Press et al. 2022 (ALiBi), section 3 and the authors' code.

    Raises:
        ValueError: for no head.

    Examples:
        >>> from tfm_core import alibi_slopes
        >>> alibi_slopes(4).tolist()
        [0.25, 0.0625, 0.015625, 0.00390625]
    """

    def geometric(heads: int) -> list[float]:
        return [2.0 ** (-8.0 * (h + 1) / heads) for h in range(heads)]

    if num_heads < 1:
        raise ValueError(f"alibi_slopes: expected at least 1 head, got {num_heads}")
    lower = 2 ** int(math.log2(num_heads))
    slopes = geometric(lower) + geometric(2 * lower)[::2][: num_heads - lower]
    return torch.tensor(slopes, dtype=torch.float64)


def t5_buckets(distance: Tensor, *, bidirectional: bool, num_buckets: int = 32, max_distance: int = 128) -> Tensor:
    """Which row of the bias table a distance key - query falls into; ids of the same shape.

    Half of the buckets hold one distance each, the other half grow logarithmically up to `max_distance`;
    all beyond share the last. Two-sided, one half of the table is for keys ahead; one-sided, keys ahead share
    the bucket of distance 0, as a causal mask hides them anyway. Raffel et al. 2020 (T5), section 2.1.

    Args:
        distance: int64, key - query in tokens, any shape.
        bidirectional: whether keys ahead have buckets of their own.
        num_buckets: rows of the table.
        max_distance: tokens from which on all share a bucket at the latest.

    Raises:
        ValueError: for fewer than 2 buckets a side, or a max_distance within those that hold one distance each.

    Examples:
        >>> import torch
        >>> from tfm_core import t5_buckets
        >>> t5_buckets(torch.tensor([0, -1, -2, -200, -500]), bidirectional=False).tolist()
        [0, 1, 2, 31, 31]
    """
    if bidirectional:
        num_buckets //= 2
    if num_buckets < 2 or max_distance <= num_buckets // 2:
        raise ValueError(
            f"t5_buckets: expected 2 buckets or more a side and a max_distance beyond half of them, "
            f"got {num_buckets} a side and {max_distance}"
        )
    if bidirectional:
        side = (distance > 0).long() * num_buckets
        distance = distance.abs()
    else:
        side = torch.zeros_like(distance)
        distance = (-distance).clamp(min=0)
    exact = num_buckets // 2
    ratio = torch.log(distance.clamp(min=1).float() / exact) / math.log(max_distance / exact)
    far = (exact + (ratio * (num_buckets - exact)).long()).clamp(max=num_buckets - 1)
    return side + torch.where(distance < exact, distance, far)


def t5_shared_from(*, bidirectional: bool, num_buckets: int = 32, max_distance: int = 128) -> int:
    """The first distance back whose bucket all farther keys share: it comes before `max_distance`."""
    behind = -torch.arange(max_distance + 1)
    sizes = {"num_buckets": num_buckets, "max_distance": max_distance}
    buckets = t5_buckets(behind, bidirectional=bidirectional, **sizes)
    return int((buckets == buckets[-1]).nonzero()[0])
