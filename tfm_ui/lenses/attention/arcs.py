"""The view "arcs": who looks at whom, as lines: some heads' weights, or an aggregate of them.

For a long text not all weights travel: only the largest of each row, and what the others sum to. All that is done with
the lines is done in the browser.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

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
from tfm_ui.page.lens import View
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, Values, numbered
from tfm_ui.pictures.map_scale import Scale, from_zero
from tfm_ui.pictures.panel import Source
from tfm_ui.state.arrays import AttentionFile
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences

ALL_UP_TO = 96  # with up to this many keys, all weights are sent to the browser
MASKED = -1.0
LARGEST = 32  # with more keys, only the largest of each row are sent, this many
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


@dataclass(frozen=True)
class Lines:
    """The weights to be drawn, of each map the largest of each row, falling.

    Attributes:
        keys: uint16 (map, query, kept), where they stand.
        weights: float32 (map, query, kept); MASKED where the query may not look.
        rest: float32 (map, query), what the weights that are not among them sum to.
        error: how far a row's sum is from what it must be, at most; 0 where no law binds it.
    """

    keys: NDArray[np.uint16]
    weights: NDArray[np.float32]
    rest: NDArray[np.float32]
    error: float


def maps(attention: Attention, layer: int, how: str) -> Iterator[NDArray[np.float32]]:
    """The maps, one at a time, float32 (query, key): 16 heads of 1,024 tokens are 67 MB together.

    Args:
        attention: what they are made of.
        layer: from 0; the rollout goes from the first layer to this.
        how: "heads", "mean", "max" or "rollout".
    """

    def heads_of(layer: int) -> torch.Tensor:
        return torch.from_numpy(np.stack(list(maps(attention, layer, "heads"))))

    if how == "heads":
        yield from (attention.exact(layer, head) for head in range(attention.heads))
    elif how == "rollout":
        yield attention_rollout(heads_of(before) for before in range(layer + 1)).numpy()
    else:
        yield {"mean": mean_over_heads, "max": max_over_heads}[how](heads_of(layer)).numpy()


def lines_of(maps: Iterable[NDArray[np.float32]], visible: NDArray[np.bool_], how: str) -> Lines:
    """What is drawn of these maps; visible, boolean (query, key): where the mask lets look."""
    count = visible.shape[-1] if visible.shape[-1] <= ALL_UP_TO else LARGEST
    # A rollout's row that may see nothing keeps itself.
    due = np.ones(len(visible)) if how == "rollout" else visible.any(-1)
    keys, weights, rests, error = [], [], [], 0.0
    for whole in maps:
        sums = whole.sum(-1, dtype=np.float64)
        error = max(error, float(np.abs(sums - due).max()) if how != "max" else 0.0)
        marked = np.where(visible | (whole > 0), whole, np.float32(MASKED))
        values, at = (tensor.numpy() for tensor in torch.from_numpy(marked).topk(count))
        rest = sums - np.maximum(values, 0).sum(-1, dtype=np.float64)
        keys.append(at.astype(np.uint16))
        weights.append(values)
        rests.append(np.maximum(rest, 0).astype(np.float32) * (count < visible.shape[-1]))
    return Lines(np.stack(keys), np.stack(weights), np.stack(rests), error)


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


def arcs_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """The same weights as a heatmap per head, or of the aggregate.

    For a long text they are in the order of their size, so that a file does not consist of gaps.
    """
    rest, weights, keys = unpacked(header, numbers)
    names = numbered(header["keys"])
    rows = Side(labels=numbered(header["queries"]), title="query", noun="query", role="query")
    top = from_zero(float(weights.max()))
    titles = [f"head {name}" if header["heads"] else name for name in header["maps"]]
    if header["kept"] == len(names):
        cells = np.empty_like(weights)
        np.put_along_axis(cells, keys, weights, 2)
        columns = Side(labels=names, title="key", noun="key", role="key")
        note = "Every weight, whatever share of a row is drawn as lines."
        drawn = [_heat(title, part, rows, columns, top) for title, part in zip(titles, cells, strict=True)]
        return heatmaps.figure(drawn, told=note)
    columns = Side(labels=[f"{i}." for i in range(1, header["kept"] + 1)], title="weights, falling", noun="weight")
    others = f"the other {len(names) - header['kept']} keys together %{{customdata[1]:.4~g}}"
    heats = [
        replace(
            _heat(title, part, rows, columns, top),
            square=False,
            more=(f"to key %{{customdata[0]}}; {others}", np.stack([at + 1, left[:, None].repeat(len(at[0]), 1)], -1)),
        )
        for title, part, at, left in zip(titles, weights, keys.astype(np.float32), rest, strict=True)
    ]
    told = "a hover or a tap tells whose it is, and what all others get."
    note = f"Of each row the {header['kept']} largest weights; {told}"
    return heatmaps.figure(heats, told=note)


def unpacked(header: Header, numbers: NDArray[Any]) -> tuple[Values, Values, NDArray[np.intp]]:
    """What is left of each row, float32 (map, query); the weights, (map, query, kept); and their keys."""
    maps, queries, kept = len(header["maps"]), len(header["queries"]), header["kept"]
    data, rows = numbers.tobytes(), maps * queries
    rest = np.frombuffer(data, np.float32, rows).reshape(maps, queries)
    weights = np.frombuffer(data, np.float32, rows * kept, 4 * rows).reshape(maps, queries, kept)
    keys = np.frombuffer(data, np.uint16, rows * kept, 4 * rows * (1 + kept)).reshape(maps, queries, kept)
    return rest, weights, keys.astype(np.intp)


def _heat(title: str, weights: Values, rows: Side, columns: Side, top: Scale) -> Heat:
    values = np.where(weights == MASKED, np.float32(np.nan), weights)
    return Heat(name=title, values=values, rows=rows, columns=columns, scale=top, unit="weight")


ARCS = Canvas(
    "lenses/attention/arcs",
    """
<div class="arcs" data-picture>
  <div class="tools">
    <span class="chips" role="group" aria-label="Heads shown"></span>
    <label class="mass">Draw of each row <input type="range" min="5" max="100" step="1"> <b></b></label>
    <span class="hide" role="group" aria-label="Not drawn">
      <button data-hide="padding">hide padding</button> <button data-hide="first">hide first token</button>
      <button class="clear" hidden>clear selection</button>
    </span>
    <span class="window"><span></span>
      <button data-by="-1" aria-label="Tokens before">↑</button><button data-by="1" aria-label="Tokens after">↓</button>
    </span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <p class="say" aria-live="polite"></p>
  <div class="foot"></div>
</div>
""",
    arcs_figure,
)


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

    def sentence(self) -> str:
        """The strongest line among the rows that have a choice, and what most rows have in common."""
        choices = self.visible.sum(1)[: self.read]  # how many keys each row may look at
        if not (choices > 1).any():
            return head_sentences.NO_CHOICE
        return self._about_a_map(choices) if len(self.chosen) == 1 else self._about_heads(choices)

    def _about_a_map(self, choices: NDArray[np.intp]) -> str:
        """A sentence about the one map that is looked at."""
        (chosen,) = self.chosen
        keys = self.lines.keys[chosen, : self.read, 0].astype(np.intp)
        values = np.maximum(self.lines.weights[chosen, : self.read], 0)
        second = values[:, 1] if values.shape[1] > 1 else np.zeros_like(values[:, 0])
        rows = head_sentences.Rows(values[:, 0], keys, second, choices)
        sentence = head_sentences.about_head(
            rows,
            self.queries,
            self.keys,
            same_text=self.kind != "cross",
            shares_out_1=self.attention.shares_out_1 or self.how == "rollout",
        )
        return sentence if self.how == "heads" else f"{self.names[0].capitalize()}: {sentence[0].lower()}{sentence[1:]}"

    def _about_heads(self, choices: NDArray[np.intp]) -> str:
        """A sentence about the heads that are looked at."""
        lines, chosen = self.lines, self.chosen
        free = choices > 1
        first = np.where(free, lines.weights[chosen, : self.read, 0], -1)
        at, query = divmod(int(first.argmax()), first.shape[1])
        key = lines.keys[chosen[at], query, 0]
        top = np.maximum(lines.weights[chosen, : self.read, :2], 0)[:, free]  # (map, row, first and second)
        if not (top > 0).any():
            return head_sentences.NO_WEIGHT
        if self.attention.shares_out_1 and (top[..., 0] * choices[free] < 1 + head_sentences.TIE).all():
            return f"No pattern: every row of all {len(chosen)} heads spreads its weight evenly."
        clear = (top[..., 1] < top[..., 0] * (1 - head_sentences.TIE)).all(0)  # rows in which each head has a favourite
        favourites = lines.keys[chosen, : self.read, 0][:, free]
        agree = int(((favourites == favourites[0]).all(0) & clear).sum())
        largest = formats.weight(float(first[at, query]))
        equals = int((top > first[at, query] * (1 - head_sentences.TIE)).sum())
        strongest = f"head {chosen[at] + 1}, {head_sentences.pair(self.queries[query], self.keys[key])}, {largest}"
        if equals > 1:
            strongest = f"{equals} lines alike, of {largest}"
        rows = f"{agree} of {free.sum()} rows"
        where = "" if free.all() else " where a row has a choice"
        return f"Strongest of {len(chosen)} heads{where}: {strongest}. They favour the same key in {rows}."

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
        lines = self.lines
        header = {
            "queries": self.queries,
            "keys": self.keys,
            "read": [self.read, len(self.tokens[1].pieces)],
            "seen": self.visible.sum(1).tolist(),
            "maps": self.names,
            "heads": self.how == "heads",
            "kept": lines.keys.shape[-1],
            "at": (self.state.query, self.state.key),
        }
        parts = (lines.rest, lines.weights, lines.keys)
        return header, np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8)

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
    shows=[Arcs],
    reads_pass=True,
    controls=("kind", "layer", "lines"),
    line="line_arcs",
)
