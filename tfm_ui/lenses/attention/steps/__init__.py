"""The view "steps": one head, from its input to its output, number by number.

It shows the matrices of one step or of all, what feeds a cell, and the cell's number in words. The cell in focus and
what it was computed from are lit; a click in the picture sets the link's parameters of the cell.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from tfm_core.positional.schemes import PLAIN
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import PREFIX, STEPS, AttentionState
from tfm_ui.lenses.attention.steps.derivation import Derivation, code, derivation, latex, lines_of
from tfm_ui.lenses.attention.steps.matrices import (
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
from tfm_ui.live import head_recipe
from tfm_ui.live.passes import and_scores
from tfm_ui.live.script import of_model, script
from tfm_ui.page.lens import View
from tfm_ui.page.panels import mode
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, numbered
from tfm_ui.pictures.map_scale import around_zero, from_zero
from tfm_ui.pictures.panel import Source
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
NOUNS = {"dim": "dimension", "channel": "channel", "merged": "dimension of all heads"}


def matrices_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """A heatmap per matrix, in the order in which they are computed."""
    starts, heats, counts = header["starts"], [], dict[str, int]()
    for name, about in header["matrices"].items():
        cells = numbers[about["begin"] : about["begin"] + about["rows"] * about["columns"]]
        values = cells.reshape(about["rows"], about["columns"])
        shape = dict(zip(about["axes"], values.shape, strict=True))
        rows, columns = (_side(axis, header, starts[axis], count) for axis, count in shape.items())
        counts |= shape
        heats.append(
            Heat(
                name=f"{about['symbol']} {name}",
                values=np.where(np.isneginf(values), np.float32(np.nan), values),
                rows=rows,
                columns=columns,
                scale=from_zero(about["top"]) if about["weights"] else around_zero(about["top"]),
                gaps=["−∞ (masked)"],
                square=set(about["axes"]) == {"query", "key"},
            )
        )
    window = [
        f"{NOUNS.get(axis, axis)} {starts[axis] + 1}–{starts[axis] + count} of {header['ends'][axis]}"
        for axis, count in counts.items()
        if count < header["ends"][axis]
    ]
    return heatmaps.figure(heats, told=f"Shown: {', '.join(window)}." if window else "", named=not header["whole"])


def _side(axis: str, header: Header, start: int, count: int) -> Side:
    if axis in NOUNS:
        return Side(labels=[str(start + i) for i in range(1, count + 1)], title=NOUNS[axis], noun=NOUNS[axis])
    names = header["queries"] if axis == "query" else header["keys"]
    return Side(labels=numbered(names[:count], start + 1), title=axis, noun=axis, role=axis)


MATRICES_CANVAS = Canvas(
    "lenses/attention/matrices",
    """
<div class="matrices" data-picture>
  <div class="bar">
    <span class="walk">
      <button class="back" aria-label="Step back">‹</button>
      <span class="chips" role="tablist" aria-label="Steps"></span>
      <button class="next" aria-label="Step on">›</button>
    </span>
    <span class="modes"><button class="play"></button><button class="all"></button></span>
    <label class="warmth">temperature <input type="range" min="-13" max="10" step="1"> <output></output></label>
  </div>
  <div class="body">
    <div class="scene"></div>
    <div class="derived" aria-live="polite">
      <h4></h4>
      <div class="lines"></div>
      <pre><code></code></pre>
    </div>
  </div>
  <div class="tip" hidden></div>
</div>
""",
    matrices_figure,
)


class Steps(AttentionPanel):
    """One head at one step, or at all of them."""

    name = "steps"
    locked = True
    canvas = MATRICES_CANVAS
    needs = and_scores(1)

    @property
    def title(self) -> str:
        return f"Layer {self.state.layer}, head {self.state.head}"

    @property
    def shape(self) -> str:
        return f"step {STEPS.index(self.state.step) + 1} of {len(STEPS)}: {self.state.step}"

    @property
    def how_to_read(self) -> str:
        return (
            f"{what(self.state.step, self.steps)} Click a cell to outline all that it was computed from. "
            "Numbers are computed in full and rounded on screen."
        )

    @property
    def sources(self) -> Sequence[Source]:
        return [*dict.fromkeys(function for function, _ in lines_of(self.steps, self.state.step)), derivation]

    @cached_property
    def steps(self) -> HeadSteps:
        """All that the head computes, with its switches as the lens has them."""
        crosses = self.kind == "cross"
        return HeadSteps(
            inside=self.inside,
            number=self.head,
            scaled=self.state.scaled,
            masked=self.state.masked,
            temperature=self.state.temperature,
            queries=self.queries,
            keys=self.keys,
            positional=PLAIN if crosses else self.model.positional,
            crosses=crosses,
        )

    @property
    def at(self) -> Cell:
        """The cell in focus."""
        state, (queries, keys) = self.state, self.tokens
        return Cell(
            query=_token(state.query, AttentionState.query, len(queries.pieces), len(self.queries)),
            key=_token(state.key, AttentionState.key, len(keys.pieces), len(self.keys)),
            dim=state.dim - 1,
            channel=state.channel - 1,
        )

    @cached_property
    def derived(self) -> Derivation:
        """How the number of the cell in focus came about."""
        return derivation(self.steps, self.state.step, self.at)

    @cached_property
    def windows(self) -> dict[str, slice]:
        """Axis -> the part of it that is shown: all of it, or what is around the cell in long texts or vectors."""
        return {
            axis: window(at, self.sizes[axis], WINDOW if axis in ("query", "key") else CHANNELS)
            for axis, at in places(self.steps, self.at).items()
        }

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Axis -> how long it is."""
        head, d_model = self.steps, self.model.d_model
        tokens = {"query": len(head.queries), "key": len(head.keys)}
        return tokens | {"dim": head.head_dim, "channel": d_model, "merged": d_model}

    @property
    def scene(self) -> tuple[str, ...]:
        """The matrices and the signs between them, from left to right."""
        names = STEPS if self.state.whole else SCENES[self.state.step]
        if self.steps.bias is None:
            names = tuple(name for name in names if name != "bias")
        if not self.steps.crosses:
            names = tuple("input" if name == "memory" else name for name in names)
        return tuple(self._sign(name) for name in names)

    def _sign(self, name: str) -> str:
        if name != "scale":
            return name
        divided = f"/ √{self.steps.head_dim}" if self.steps.scaled else "not scaled"
        warm = "" if self.steps.temperature == 1 else f", / {self.steps.temperature:g}"
        return divided + warm + (" +" if self.steps.bias is not None else "")

    def numbers(self, name: str) -> NDArray[np.float32]:
        """The part of a matrix that is shown, float32 (row, column)."""
        windows = self.windows
        numbers = NUMBERS[name](self.steps, self.at, windows["query"], windows["key"]).detach()
        rows, columns = (slice(None) if axis in ("query", "key") else windows[axis] for axis in MATRICES[name].axes)
        return np.asarray(numbers[rows, columns].numpy())

    def shape_of(self, name: str) -> str:
        """A matrix's shape in symbols and numbers, such as "T × dₖ = 10 × 8"."""
        axes, keys = MATRICES[name].axes, "S" if self.steps.crosses else "T"
        symbols = {"query": "T", "key": keys, "dim": "dₖ", "channel": "d_model", "merged": "h dₖ"}
        return f"{' × '.join(symbols[axis] for axis in axes)} = {' × '.join(str(self.sizes[axis]) for axis in axes)}"

    def lit(self) -> dict[str, list[tuple[Region, int]]]:
        """Matrix -> its regions that fed the cell in focus, each with how many steps before; 0 is the cell itself.

        Rows and columns count from the first one that is shown.
        """
        regions_of: dict[str, list[tuple[Region, int]]] = {}
        for name, (region, steps) in history(self.state.step, self.steps, self.at).items():
            drawn = "input" if name == "memory" and not self.steps.crosses else name
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
        if not self.steps.as_in_the_model:
            sentences.append("The switches change this attention alone: later layers get the unchanged model’s output.")
        return " ".join(sentences)

    def about_cell(self) -> str:
        """What the weight of this cell's query and key means, compared with the query's other weights."""
        head, at = self.steps, self.at
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

    def laws(self) -> dict[str, bool]:
        sums = self.steps.weights.sum(-1) - self.steps.visible.any(-1).float()
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
        tokens = self.steps.queries if axis == "query" else self.steps.keys
        return [f"{axis} {start + i + 1} {tokens[start + i]}" for i in range(count)]

    def picture(self) -> Content:
        """What matrices.js draws: one head, number by number."""
        arrays, matrices, begin = [], {}, 0
        for name in self.scene:
            if name in MATRICES and name not in matrices:
                numbers = self.numbers(name)
                if MATRICES[name].weights:  # zeros by the mask are no weights
                    visible = self.steps.visible[self.windows["query"], self.windows["key"]]
                    numbers = np.where(visible.numpy(), numbers, -np.inf)
                arrays.append(np.ascontiguousarray(numbers, np.float32).ravel())
                matrices[name] = self._header_of(name, numbers, begin)
                begin += numbers.size
        header: dict[str, Any] = {
            "prefix": PREFIX,
            "steps": STEPS,
            "step": self.state.step,
            "whole": self.state.whole,
            "scene": self.scene,
            "matrices": matrices,
            "queries": self.queries[self.windows["query"]],
            "keys": self.keys[self.windows["key"]],
            "starts": {axis: part.start for axis, part in self.windows.items()},
            "ends": self.sizes,
            "headDim": self.steps.head_dim,
            "lit": self.lit(),
            "temperature": self.state.temperature,
            "title": self.derived.title,
            "lines": self.derived.lines,
            "code": code(lines_of(self.steps, self.state.step)),
            "about": self.about_cell(),
        }
        return header, np.concatenate(arrays)

    def _header_of(self, name: str, numbers: NDArray[np.float32], begin: int) -> dict[str, Any]:
        matrix, finite = MATRICES[name], numbers[np.isfinite(numbers)]
        top = float(np.abs(finite).max()) if finite.size else 0.0
        return {
            "symbol": matrix.symbol,
            "name": name,
            "what": what(name, self.steps) if name in WHAT else self._operand(name),
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
            return f"Added to the scores by {self.steps.positional}."
        if name.endswith("weights"):
            origin = self.model.if_random("drawn at random from the seed", "as training has left them")
            return f"The model’s parameters of {name.removesuffix(' weights')}_projection, {origin}."
        operands = {
            "key transposed": "The keys, one in each column.",
            "memory": "The encoder’s output: a vector per token of the text.",
        }
        return operands.get(name, "Added to the scores: 0 where a query may look at a key, −∞ where it may not.")

    def tools(self) -> None:
        """Draw attention as formulas; the parts that the step computes are lit."""
        with st.container(horizontal=True, horizontal_alignment="center", key="formulas"):
            for formula in latex(self.steps, self.state.step, mode()):
                st.latex(formula, width="content")

    def recipe(self) -> str:
        """A script that leaves the head's weights in `weights`; "" where a switch makes others than the model's."""
        if not self.steps.as_in_the_model:
            return ""
        return script(head_recipe.weights, **of_model(self.model), site=self.site("weights"), head=self.head)


def window(at: int, count: int, size: int = WINDOW) -> slice:
    """The `size` places around `at`, of `count` places counted from 0.

    The window moves in strides of half its size, so that it stays where it is while `at` moves to a near place.
    """
    stride = size // 2
    start = max(0, min(stride * round((at - stride) / stride), count - size))
    return slice(start, min(count, start + size))


def _token(chosen: int, usual: int, read: int, count: int) -> int:
    """Which token a link means, from 0: padding only where somebody has chosen it."""
    most = max(1, read) if chosen == usual else count
    return min(chosen, most) - 1


VIEW: View[AttentionState] = View(
    title="Step by step",
    shows=[Steps],
    reads_pass=True,
    controls=("kind", "layer", "head", "scaled", "masked"),
    line="line_steps",
)
