"""What is drawn of one head: the matrices of a step or of all, what feeds a cell, and the cell's number in words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.derivation import Derivation, code, derivation, lines_of
from tfm_ui.pictures.steps.matrices import (
    MATRICES,
    NUMBERS,
    SCENES,
    WHAT,
    Cell,
    HeadSteps,
    Region,
    history,
    places,
    what,
)
from tfm_ui.text import formats, head_sentences

WINDOW = 24  # tokens a side at a time: more cells than that cannot be pointed at
CHANNELS = 32  # numbers of a vector at a time
PLURALS = {
    "query": "queries",
    "key": "keys",
    "dim": "dimensions",
    "channel": "channels",
    "merged": "columns of all heads",
}


@dataclass(frozen=True)
class Scene:
    """One head at one step, or at all of them.

    Attributes:
        head: the head, with its switches.
        at: the cell in focus.
        step: which matrix holds the cell, one of `STEPS`.
        whole: whether all matrices stand on the stage, or those of the step alone.
        origin: where the model's parameters come from, such as "drawn at random from the seed"; "" if it is not told.
    """

    head: HeadSteps
    at: Cell
    step: str
    whole: bool
    origin: str = ""

    @cached_property
    def derived(self) -> Derivation:
        """How the number of the cell in focus came about."""
        return derivation(self.head, self.step, self.at)

    @cached_property
    def windows(self) -> dict[str, slice]:
        """Axis -> the part of it that is shown: all of it, or what is around the cell in long texts or vectors."""
        return {
            axis: window(at, self.sizes[axis], WINDOW if axis in ("query", "key") else CHANNELS)
            for axis, at in places(self.head, self.at).items()
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Axis -> how long it is."""
        head, d_model = self.head, self.head.inside.module.d_model
        tokens = {"query": len(head.queries), "key": len(head.keys)}
        return tokens | {"dim": head.head_dim, "channel": d_model, "merged": d_model}

    @property
    def parts(self) -> tuple[str, ...]:
        """The matrices and the signs between them, from left to right."""
        names = STEPS if self.whole else SCENES[self.step]
        if self.head.bias is None:
            names = tuple(name for name in names if name != "bias")
        if not self.head.crosses:
            names = tuple("input" if name == "memory" else name for name in names)
        return tuple(self._sign(name) for name in names)

    def _sign(self, name: str) -> str:
        if name != "scale":
            return name
        divided = f"/ √{self.head.head_dim}" if self.head.scaled else "not scaled"
        warm = "" if self.head.temperature == 1 else f", / {self.head.temperature:g}"
        return divided + warm + (" +" if self.head.bias is not None else "")

    def numbers(self, name: str) -> NDArray[np.float32]:
        """The part of a matrix that is shown, float32 (row, column)."""
        windows = self.windows
        numbers = NUMBERS[name](self.head, self.at, windows["query"], windows["key"]).detach()
        rows, columns = (slice(None) if axis in ("query", "key") else windows[axis] for axis in MATRICES[name].axes)
        return np.asarray(numbers[rows, columns].numpy())

    def shape_of(self, name: str) -> str:
        """A matrix's shape in symbols and numbers, such as "T × dₖ = 10 × 8"."""
        axes, keys = MATRICES[name].axes, "S" if self.head.crosses else "T"
        symbols = {"query": "T", "key": keys, "dim": "dₖ", "channel": "d_model", "merged": "h dₖ"}
        return f"{' × '.join(symbols[axis] for axis in axes)} = {' × '.join(str(self.sizes[axis]) for axis in axes)}"

    def lit(self) -> dict[str, list[tuple[Region, int]]]:
        """Matrix -> its regions that fed the cell in focus, each with how many steps before; 0 is the cell itself.

        Rows and columns count from the first one that is shown.
        """
        regions_of: dict[str, list[tuple[Region, int]]] = {}
        for name, (region, steps) in history(self.step, self.head, self.at).items():
            drawn = "input" if name == "memory" and not self.head.crosses else name
            row, column = (
                None if at is None else at - self.windows[axis].start
                for at, axis in zip(region, MATRICES[drawn].axes, strict=True)
            )
            regions_of.setdefault(drawn, []).append(((row, column), steps))
        return regions_of

    def sentence(self) -> str:
        """What the weight of this cell means, which part of a long text is shown, what moved switches do not change."""
        sentences = [self.about_cell()]
        parts = [
            f"{PLURALS[axis]} {part.start + 1}–{part.stop} of {self.sizes[axis]}"
            for axis, part in self.windows.items()
            if part.stop - part.start < self.sizes[axis]
        ]
        if parts:
            sentences.append(f"Shown: {', '.join(parts)}; all are computed. At an edge, the arrow keys bring the rest.")
        if not self.head.as_in_the_model:
            sentences.append("The switches change this attention alone: later layers get the unchanged model’s output.")
        return " ".join(sentences)

    def about_cell(self) -> str:
        """What the weight of this cell's query and key means, compared with the query's other weights."""
        head, at = self.head, self.at
        name, visible = head.queries[at.query], head.visible[at.query]
        if not bool(visible.any()):
            return f"“{name}” may look at nothing: all its weights are 0, and the head gives it nothing."
        weights = head.weights[at.query]
        weight = weights[at.key]
        rank = str(int((weights > weight * (1 + head_sentences.TIE)).sum()) + 1)
        alike = int((((weights - weight).abs() <= weight * head_sentences.TIE) & visible).sum()) - 1
        if alike:
            rank += f", shared with {formats.plural(alike, 'other')},"
        count = int(visible.sum())
        if not bool(visible[at.key]):
            return f"“{name}” may not look at “{head.keys[at.key]}”: its weight is 0, whatever their score."
        if count == 1:
            return f"“{name}” may look at “{head.keys[at.key]}” alone: its weight is 1, whatever their score."
        given, even = formats.percent(weight.item()), formats.percent(1 / count)
        return (
            f"“{name}” gives “{head.keys[at.key]}” {given} of its weight, rank {rank} of the {count} tokens that it "
            f"may see; an even spread would give {even}."
        )

    def content(self, prefix: str) -> Content:
        """What matrices.js draws: one head, number by number.

        Args:
            prefix: stands before the names of what a click sets: step, query, key, and so on.
        """
        arrays, matrices, begin = [], {}, 0
        for name in self.parts:
            if name in MATRICES and name not in matrices:
                numbers = self.numbers(name)
                if MATRICES[name].weights:  # zeros by the mask are no weights
                    visible = self.head.visible[self.windows["query"], self.windows["key"]]
                    numbers = np.where(visible.numpy(), numbers, -np.inf)
                arrays.append(np.ascontiguousarray(numbers, np.float32).ravel())
                matrices[name] = self._header_of(name, numbers, begin)
                begin += numbers.size
        header: dict[str, Any] = {
            "prefix": prefix,
            "steps": STEPS,
            "step": self.step,
            "whole": self.whole,
            "scene": self.parts,
            "matrices": matrices,
            "queries": self.head.queries[self.windows["query"]],
            "keys": self.head.keys[self.windows["key"]],
            "starts": {axis: part.start for axis, part in self.windows.items()},
            "ends": self.sizes,
            "headDim": self.head.head_dim,
            "lit": self.lit(),
            "temperature": self.head.temperature,
            "title": self.derived.title,
            "lines": self.derived.lines,
            "code": code(lines_of(self.head, self.step)),
            "about": self.about_cell(),
        }
        return header, np.concatenate(arrays)

    def _header_of(self, name: str, numbers: NDArray[np.float32], begin: int) -> dict[str, Any]:
        matrix, finite = MATRICES[name], numbers[np.isfinite(numbers)]
        top = float(np.abs(finite).max()) if finite.size else 0.0
        return {
            "symbol": matrix.symbol,
            "name": name,
            "what": what(name, self.head) if name in WHAT else self._operand(name),
            "shape": self.shape_of(name),
            "axes": matrix.axes,
            "role": matrix.role,
            "weights": matrix.weights,
            "begin": begin,
            "rows": numbers.shape[0],
            "columns": numbers.shape[1],
            "top": top or 1.0,
            "topText": formats.weight(top) if matrix.weights else formats.number(top),
        }

    def _operand(self, name: str) -> str:
        """A sentence on what a matrix is that no step makes: parameters, or what a step is given."""
        if name == "bias":
            return f"Added to the scores by {self.head.positional}."
        if name.endswith("weights"):
            origin = f", {self.origin}" if self.origin else ""
            return f"The model’s parameters of {name.removesuffix(' weights')}_projection{origin}."
        operands = {
            "key transposed": "The keys, one in each column.",
            "memory": "The encoder’s output: a vector per token of the text.",
        }
        return operands.get(name, "Added to the scores: 0 where a query may look at a key, −∞ where it may not.")


def window(at: int, count: int, size: int = WINDOW) -> slice:
    """The `size` places around `at`, of `count` places counted from 0.

    The window moves in strides of half its size, so that it stays where it is while `at` moves to a near place.
    """
    stride = size // 2
    start = max(0, min(stride * round((at - stride) / stride), count - size))
    return slice(start, min(count, start + size))
