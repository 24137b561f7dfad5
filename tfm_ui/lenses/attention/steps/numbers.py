"""What the view "steps" shows: the matrices of one step or of all, what feeds a cell, and its number in words."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.attention import computed
from tfm_ui.lenses.attention.state import STEPS, AttentionState
from tfm_ui.lenses.attention.steps.derivation import Cell, Derivation
from tfm_ui.lenses.attention.steps.derive_cells import derivation
from tfm_ui.lenses.attention.steps.head_steps import HeadSteps
from tfm_ui.lenses.attention.steps.matrices import MATRICES, Region, history, place
from tfm_ui.lenses.attention.steps.scenes import SCENES
from tfm_ui.live import head_recipe, places
from tfm_ui.live.script import of_model, script
from tfm_ui.live.texts import tokens_of
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels

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
class Steps(Result):
    """One head at one step.

    Attributes:
        model: whose head it is.
        state: the lens's controls.
        head: the head.
        step: the matrix in focus, one of STEPS.
        whole: whether all steps are shown.
        at: the cell in focus.
    """

    model: ModelState
    state: AttentionState
    head: HeadSteps
    step: str
    whole: bool
    at: Cell

    @cached_property
    def derivation(self) -> Derivation:
        """How the number of the cell in focus came about."""
        return derivation(self.head, self.step, self.at)

    @cached_property
    def windows(self) -> dict[str, slice]:
        """Axis -> the part of it that is shown: all of it, or what is around the cell in long texts or vectors."""
        at, merged = self.at, self.head.number * self.head.head_dim + self.at.dim
        places = {"query": at.query, "key": at.key, "dim": at.dim, "channel": at.channel, "merged": merged}
        tokens = ("query", "key")
        return {
            axis: window(place, self.sizes[axis], WINDOW if axis in tokens else CHANNELS)
            for axis, place in places.items()
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Axis -> how long it is."""
        head, d_model = self.head, self.head.inside.module.d_model
        tokens = {"query": len(head.queries), "key": len(head.keys)}
        return tokens | {"dim": head.head_dim, "channel": d_model, "merged": d_model}

    @property
    def scene(self) -> tuple[str, ...]:
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
        matrix, windows = MATRICES[name], self.windows
        numbers = matrix.numbers(self.head, self.at, windows["query"], windows["key"]).detach()
        rows, columns = (slice(None) if axis in ("query", "key") else windows[axis] for axis in matrix.axes)
        shown: NDArray[np.float32] = numbers[rows, columns].numpy()
        return shown

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Boolean (query, key), for the tokens that are shown: whether the query may see the key."""
        shown: NDArray[np.bool_] = self.head.visible[self.windows["query"], self.windows["key"]].numpy()
        return shown

    def shape(self, name: str) -> str:
        """A matrix's shape in symbols and numbers, such as "T × dₖ = 10 × 8"."""
        axes, keys = MATRICES[name].axes, "S" if self.head.crosses else "T"
        symbols = {"query": "T", "key": keys, "dim": "dₖ", "channel": "d_model", "merged": "h dₖ"}
        return f"{' × '.join(symbols[axis] for axis in axes)} = {' × '.join(str(self.sizes[axis]) for axis in axes)}"

    def lit(self) -> dict[str, list[tuple[Region, int]]]:
        """Matrix -> its regions that fed the cell in focus, each with how many steps before; 0 is the cell itself.

        Rows and columns count from the first one that is shown.
        """
        regions_of: dict[str, list[tuple[Region, int]]] = {self.step: [(place(self.step, self.head, self.at), 0)]}
        for name, (region, steps) in history(self.step, self.head, self.at).items():
            shown = "input" if name == "memory" and not self.head.crosses else name
            regions_of.setdefault(shown, []).append((region, steps))
        return {name: [(self._shown(name, r), steps) for r, steps in regions] for name, regions in regions_of.items()}

    def _shown(self, name: str, region: Region) -> Region:
        row, column = (
            None if at is None else at - self.windows[axis].start
            for at, axis in zip(region, MATRICES[name].axes, strict=True)
        )
        return row, column

    def sentence(self) -> str:
        """What the weight of this cell's query and key means, and which part of the matrices is shown."""
        return f"{self.about_cell()} {self.note}".strip()

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

    @property
    def note(self) -> str:
        """Which part of a long text is shown, and what moved switches do not change; often neither, then ""."""
        said = []
        parts = [
            f"{PLURALS[axis]} {part.start + 1}–{part.stop} of {self.sizes[axis]}"
            for axis, part in self.windows.items()
            if part.stop - part.start < self.sizes[axis]
        ]
        if parts:
            said.append(f"Shown: {', '.join(parts)}; all are computed. At an edge, the arrow keys bring the rest.")
        if not self.head.as_in_the_model:
            said.append("The switches change this attention alone: later layers get the unchanged model’s output.")
        return " ".join(said)

    def laws(self) -> dict[str, bool]:
        """What must hold of this head, tested on its own numbers."""
        sums = self.head.weights.sum(-1) - self.head.visible.any(-1).float()
        error = float(sums.abs().max())
        return {f"every row of weights sums to 1 (largest error {formats.tiny(error)})": error < 1e-5}

    def table(self) -> pd.DataFrame:
        """Each number of each matrix that is drawn, with the names of its matrix, row and column."""
        tables = [self._cells(name) for name in dict.fromkeys(self.scene) if name in MATRICES]
        return pd.concat(tables)

    def _cells(self, name: str) -> pd.DataFrame:
        """A row for each number of a matrix."""
        matrix, numbers = MATRICES[name], self.numbers(name)
        places = [self._named(axis, count) for axis, count in zip(matrix.axes, numbers.shape, strict=True)]
        index = pd.MultiIndex.from_product([[f"{matrix.symbol}, {name}"], *places], names=["matrix", "row", "column"])
        return pd.DataFrame({"value": numbers.ravel()}, index=index)

    def _named(self, axis: str, count: int) -> list[str]:
        """What the rows or columns of a matrix are called: a token has a number and a name."""
        start = self.windows[axis].start
        if axis not in ("query", "key"):
            noun = {"dim": "dimension", "channel": "channel", "merged": "column of all heads"}[axis]
            return [f"{noun} {start + i + 1}" for i in range(count)]
        tokens = self.head.queries if axis == "query" else self.head.keys
        return [f"{axis} {start + i + 1} {tokens[start + i]}" for i in range(count)]

    def recipe(self) -> str:
        """A script that leaves the head's weights in `weights`; "" where a switch makes others than the model's."""
        if not self.head.as_in_the_model:
            return ""
        place = places.place(self.model, places.kind_of(self.model, self.state.kind))
        site = place.format(layer=self.state.layer - 1, what="weights")
        return script(head_recipe.weights, **of_model(self.model), site=site, head=self.head.number)


def window(at: int, count: int, size: int = WINDOW) -> slice:
    """The `size` places around `at`, of `count` places counted from 0.

    The window moves in strides of half its size, so that it stays where it is while `at` moves to a near place.
    """
    stride = size // 2
    start = max(0, min(stride * round((at - stride) / stride), count - size))
    return slice(start, min(count, start + size))


def head_steps(model: ModelState, state: AttentionState) -> HeadSteps:
    """The head that the lens shows, with its switches as the lens has them."""
    kind = places.kind_of(model, state.kind)
    queries, keys = tokens_of(model, kind)
    return HeadSteps(
        inside=computed.inside(model, kind, state.layer - 1),
        number=state.head - 1,
        scaled=state.scaled,
        masked=state.masked,
        temperature=state.temperature,
        queries=token_labels.labels(queries),
        keys=token_labels.labels(keys),
        positional="none" if kind == "cross" else model.positional,
        crosses=kind == "cross",
    )


def _place(chosen: int, usual: int, read: int, count: int) -> int:
    """Which token a link means, from 0: padding only where somebody has chosen it."""
    most = max(1, read) if chosen == usual else count
    return min(chosen, most) - 1


def steps(model: ModelState, state: AttentionState) -> Steps:
    """The step that the lens shows."""
    head = head_steps(model, state)
    queries, keys = tokens_of(model, places.kind_of(model, state.kind))
    at = Cell(
        query=_place(state.query, AttentionState.query, len(queries.pieces), len(head.queries)),
        key=_place(state.key, AttentionState.key, len(keys.pieces), len(head.keys)),
        dim=state.dim - 1,
        channel=state.channel - 1,
    )
    return Steps(model, state, head, state.step, state.whole, at)
