"""The matrices that one head works with: what each is, and which cells of the ones before feed a cell.

A shape is told in axes: `query` and `key` are tokens, `dim` the head's d_k, `channel` d_model, `merged` all heads' dims
side by side.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from tfm_ui.lenses.attention.steps.derivation import Cell
from tfm_ui.lenses.attention.steps.one_head import OneHead

Region = tuple[int | None, int | None]  # row and column; None is all of them


@dataclass(frozen=True)
class Matrix:
    """One kind of matrix.

    Attributes:
        symbol: its letter.
        axes: of its rows and columns.
        role: whose colour its title has: query, key, value, result, or "".
        numbers: what is in it, for these query rows and key rows.
        fed_by: matrix -> the region there that a region here was computed from.
        weights: whether its numbers are weights, 0 to 1, and not signed.
    """

    symbol: str
    axes: tuple[str, str]
    role: str
    numbers: Callable[[OneHead, Cell, slice, slice], Tensor]
    fed_by: Callable[[OneHead, Cell, Region], Mapping[str, Region]] = lambda one, at, region: {}
    weights: bool = False


def _parameters(name: str) -> Callable[[OneHead, Cell, slice, slice], Tensor]:
    """(d_model, d_k): the columns of a projection that make this head's vectors."""

    def numbers(one: OneHead, at: Cell, queries: slice, keys: slice) -> Tensor:
        module = one.inside.module.get_submodule(name)
        assert isinstance(module, nn.Linear)
        return module.weight.detach().mT[:, one.head * one.head_dim : (one.head + 1) * one.head_dim]

    return numbers


def _mask(one: OneHead, at: Cell, queries: slice, keys: slice) -> Tensor:
    """As it is added: 0 or -inf."""
    visible = one.visible[queries, keys]
    return torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)


def _bias(one: OneHead, at: Cell, queries: slice, keys: slice) -> Tensor:
    return torch.zeros(1, 1) if one.bias is None else one.bias[queries, keys]


def _merged(one: OneHead, at: Cell, region: Region) -> Mapping[str, Region]:
    row, column = region
    if column is None:
        return {"head output": (row, None)}
    dim = column - one.head * one.head_dim
    return {"head output": (row, dim)} if 0 <= dim < one.head_dim else {}


MATRICES: dict[str, Matrix] = {
    "input": Matrix("X", ("query", "channel"), "", lambda one, at, q, k: one.inside.input[q]),
    "memory": Matrix("X′", ("key", "channel"), "", lambda one, at, q, k: one.inside.memory[k]),
    "query weights": Matrix("W_Q", ("channel", "dim"), "query", _parameters("query_projection")),
    "key weights": Matrix("W_K", ("channel", "dim"), "key", _parameters("key_projection")),
    "value weights": Matrix("W_V", ("channel", "dim"), "value", _parameters("value_projection")),
    "query": Matrix(
        "Q",
        ("query", "dim"),
        "query",
        lambda one, at, q, k: one.query[q],
        lambda one, at, region: {"input": (region[0], None), "query weights": (None, region[1])},
    ),
    "key": Matrix(
        "K",
        ("key", "dim"),
        "key",
        lambda one, at, q, k: one.key[k],
        lambda one, at, region: {"memory": (region[0], None), "key weights": (None, region[1])},
    ),
    "value": Matrix(
        "V",
        ("key", "dim"),
        "value",
        lambda one, at, q, k: one.value[k],
        lambda one, at, region: {"memory": (region[0], None), "value weights": (None, region[1])},
    ),
    "key transposed": Matrix("Kᵀ", ("dim", "key"), "key", lambda one, at, q, k: one.key[k].mT),
    "scores": Matrix(
        "S",
        ("query", "key"),
        "",
        lambda one, at, q, k: one.scores[q, k],
        lambda one, at, region: {
            "query": (region[0], None),
            "key": (region[1], None),
            "key transposed": (None, region[1]),
        },
    ),
    "bias": Matrix("B", ("query", "key"), "", _bias),
    "scaled": Matrix(
        "S′",
        ("query", "key"),
        "",
        lambda one, at, q, k: one.scaled_scores[q, k],
        lambda one, at, region: {"scores": region, "bias": region},
    ),
    "mask": Matrix("M", ("query", "key"), "", _mask),
    "masked": Matrix(
        "S″",
        ("query", "key"),
        "",
        lambda one, at, q, k: one.masked_scores[q, k],
        lambda one, at, region: {"scaled": region, "mask": region},
    ),
    "weights": Matrix(
        "A",
        ("query", "key"),
        "",
        lambda one, at, q, k: one.weights[q, k],
        lambda one, at, region: {"masked": (region[0], None)},
        weights=True,
    ),
    "weighted values": Matrix(
        "a V",
        ("key", "dim"),
        "value",
        lambda one, at, q, k: one.weighted_values(at.query)[k],
        lambda one, at, region: {"weights": (at.query, region[0]), "value": region},
    ),
    "head output": Matrix(
        "H",
        ("query", "dim"),
        "result",
        lambda one, at, q, k: one.output[q],
        lambda one, at, region: {
            "weights": (region[0], None),
            "value": (None, region[1]),
            **({"weighted values": (None, region[1])} if region[0] == at.query else {}),
        },
    ),
    "heads": Matrix("H₁ … Hₕ", ("query", "merged"), "result", lambda one, at, q, k: one.merged(q), _merged),
    "output weights": Matrix(
        "W_O",
        ("merged", "channel"),
        "result",
        lambda one, at, q, k: one.inside.module.output_projection.weight.detach().mT,
    ),
    "output": Matrix(
        "Y",
        ("query", "channel"),
        "result",
        lambda one, at, q, k: one.projected(q),
        lambda one, at, region: {"heads": (region[0], None), "output weights": (None, region[1])},
    ),
}


def place(name: str, one: OneHead, at: Cell) -> tuple[int, int]:
    """Where a matrix holds the cell that the reader looks at."""
    merged = one.head * one.head_dim + at.dim
    axes = {"query": at.query, "key": at.key, "dim": at.dim, "channel": at.channel, "merged": merged}
    row, column = MATRICES[name].axes
    return axes[row], axes[column]


def history(name: str, one: OneHead, at: Cell) -> dict[str, tuple[Region, int]]:
    """matrix -> (the region that fed the cell of `name`, how many steps before), back to the input."""
    found: dict[str, tuple[Region, int]] = {}
    edge: dict[str, Region] = {name: place(name, one, at)}
    steps = 0
    while edge:
        steps += 1
        before: dict[str, Region] = {}
        for matrix, region in edge.items():
            for source, fed in MATRICES[matrix].fed_by(one, at, region).items():
                seen = before.get(source)
                before[source] = fed if seen is None else _union(seen, fed)
        edge = {source: region for source, region in before.items() if source not in found}
        found |= {source: (region, steps) for source, region in edge.items()}
    return found


def _union(a: Region, b: Region) -> Region:
    """The smallest region that holds both."""
    return (a[0] if a[0] == b[0] else None), (a[1] if a[1] == b[1] else None)
