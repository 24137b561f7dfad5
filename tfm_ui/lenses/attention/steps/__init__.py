"""The view "steps": one head, from its input to its output, number by number.

It shows the matrices of one step or of all, what feeds a cell, and the cell's number in words. The cell in focus and
what it was computed from are lit; a click in the picture sets the link's parameters of the cell.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import pandas as pd
import streamlit as st
import torch
from torch import Tensor

from tfm_core.positional.schemes import PLAIN
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import PREFIX, AttentionState
from tfm_ui.live import head_recipe, streams
from tfm_ui.live.passes import and_scores
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors.attention import of_attention
from tfm_ui.live.tensors.attention import title as title_of
from tfm_ui.live.tensors.in_notebook import after, lines
from tfm_ui.live.tensors.step import Named, Step
from tfm_ui.page.lens import View
from tfm_ui.page.panels import mode
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.panel import Source
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.canvas import MATRICES_CANVAS
from tfm_ui.pictures.steps.derivation import derivation, latex, lines_of
from tfm_ui.pictures.steps.matrices import MATRICES, Cell, HeadSteps, places, what
from tfm_ui.pictures.steps.scene import Scene
from tfm_ui.text import formats


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
    def tensors(self) -> Step:
        switches = {"scaled": self.state.scaled, "masked": self.state.masked}
        title = title_of(self.kind, self.layer)
        # Of the query in focus alone, as on screen: of all queries it would be larger than all else together.
        steps, query, shape = self.steps, self.at.query, tuple(self.inside.value.shape)

        def weighted() -> Tensor:
            heads = (replace(steps, number=head) for head in range(steps.inside.heads))
            return torch.stack([head.weighted_values(query) for head in heads])

        axes, about = ("head", "key", "head_dim"), f"a V, each value times its weight, for query {query + 1}"
        code = f"weights[:, {query}, :, None] * V"
        return of_attention(self.inside, title, temperature=self.state.temperature, **switches).also(
            Named("weighted_values", axes, shape, about, weighted, code)
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
    def scene(self) -> Scene:
        """The matrices that are drawn, and the number of the cell in focus."""
        origin = self.model.if_random("drawn at random from the seed", "as training has left them")
        return Scene(self.steps, self.at, self.state.step, self.state.whole, origin)

    def picture(self) -> Content:
        return self.scene.content(PREFIX)

    def sentence(self) -> str:
        return self.scene.sentence()

    def laws(self) -> dict[str, bool]:
        sums = self.steps.weights.sum(-1) - self.steps.visible.any(-1).float()
        error = float(sums.abs().max())
        return {f"every row of weights sums to 1 (largest error {formats.tiny(error)})": error < 1e-5}

    def table(self) -> pd.DataFrame:
        """Each number of each matrix that is drawn, with the names of its matrix, row and column."""
        tables = [self._cells(name) for name in dict.fromkeys(self.scene.parts) if name in MATRICES]
        return pd.concat(tables)

    def _cells(self, name: str) -> pd.DataFrame:
        """A row for each number of a matrix."""
        matrix, numbers = MATRICES[name], self.scene.numbers(name)
        places = [self._named(axis, count) for axis, count in zip(matrix.axes, numbers.shape, strict=True)]
        index = pd.MultiIndex.from_product([[f"{matrix.symbol}, {name}"], *places], names=["matrix", "row", "column"])
        return pd.DataFrame({"value": numbers.ravel()}, index=index)

    def _named(self, axis: str, count: int) -> list[str]:
        """What the rows or columns of a matrix are called: a token has a number and a name."""
        start = self.scene.windows[axis].start
        if axis not in ("query", "key"):
            noun = {"dim": "dimension", "channel": "channel", "merged": "column of all heads"}[axis]
            return [f"{noun} {start + i + 1}" for i in range(count)]
        tokens = self.steps.queries if axis == "query" else self.steps.keys
        return [f"{axis} {start + i + 1} {tokens[start + i]}" for i in range(count)]

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

    def in_notebook(self) -> str:
        """The pass, then plain torch up to the matrix of this step, or through all of them; the number in focus."""
        step, at = self.tensors, self.site("").rstrip(".")
        name = TENSORS.get(self.state.step, self.state.step)
        wanted = [name, *(["output"] if self.state.whole else [])]
        code = lines(step, wanted, self._sources(at))
        if not code:
            return self.recipe()
        tensor = next(each for each in step.tensors if each.name == name)
        of_head = f"{name}[head]" if tensor.axes[0] == "head" else name
        row, column = (places(self.steps, self.at)[axis] for axis in MATRICES[self.state.step].axes)
        symbol = MATRICES[self.state.step].symbol
        sites = [f"{at}.*", *([streams.memory_site(self.model.config)] if self.kind == "cross" else [])]
        place = at if self.model.is_encoder_decoder else f"stack.{at}"
        begin = script(head_recipe.attention, **of_model(self.model), sites=sites, place=place, head=self.head)
        focus = f'print(f"{symbol}, row {row + 1}, column {column + 1}: {{{of_head}[{row}, {column}].item():.6f}}")'
        return "\n".join(
            [after(begin, code), "", f"# {symbol} of this head, and the number that the picture rings", focus, of_head]
        )

    def _sources(self, at: str) -> dict[str, str]:
        """The tensors of the step that a pass has recorded, or that the attention has learned, as expressions."""
        queries, keys = self.inside.visible.shape
        shows_all = not self.state.masked or bool(self.inside.visible.all())
        mask = f"torch.broadcast_to(trace['{at}.mask'], (1, 1, {queries}, {keys}))[0, 0]"
        recorded = {"residual": "residual_before", "X": "residual_before", "V": "value"}
        turned = "rotated_" if "rotated_query" in self.inside.recorded else ""
        recorded |= {"Q": f"{turned}query", "K": f"{turned}key"}
        if self.steps.as_in_the_model:
            recorded |= {"scaled": "scores", "weights": "weights", "head_output": "head_output", "output": "output"}
        sources = {name: f"trace['{at}.{what}'][0]" for name, what in recorded.items()}
        sharing = self.inside.heads // self.inside.module.num_kv_heads
        if sharing > 1:
            sources |= {name: f"{sources[name]}.repeat_interleave({sharing}, dim=0)" for name in ("K", "V")}
        return {
            **sources,
            "memory": f"trace['{streams.memory_site(self.model.config)}'][0]",
            "mask": f"torch.ones({queries}, {keys}, dtype=torch.bool)" if shows_all else mask,
            **{f"norm_{what}": f"norm.{what}" for what in ("weight", "bias")},
            **{
                f"{letter}_{role[0].upper() if role != 'output' else 'O'}": f"attention.{role}_projection.{what}"
                for role in ("query", "key", "value", "output")
                for letter, what in (("W", "weight"), ("b", "bias"))
            },
        }


# What is called otherwise among the tensors than among the matrices.
TENSORS = {
    "input": "X",
    "query": "Q",
    "key": "K",
    "value": "V",
    "weighted values": "weighted_values",
    "head output": "head_output",
}


def _token(chosen: int, usual: int, read: int, count: int) -> int:
    """Which token a link means, from 0: padding only where somebody has chosen it."""
    most = max(1, read) if chosen == usual else count
    return min(chosen, most) - 1


VIEW: View[AttentionState] = View(
    title="Step by step",
    exercise="attention",
    shows=[Steps],
    reads_pass=True,
    controls=("kind", "layer", "head", "scaled", "masked"),
    line="line_steps",
)
