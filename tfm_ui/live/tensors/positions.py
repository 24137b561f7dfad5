"""Positional schemes without a model, as steps to take along: what they add, how they turn, what they add to scores."""

import torch
from torch import Tensor

from tfm_core.positional.schemes import Positional
from tfm_ui.live.tensors.attention import NEAR, bias_of, turns_of
from tfm_ui.live.tensors.step import Named, Step, held


def of_scheme(scheme: Positional, length: int, title: str, pair: tuple[Tensor, Tensor]) -> Step:
    """A scheme at its first positions.

    Args:
        scheme: the scheme, of the width and the heads that it was made for.
        length: how many positions.
        title: which it is.
        pair: (width) each, a query and a key, which are turned to each position where the scheme turns.
    """
    tensors = list[Named]()
    if "encode" in scheme.enters():
        tensors += _added(scheme, length)
    if "rotate" in scheme.enters():
        tensors += _turned(scheme, length, *pair)
    tensors += bias_of(scheme, scheme.num_heads, length, length)
    return Step(title, tensors, note="" if tensors else "This scheme has no numbers: it enters nowhere.")


def _added(scheme: Positional, length: int) -> list[Named]:
    """The vectors that are added to the embeddings, and the table or the waves that they are made of."""
    with torch.no_grad():
        made = scheme.encode(length)
    assert made is not None
    vectors, given, code, width = made.float(), list[Named](), "", scheme.d_model
    tables = [getattr(scheme, name).detach() for name, table in scheme.tables.items() if table.place == "encode"]
    wavelengths = scheme.wavelengths(width) if "encode" in scheme.waves_at else None
    if wavelengths is not None:
        turn = 2 * torch.pi / wavelengths
        given = [held("turn", ("pair",), turn, "how far each pair turns from a position to the next, in radians")]
        code = f"waves({length}, {width}, turn)"
    elif len(tables) == 1 and torch.allclose(tables[0][scheme.offset :][:length], vectors, rtol=NEAR, atol=NEAR):
        given = [held("table", ("position", "d_model"), tables[0], "a learned vector for each position")]
        code = f"table[{scheme.offset}:{scheme.offset + length}]"
    return [*given, held("encoding", ("position", "d_model"), vectors, "what is added to the embeddings", code)]


def _turned(scheme: Positional, length: int, query: Tensor, key: Tensor) -> list[Named]:
    """A query and a key turned to each position, and their scores."""
    turns = turns_of(scheme, len(query))
    code, tensors = f"rotated({{}}.expand({length}, -1), pairs, turn)" * bool(turns), [*turns]
    for name, vector in (("query", query), ("key", key)):
        with torch.no_grad():
            turned = scheme.rotate(vector.expand(1, 1, length, -1))
        assert turned is not None
        tensors.append(held(name, ("width",), vector, f"a {name}, drawn at random"))
        about = f"the {name}, turned to each position"
        tensors.append(held(f"{name}_turned", ("position", "width"), turned[0, 0], about, code.format(name)))
    left, right = tensors[-3], tensors[-1]

    def scores() -> Tensor:
        return left.numbers() @ right.numbers().mT

    about = "the dot product of each pair of positions"
    pairs = ("query position", "key position")
    return [*tensors, Named("scores", pairs, (length, length), about, scores, "query_turned @ key_turned.mT")]
