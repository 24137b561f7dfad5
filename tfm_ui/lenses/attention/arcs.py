"""The view "arcs": who looks at whom, as lines: some heads' weights, or an aggregate of them."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    Trace,
    Transformer,
    TransformerConfig,
    attention_scores,
    attention_weights,
    mask_scores,
    recording,
)
from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_core.study.attention_arrays import read_attention
from tfm_ui.lenses.attention.inside import AttentionPanel
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import array_recipes, head_recipe, passes
from tfm_ui.live.array_recipes import of_file
from tfm_ui.live.attention import Attention
from tfm_ui.live.cache import cached
from tfm_ui.live.script import of_model, script
from tfm_ui.live.tensors import live_steps
from tfm_ui.live.tensors.attention import and_aggregate
from tfm_ui.live.tensors.step import Step
from tfm_ui.page.lens import View
from tfm_ui.pictures.arcs import ALL_UP_TO, ARCS, Drawn, Lines, arcs_figure, lines_of, maps, unpacked
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.panel import Source
from tfm_ui.state.arrays import AttentionFile
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

FORMULAS = {
    "heads": "softmax(scores) of one head",
    "mean": "(1/H) Σₕ wₕ, the mean over the heads of this layer",
    "max": "maxₕ wₕ, the largest weight that any head of this layer has there",
    "rollout": "Aₗ ⋯ A₂ A₁ up to this layer, A = (W + I) / 2 with rows that sum to 1, W a layer's mean over heads",
}
SOURCES: dict[str, Sequence[Source]] = {
    "heads": (attention_scores, mask_scores, attention_weights),
    "mean": (mean_over_heads,),
    "max": (max_over_heads,),
    "rollout": (attention_rollout, mean_over_heads),
}
GIVEN = "the file’s weight in one head"  # of weights out of a file


@cached()
def lines(model: ModelState, kind: str, layer: int, how: str) -> Lines:
    """The weights to be drawn of one layer of a model.

    Args:
        model: the model, and the texts that it reads.
        kind: as in `Pass.attention`.
        layer: from 0.
        how: "heads", "mean", "max" or "rollout".
    """
    attention = passes.run(model).attention[kind]
    return lines_of(maps(attention, layer, how), attention.visible, how)


def all_weights(config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None) -> Trace:
    """The weights of every attention in one pass of the model: name -> (batch, head, query, key)."""
    model = Transformer(config).eval()
    with torch.no_grad(), recording("*.weights") as trace:
        model(*inputs, mask=mask)
    return trace


def mean(*, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str) -> Tensor:
    """The mean over the heads of a layer, (query, key)."""
    weights = mean_over_heads(all_weights(config, inputs, mask)[site][0])  # (query, key)
    return weights


def largest(*, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, site: str) -> Tensor:
    """The largest weight that any head of a layer has there, (query, key)."""
    weights = max_over_heads(all_weights(config, inputs, mask)[site][0])  # (query, key)
    return weights


def rollout(
    *, config: TransformerConfig, inputs: Sequence[Tensor], mask: Tensor | None, sites: Sequence[str]
) -> Tensor:
    """The rollout through these layers, (query, key)."""
    trace = all_weights(config, inputs, mask)
    weights = attention_rollout(trace[site][0] for site in sites)  # (query, key)
    return weights


class Arcs(AttentionPanel):
    """Some maps of weights over the same tokens: a layer's heads, or one aggregate."""

    name = "arcs"
    canvas = ARCS
    needs = passes.and_scores(1)
    works_on_weights_alone = True

    @property
    def how(self) -> str:
        """ "heads", "mean", "max" or "rollout", as far as this attention has it.

        Cross-attention has no rollout: its rows and columns are two texts.
        """
        return "mean" if self.kind == "cross" and self.state.lines == "rollout" else self.state.lines

    @cached_property
    def attention(self) -> Attention:
        """What the maps are made of."""
        return passes.run(self.model).attention[self.kind]

    @property
    def tensors(self) -> Step | None:
        if self.how == "heads":
            return super().tensors
        return and_aggregate(live_steps.heads(self.model, self.kind), self.attention, self.how)

    @cached_property
    def lines(self) -> Lines:
        """What is drawn of them."""
        return lines(self.model, self.kind, self.layer, self.how)

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Boolean (query, key), where the mask lets look."""
        return self.attention.visible

    @property
    def sources(self) -> Sequence[Source]:
        return (read_attention,) if self.model.array and self.how == "heads" else SOURCES[self.how]

    @property
    def _many(self) -> str:
        return formats.plural(self.model.num_heads, "head")

    @property
    def title(self) -> str:
        layer = self.layer + 1
        return {
            "heads": f"Layer {layer}, {self._many}",
            "mean": f"Layer {layer}, mean over {self._many}",
            "max": f"Layer {layer}, largest of {self._many}",
            "rollout": f"Rollout, layers 1 to {layer}" if self.layer else "Rollout, layer 1",
        }[self.how]

    @property
    def how_to_read(self) -> str:
        """What a line is, with the aggregate's formula."""
        formula = GIVEN if self.model.array and self.how == "heads" else FORMULAS[self.how]
        strength = f"A line runs from a query to a key; its strength is {formula}."
        if self.state.lines != self.how:
            why = "Cross-attention has no rollout, as its rows and columns are two texts: this is the mean."
            return f"{why} {strength}"
        if self.how == "rollout" and self.kind == "decoder":
            left_out = "It follows the decoder's self-attention alone, and leaves out what comes by cross-attention."
            return f"{strength} {left_out}"
        return strength

    @property
    def names(self) -> list[str]:
        """What each map is called: the numbers of the heads, or the aggregate."""
        if self.how == "heads":
            return [str(head + 1) for head in range(self.model.num_heads)]
        return [{"mean": f"mean of {self._many}", "max": f"largest of {self._many}", "rollout": "rollout"}[self.how]]

    @property
    def chosen(self) -> list[int]:
        """Which maps the reader looks at, from 0; all, if the link names none that there is."""
        wanted = {int(word) - 1 for word in self.state.heads.split() if word.isascii() and word.isdigit()}
        return sorted(wanted & set(range(len(self.names)))) or list(range(len(self.names)))

    @cached_property
    def drawn(self) -> Drawn:
        """The lines over their tokens."""
        return Drawn(
            self.lines, self.attention, self.how, self.names, self.queries, self.keys, same_text=self.kind != "cross"
        )

    def sentence(self) -> str:
        """The strongest line among the rows that have a choice, and what most rows have in common."""
        return self.drawn.sentence(self.chosen)

    def on_paper(self) -> go.Figure | None:
        """The heads that are looked at alone, with room for their numbers."""
        if len(self.chosen) == len(self.names):
            return None
        header, numbers = self.picture()
        rest, weights, keys = unpacked(header, numbers)
        parts = (np.ascontiguousarray(part[self.chosen]) for part in (rest, weights, keys.astype(np.uint16)))
        chosen = {**header, "maps": [self.names[at] for at in self.chosen]}
        return arcs_figure(chosen, np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8))

    def laws(self) -> dict[str, bool]:
        """What must hold of what is drawn: of all but the largest weights, rows sum to 1."""
        lines = self.lines
        visible = self.visible[np.arange(len(self.queries))[:, None], lines.keys]  # (map, query, kept)
        if self.how == "rollout":  # padding, which nobody may see, and rows that see nothing keep themselves
            visible = visible | ((np.arange(len(self.queries)) >= self.read) | ~self.visible.any(-1))[:, None]
        laws = {}
        if not visible.all():
            laws["masked weights are exactly 0"] = bool((lines.weights[~visible] <= 0).all())
        if self.how != "max":
            is_near = lines.error <= self.attention.tolerance
            laws = {f"every row sums to 1 (largest error {formats.tiny(lines.error)})": is_near, **laws}
        return laws

    def table(self) -> pd.DataFrame:
        """Each map that is drawn; of several heads of a long text the lines, and what all others sum to."""
        name = "head" if self.how == "heads" else "weights"
        queries, keys = self.numbered
        if len(keys) > ALL_UP_TO and len(self.chosen) > 1:
            return self._drawn(name, queries, keys)
        each = list(maps(self.attention, self.layer, self.how))
        rows = pd.MultiIndex.from_product([[self.names[i] for i in self.chosen], queries], names=[name, "query \\ key"])
        return pd.DataFrame(np.concatenate([each[i] for i in self.chosen]), index=rows, columns=keys)

    def _drawn(self, name: str, queries: list[str], keys: list[str]) -> pd.DataFrame:
        """A row for each line, and for what all others of its query sum to."""
        labels = np.array([*keys, "all others"])
        at = np.concatenate([self.lines.keys, np.full_like(self.lines.keys[..., :1], len(keys))], axis=-1)[self.chosen]
        weights = np.concatenate([self.lines.weights, self.lines.rest[..., None]], axis=-1)[self.chosen]
        which = pd.MultiIndex.from_product(
            [[self.names[i] for i in self.chosen], queries, range(at.shape[-1])], names=[name, "query", "rank"]
        )
        table = pd.DataFrame({"key": labels[at.ravel()], "weight": weights.ravel()}, index=which).droplevel("rank")
        return table[table["weight"] >= 0]

    def picture(self) -> Content:
        """What arcs.js draws; a long text opens at the link's query and key."""
        return self.drawn.content(len(self.tokens[1].pieces), at=(self.state.query, self.state.key))

    def recipe(self) -> str:
        """A script that leaves the same in `weights`, (query, key)."""
        if self.model.array:
            return self._recipe_of(self.model.array)
        header, site = of_model(self.model), self.site("weights")
        if self.how == "heads":
            return script(head_recipe.weights, **header, site=site, head=self.chosen[0])
        if self.how == "rollout":
            return script(rollout, **header, sites=[self.site("weights", i) for i in range(self.layer + 1)])
        return script({"mean": mean, "max": largest}[self.how], **header, site=site)

    def _recipe_of(self, array: AttentionFile) -> str:
        """The script for weights out of a file."""
        header = of_file(array)
        if self.how == "heads":
            return script(array_recipes.head_weights, **header, layer=self.layer, head=self.chosen[0])
        if self.how == "rollout":
            return script(array_recipes.rollout, **header, layers=self.layer + 1)
        recipe = {"mean": array_recipes.layer_mean, "max": array_recipes.layer_largest}[self.how]
        return script(recipe, **header, layer=self.layer)


VIEW: View[AttentionState] = View(
    title="Word to word",
    exercise="blend",
    shows=[Arcs],
    reads_pass=True,
    controls=("kind", "layer", "lines"),
    line="line_arcs",
)
