"""Exercises of positions: sines and cosines, what turns, and what is added to scores."""

import torch
from torch import Tensor

from tfm_core.checks.exercises.beside import Beside, Function, Slip, of_piece, randn
from tfm_core.checks.exercises.coding import Coding
from tfm_core.checks.exercises.fixed import Fixed
from tfm_core.positional.maths import alibi_slopes, apply_rotary
from tfm_core.study import pieces


def positional_encoding(seq_len: int, d_model: int) -> Tensor:
    """The table of Vaswani et al. 2017, (seq_len, d_model): position p, pair i, angle p / 10,000^(2i / d_model)."""
    places = torch.arange(seq_len)[:, None]
    # blank: how far each pair of dimensions turns from one position to the next: 10,000^(−2i / d_model)
    frequencies = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = places * frequencies
    encoding = torch.empty(seq_len, d_model)
    # blank: sines in the even columns
    encoding[:, 0::2] = angles.sin()
    # blank: cosines in the odd columns, of which an odd d_model has one fewer
    encoding[:, 1::2] = angles[:, : d_model // 2].cos()
    return encoding


def rotate(x: Tensor) -> Tensor:
    """RoPE: queries or keys (…, seq, width), each pair of dimensions (i, i + width / 2) turned by its position."""
    half = x.shape[-1] // 2
    frequencies = 10000.0 ** (-torch.arange(half) / half)
    # blank: the angle of each pair at each position, (seq, width / 2): position times frequency
    angles = torch.arange(x.shape[-2])[:, None] * frequencies
    first, second = x[..., :half], x[..., half:]
    # blank: the first halves, turned: first · cos − second · sin
    turned_first = first * angles.cos() - second * angles.sin()
    # blank: the second halves, turned: second · cos + first · sin
    turned_second = second * angles.cos() + first * angles.sin()
    return torch.cat([turned_first, turned_second], dim=-1)


def alibi_bias(num_heads: int, seq: int) -> Tensor:
    """What ALiBi adds to the scores, (head, query, key), where num_heads is a power of two."""
    # blank: a slope for each head: 2^(−8 h / num_heads) for h = 1, 2, …
    slopes = 2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads)
    places = torch.arange(seq)
    # blank: how far each key stands from each query, (query, key)
    distance = (places[:, None] - places).abs()
    # blank: the further away, the lower the score, by the slope of each head
    return -slopes[:, None, None] * distance


def _turned(wrong: Function, which: int = 0) -> Function:
    """What a wrong rotation makes of queries (0) or of keys (1)."""
    return lambda x: wrong(x, x, x, 0)[which]


def _bias(slopes: Tensor, seq: int) -> Tensor:
    return pieces.bias(torch.zeros(len(slopes), seq, seq, dtype=slopes.dtype), slopes)


TURNS = of_piece("rotate")
SLOPES = {
    name: wrong
    for name, wrong in of_piece("slopes", lambda wrong: lambda num_heads, seq: _bias(wrong(num_heads), seq)).items()
    if name in ("ALiBi with a single slope", "ALiBi slopes begin at 1")
}
OF_POSITIONS = {
    "positional-encoding": Coding(
        title="Sines and cosines",
        task="Write the table of sines and cosines: sines in the even columns, cosines in the odd ones.",
        solution=positional_encoding,
        check="check_positional",
        fixed=Fixed(
            asks="The task asks for a table (seq_len, d_model), whose d_model may be odd.",
            calls=lambda _: [(7, 6), (4, 5)],
        ),
    ),
    "rope-turns": Coding(
        title="RoPE turns",
        task="Turn each pair of dimensions by an angle that grows with the position.",
        solution=rotate,
        check=Beside(
            name="rotate",
            right=apply_rotary,
            calls=lambda g: [(randn(g, 2, 3, 7, 8),)],
            mistakes={
                name: _turned(TURNS[name], which)
                for name, which in {
                    "RoPE pairs neighbours": 0,
                    "RoPE turns keys the other way": 1,
                    "RoPE in degrees": 0,
                    "RoPE along the heads": 0,
                }.items()
            },
            slips=[
                Slip(
                    lambda x: apply_rotary(x, torch.arange(1, x.shape[-2] + 1)),
                    "Positions are counted from 1. Scores do not change by that, as only distances count; others’ "
                    "code counts from 0.",
                    "The first token stands at position 0: torch.arange(seq).",
                )
            ],
        ),
    ),
    "alibi-slopes": Coding(
        title="ALiBi’s slopes",
        task="Write what ALiBi adds to the scores of each head: minus its slope times the distance.",
        solution=alibi_bias,
        check=Beside(
            name="alibi_bias",
            right=lambda num_heads, seq: _bias(alibi_slopes(num_heads), seq),
            calls=lambda _: [(8, 6), (4, 5)],
            mistakes={**SLOPES, "ALiBi’s sign": lambda num_heads, seq: -_bias(alibi_slopes(num_heads), seq)},
        ),
    ),
}
