"""What the step-by-step view shows: the matrices of a step or of all, what feeds a cell, its derivation, a sentence."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.attention.state import STEPS, AttentionState
from tfm_ui.lenses.attention.steps.derivation import Cell, Derivation
from tfm_ui.lenses.attention.steps.derivations import derivation
from tfm_ui.lenses.attention.steps.matrices import MATRICES, Region, history, place
from tfm_ui.lenses.attention.steps.one_head import OneHead, one_head
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words

WINDOW = 24  # tokens a side at a time: more cells than that cannot be pointed at
CHANNELS = 32  # numbers of a vector at a time
PLURALS = {
    "query": "queries",
    "key": "keys",
    "dim": "dimensions",
    "channel": "channels",
    "merged": "columns of all heads",
}

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
    "masked": "What may not be seen is set to −∞.",
    "weights": "Each row’s softmax: it sums to 1.",
    "weighted values": "Each value times its weight, for one query.",
    "head output": "Their sum, for each query.",
    "heads": "All heads side by side.",
    "output": "What goes back into the residual stream.",
}


def what(step: str, one: OneHead) -> str:
    """What a step makes of this head, as its switches stand."""
    if step == "masked" and not one.masked:
        return "The mask is off: nothing is hidden, padding included."
    if step != "scaled":
        return WHAT[step]
    said = [WHAT[step] if one.scaled else "The scores as they are: the division by √dₖ is off."]
    said += [f"The bias of {one.positional} is added."] if one.bias is not None else []
    said += [f"Divided by the temperature, {one.temperature:g}."] if one.temperature != 1 else []
    return " ".join(said)


@dataclass(frozen=True)
class Steps:
    """One head at one step.

    Attributes:
        one: the head.
        step: the matrix in focus, one of STEPS.
        whole: whether all steps are shown.
        at: the cell in focus.
    """

    one: OneHead
    step: str
    whole: bool
    at: Cell

    @cached_property
    def derivation(self) -> Derivation:
        """Of the cell in focus."""
        return derivation(self.one, self.step, self.at)

    @cached_property
    def windows(self) -> dict[str, slice]:
        """Axis -> the part of it that is shown: all, but of long texts and wide vectors what is around the cell."""
        at, merged = self.at, self.one.head * self.one.head_dim + self.at.dim
        places = {"query": at.query, "key": at.key, "dim": at.dim, "channel": at.channel, "merged": merged}
        tokens = ("query", "key")
        return {
            axis: window(place, self.sizes[axis], WINDOW if axis in tokens else CHANNELS)
            for axis, place in places.items()
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Axis -> how long it is."""
        one, model = self.one, self.one.inside.module.d_model
        tokens = {"query": len(one.queries), "key": len(one.keys)}
        return tokens | {"dim": one.head_dim, "channel": model, "merged": model}

    @property
    def scene(self) -> tuple[str, ...]:
        """Matrices and signs, from left to right."""
        names = STEPS if self.whole else SCENES[self.step]
        if self.one.bias is None:
            names = tuple(name for name in names if name != "bias")
        if not self.one.crosses:
            names = tuple("input" if name == "memory" else name for name in names)
        return tuple(self._sign(name) for name in names)

    def _sign(self, name: str) -> str:
        if name != "scale":
            return name
        divided = f"/ √{self.one.head_dim}" if self.one.scaled else "not scaled"
        warm = "" if self.one.temperature == 1 else f", / {self.one.temperature:g}"
        return divided + warm + (" +" if self.one.bias is not None else "")

    def numbers(self, name: str) -> NDArray[np.float32]:
        """The part of a matrix that is shown."""
        matrix, windows = MATRICES[name], self.windows
        numbers = matrix.numbers(self.one, self.at, windows["query"], windows["key"]).detach()
        rows, columns = (slice(None) if axis in ("query", "key") else windows[axis] for axis in matrix.axes)
        shown: NDArray[np.float32] = numbers[rows, columns].numpy()
        return shown

    @property
    def visible(self) -> NDArray[np.bool_]:
        """(query, key), of what is shown: where the mask lets look."""
        shown: NDArray[np.bool_] = self.one.visible[self.windows["query"], self.windows["key"]].numpy()
        return shown

    def shape(self, name: str) -> str:
        """In symbols and numbers: T × dₖ = 10 × 8."""
        axes, keys = MATRICES[name].axes, "S" if self.one.crosses else "T"
        symbols = {"query": "T", "key": keys, "dim": "dₖ", "channel": "d_model", "merged": "h dₖ"}
        return f"{' × '.join(symbols[axis] for axis in axes)} = {' × '.join(str(self.sizes[axis]) for axis in axes)}"

    def lit(self) -> dict[str, list[tuple[Region, int]]]:
        """Matrix -> the regions that fed the cell, and how many steps before, in cells of what is shown; 0 is it."""
        found: dict[str, list[tuple[Region, int]]] = {self.step: [(place(self.step, self.one, self.at), 0)]}
        for name, (region, steps) in history(self.step, self.one, self.at).items():
            shown = "input" if name == "memory" and not self.one.crosses else name
            found.setdefault(shown, []).append((region, steps))
        return {name: [(self._shown(name, r), steps) for r, steps in regions] for name, regions in found.items()}

    def _shown(self, name: str, region: Region) -> Region:
        row, column = (
            None if at is None else at - self.windows[axis].start
            for at, axis in zip(region, MATRICES[name].axes, strict=True)
        )
        return row, column

    @property
    def sentence(self) -> str:
        """What this cell's number means for the head."""
        one, at = self.one, self.at
        asks, seen = one.queries[at.query], one.visible[at.query]
        if not bool(seen.any()):
            return f"“{asks}” may look at nothing: all its weights are 0, and the head gives it nothing."
        weights = one.weights[at.query]
        own = weights[at.key]
        rank = str(int((weights > own * (1 + words.TIE)).sum()) + 1)
        alike = int((((weights - own).abs() <= own * words.TIE) & seen).sum()) - 1
        if alike:
            rank += f", shared with {look.plural(alike, 'other')},"
        count = int(seen.sum())
        if not bool(seen[at.key]):
            return f"“{asks}” may not look at “{one.keys[at.key]}”: its weight is 0, whatever their score."
        if count == 1:
            return f"“{asks}” may look at “{one.keys[at.key]}” alone: its weight is 1, whatever their score."
        given, even = look.percent(own.item()), look.percent(1 / count)
        return (
            f"“{asks}” gives “{one.keys[at.key]}” {given} of its weight, rank {rank} of the {count} tokens that it may "
            f"see; an even spread would give {even}."
        )

    @property
    def note(self) -> str:
        """What of a long text is shown, and that switches were moved; often nothing."""
        said = []
        parts = [
            f"{PLURALS[axis]} {part.start + 1}–{part.stop} of {self.sizes[axis]}"
            for axis, part in self.windows.items()
            if part.stop - part.start < self.sizes[axis]
        ]
        if parts:
            said.append(f"Shown: {', '.join(parts)}, as more cells could not be pointed at; all are computed.")
            said.append("Arrow keys at an edge move on.")
        if not self.one.as_in_the_model:
            said.append("The switches change this attention alone: the layers after it do not hear of it.")
        return " ".join(said)

    def laws(self) -> dict[str, bool]:
        """What must hold of this head, tested on its own numbers."""
        sums = self.one.weights.sum(-1) - self.one.visible.any(-1).float()
        error = float(sums.abs().max())
        return {f"every row of weights sums to 1 (largest error {look.tiny(error)})": error < 1e-5}

    def table(self) -> pd.DataFrame:
        """The terms of the derivation; where there are none, the matrix in focus as it is shown."""
        if len(self.derivation.terms):
            return self.derivation.terms
        return pd.DataFrame(self.numbers(self.step))


def window(at: int, count: int, size: int = WINDOW) -> slice:
    """Of `count` places, the `size` around one, from 0. It moves in strides, so that a near cell leaves it in place."""
    stride = size // 2
    start = max(0, min(stride * round((at - stride) / stride), count - size))
    return slice(start, min(count, start + size))


def steps(model: ModelState, state: AttentionState) -> Steps:
    """The step that the lens shows."""
    one = one_head(model, state)
    at = Cell(
        query=min(state.query, len(one.queries)) - 1,
        key=min(state.key, len(one.keys)) - 1,
        dim=state.dim - 1,
        channel=state.channel - 1,
    )
    return Steps(one, state.step, state.whole, at)
