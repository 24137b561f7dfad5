"""The matrices of one head, from its input to its output, with switches that the reader may move.

What each holds, from which cells of earlier matrices a cell is computed, which of them stand beside each other at each
step, and what each step makes, in words.

Axes have names: `query` and `key` count tokens, `dim` the head's d_k, `channel` d_model, and `merged` the dimensions of
all heads side by side.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from tfm_core import attention_scores, attention_weights, mask_scores
from tfm_ui.live.inside import Inside

Region = tuple[int | None, int | None]  # a row and a column, from 0; None stands for all rows or all columns


@dataclass(frozen=True)
class Cell:
    """A place in the matrices of one head; all numbers count from 0.

    Attributes:
        query, key: a token each.
        dim: of the head's head_dim.
        channel: of d_model.
    """

    query: int
    key: int
    dim: int
    channel: int


@dataclass(frozen=True)
class HeadSteps:
    """The steps of one head. While no switch is moved, their numbers are what the model computed, to the last digit.

    Attributes:
        inside: the attention that it belongs to.
        number: which, from 0.
        scaled: whether scores are divided by the root of d_k.
        masked: whether the mask is obeyed.
        temperature: what the scores are divided by after scaling and bias.
        queries, keys: a label per row and per column, padding included.
        positional: the name of the positional scheme that acts in this attention; "none" where there is none.
        crosses: whether queries and keys come from two texts.
    """

    inside: Inside
    number: int
    scaled: bool
    masked: bool
    temperature: float
    queries: list[str]
    keys: list[str]
    positional: str
    crosses: bool

    @property
    def as_in_the_model(self) -> bool:
        """Whether every switch stands as the model has it."""
        return self.scaled and self.masked and self.temperature == 1

    @property
    def head_dim(self) -> int:
        """d_k."""
        return self.inside.head_dim

    @property
    def visible(self) -> Tensor:
        """Boolean (query, key): whether the query may see the key; all True if the mask is switched off."""
        return self.inside.visible if self.masked else torch.ones_like(self.inside.visible)

    @cached_property
    def query(self) -> Tensor:
        """(query, head_dim): the queries, rotated if the positional scheme rotates them."""
        return self.inside.query[self.number]

    @cached_property
    def key(self) -> Tensor:
        """(key, head_dim): the keys, rotated if the positional scheme rotates them."""
        return self.inside.key[self.number]

    @cached_property
    def value(self) -> Tensor:
        """(key, head_dim): the values."""
        return self.inside.value[self.number]

    @cached_property
    def bias(self) -> Tensor | None:
        """(query, key): the bias that the positional scheme adds to the scores; None if it adds none."""
        return self.inside.origin.bias(self.number)

    @cached_property
    def scores(self) -> Tensor:
        """(query, key): the plain dot products."""
        return attention_scores(self.query[None], self.key[None], scale=1.0)[0]

    @cached_property
    def scaled_scores(self) -> Tensor:
        """(query, key): the scores, scaled, with the positional scheme's bias added, and divided by the temperature."""
        return self._scaled(self.number, slice(None))

    @cached_property
    def masked_scores(self) -> Tensor:
        """(query, key): the scaled scores, and -inf where the query may not see the key."""
        return mask_scores(self.scaled_scores, self.visible)

    @cached_property
    def weights(self) -> Tensor:
        """(query, key): the softmax of each row of the masked scores; a row that may see nothing is 0."""
        return attention_weights(self.masked_scores, self.visible)

    @cached_property
    def output(self) -> Tensor:
        """(query, head_dim): for each query, the sum of the values times their weights."""
        return self.inside.recorded["head_output"][self.number] if self.as_in_the_model else self.weights @ self.value

    def weighted_values(self, query: int) -> Tensor:
        """(key, head_dim): each key's value times its weight, for one query, counted from 0."""
        return self.weights[query, :, None] * self.value

    def parameters(self, role: str) -> Tensor:
        """(d_model, head_dim): the columns of a projection that make this head's queries, keys or values."""
        weight, first = self.inside.projection(role).weight.detach(), self.inside.first_row(role, self.number)
        return weight.mT[:, first : first + self.head_dim]

    def mask(self, queries: slice, keys: slice) -> Tensor:
        """(query, key): the mask as it is added to the scores, 0 or -inf."""
        visible = self.visible[queries, keys]
        return torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)

    def merged(self, rows: slice) -> Tensor:
        """(rows, d_model): all heads side by side, for these queries."""
        outputs = self.inside.recorded["head_output"][:, rows]
        if not self.as_in_the_model:
            outputs = torch.stack([self._gathered(head, rows) for head in range(len(outputs))])
        return outputs.transpose(0, 1).flatten(1)  # (head, rows, head_dim) -> (rows, d_model)

    def projected(self, rows: slice) -> Tensor:
        """(rows, d_model): what the attention adds to the residual stream, for these queries."""
        if self.as_in_the_model:
            return self.inside.recorded["output"][rows]
        with torch.no_grad():
            projected: Tensor = self.inside.module.output_projection(self.merged(rows))
        return projected

    def _scaled(self, head: int, rows: slice) -> Tensor:
        factor = 1 / math.sqrt(self.head_dim) if self.scaled else 1.0
        scores = self.inside.origin.scores(head, scale=factor, rows=rows)
        return scores if self.temperature == 1 else scores / self.temperature

    def _gathered(self, head: int, rows: slice) -> Tensor:
        visible = self.visible[rows]
        return attention_weights(mask_scores(self._scaled(head, rows), visible), visible) @ self.inside.value[head]


@dataclass(frozen=True)
class Matrix:
    """One kind of matrix."""

    symbol: str
    """Its letter in formulas."""

    axes: tuple[str, str]
    """The names of the axes of its rows and columns."""

    role: str = ""
    """Which role's colour its title has: query, key, value, result, or "" for none."""

    weights: bool = False
    """Whether its numbers are weights, from 0 to 1, rather than signed numbers."""


MATRICES: dict[str, Matrix] = {
    "input": Matrix("X", ("query", "channel")),
    "memory": Matrix("X′", ("key", "channel")),
    "query weights": Matrix("W_Q", ("channel", "dim"), "query"),
    "key weights": Matrix("W_K", ("channel", "dim"), "key"),
    "value weights": Matrix("W_V", ("channel", "dim"), "value"),
    "query": Matrix("Q", ("query", "dim"), "query"),
    "key": Matrix("K", ("key", "dim"), "key"),
    "value": Matrix("V", ("key", "dim"), "value"),
    "key transposed": Matrix("Kᵀ", ("dim", "key"), "key"),
    "scores": Matrix("S", ("query", "key")),
    "bias": Matrix("B", ("query", "key")),
    "scaled": Matrix("S′", ("query", "key")),
    "mask": Matrix("M", ("query", "key")),
    "masked": Matrix("S″", ("query", "key")),
    "weights": Matrix("A", ("query", "key"), weights=True),
    "weighted values": Matrix("a V", ("key", "dim"), "value"),
    "head output": Matrix("H", ("query", "dim"), "result"),
    "heads": Matrix("H₁ … Hₕ", ("query", "merged"), "result"),
    "output weights": Matrix("W_O", ("merged", "channel"), "result"),
    "output": Matrix("Y", ("query", "channel"), "result"),
}


# A matrix -> its numbers for a head, a cell, a slice of the queries and one of the keys.
NUMBERS: dict[str, Callable[[HeadSteps, Cell, slice, slice], Tensor]] = {
    "input": lambda head, at, q, k: head.inside.input[q],
    "memory": lambda head, at, q, k: head.inside.memory[k],
    "query weights": lambda head, at, q, k: head.parameters("query"),
    "key weights": lambda head, at, q, k: head.parameters("key"),
    "value weights": lambda head, at, q, k: head.parameters("value"),
    "query": lambda head, at, q, k: head.query[q],
    "key": lambda head, at, q, k: head.key[k],
    "value": lambda head, at, q, k: head.value[k],
    "key transposed": lambda head, at, q, k: head.key[k].mT,
    "scores": lambda head, at, q, k: head.scores[q, k],
    "bias": lambda head, at, q, k: torch.zeros(1, 1) if head.bias is None else head.bias[q, k],
    "scaled": lambda head, at, q, k: head.scaled_scores[q, k],
    "mask": lambda head, at, q, k: head.mask(q, k),
    "masked": lambda head, at, q, k: head.masked_scores[q, k],
    "weights": lambda head, at, q, k: head.weights[q, k],
    "weighted values": lambda head, at, q, k: head.weighted_values(at.query)[k],
    "head output": lambda head, at, q, k: head.output[q],
    "heads": lambda head, at, q, k: head.merged(q),
    "output weights": lambda head, at, q, k: head.inside.module.output_projection.weight.detach().mT,
    "output": lambda head, at, q, k: head.projected(q),
}


def fed_by(name: str, head: HeadSteps, at: Cell, region: Region) -> Mapping[str, Region]:
    """Matrix -> the region of it that a region of this matrix was computed from."""
    row, column = region
    match name:
        case "query":
            return {"input": (row, None), "query weights": (None, column)}
        case "key" | "value":
            return {"memory": (row, None), f"{name} weights": (None, column)}
        case "scores":
            return {"query": (row, None), "key": (column, None), "key transposed": (None, column)}
        case "scaled":
            return {"scores": region, "bias": region}
        case "masked":
            return {"scaled": region, "mask": region}
        case "weights":
            return {"masked": (row, None)}
        case "weighted values":
            return {"weights": (at.query, row), "value": region}
        case "head output":
            of_query = {"weighted values": (None, column)} if row == at.query else {}
            return {"weights": (row, None), "value": (None, column), **of_query}
        case "heads":
            dim = None if column is None else column - head.number * head.head_dim
            return {"head output": (row, dim)} if dim is None or 0 <= dim < head.head_dim else {}
        case "output":
            return {"heads": (row, None), "output weights": (None, column)}
    return {}


def places(head: HeadSteps, at: Cell) -> dict[str, int]:
    """Axis -> where on it the cell is that the reader looks at, from 0."""
    merged = head.number * head.head_dim + at.dim
    return {"query": at.query, "key": at.key, "dim": at.dim, "channel": at.channel, "merged": merged}


def history(name: str, head: HeadSteps, at: Cell) -> dict[str, tuple[Region, int]]:
    """The cell itself and what it was computed from, back to the input.

    Args:
        name: the matrix that holds the cell.
        head: the head.
        at: the cell.

    Returns:
        Matrix -> the region of it that fed the cell, and how many steps before.
    """
    row, column = (places(head, at)[axis] for axis in MATRICES[name].axes)
    edge: dict[str, Region] = {name: (row, column)}
    fed_from, steps = {name: (edge[name], 0)}, 0
    while edge:
        steps += 1
        before: dict[str, Region] = {}
        for matrix, region in edge.items():
            for source, fed in fed_by(matrix, head, at, region).items():
                other = before.get(source)
                before[source] = fed if other is None else _union(other, fed)
        edge = {source: region for source, region in before.items() if source not in fed_from}
        fed_from |= {source: (region, steps) for source, region in edge.items()}
    return fed_from


def _union(a: Region, b: Region) -> Region:
    """The smallest region that holds both."""
    return (a[0] if a[0] == b[0] else None), (a[1] if a[1] == b[1] else None)


# What stands beside each other at a step: matrices by name, and what is done with them in between.
SCENES: dict[str, tuple[str, ...]] = {
    "input": ("input",),
    "query": ("input", "×", "query weights", "=", "query"),
    "key": ("memory", "×", "key weights", "=", "key"),
    "value": ("memory", "×", "value weights", "=", "value"),
    "scores": ("query", "×", "key transposed", "=", "scores"),
    "scaled": ("scores", "scale", "bias", "=", "scaled"),
    "masked": ("scaled", "+", "mask", "=", "masked"),
    "weights": ("masked", "softmax", "weights"),
    "weighted values": ("weights", "row ×", "value", "=", "weighted values"),
    "head output": ("weights", "×", "value", "=", "head output"),
    "heads": ("head output", "beside the others", "heads"),
    "output": ("heads", "×", "output weights", "=", "output"),
}
WHAT = {
    "input": "What the attention reads: a vector per token.",
    "query": "What each token asks for.",
    "key": "What each token answers to.",
    "value": "What each token has to give.",
    "scores": "How well each query matches each key.",
    "scaled": "The scores divided by √dₖ.",
    "masked": "The score of a key that the query may not see is set to −∞.",
    "weights": "The softmax of each row, which sums to 1.",
    "weighted values": "Each value times its weight, for one query.",
    "head output": "For each query, the sum of all values times their weights.",
    "heads": "The outputs of all heads side by side.",
    "output": "What the attention adds to the residual stream.",
}


def shared_by(head: HeadSteps, what: str) -> str:
    """Which heads have the same keys or values, in a sentence; "" where each has its own."""
    sharing = head.inside.sharing(head.number)
    if len(sharing) == 1:
        return ""
    sets = head.inside.module.num_kv_heads
    return f"Heads {sharing[0] + 1} to {sharing[-1] + 1} share these {what}: {sets} sets for {head.inside.heads} heads."


def what(step: str, head: HeadSteps) -> str:
    """What a step computes in this head, in words, with its switches and temperature as they are set."""
    if step == "masked" and not head.masked:
        return "The mask is off: every query sees every key, padding included."
    if step in ("key", "value"):
        return " ".join(filter(None, [WHAT[step], shared_by(head, f"{step}s")]))
    if step != "scaled":
        return WHAT[step]
    words = [WHAT[step] if head.scaled else "The scores as they are: the division by √dₖ is off."]
    words += [f"The bias of {head.positional} is added."] if head.bias is not None else []
    words += [f"The result is divided by the temperature, {head.temperature:g}."] if head.temperature != 1 else []
    return " ".join(words)
