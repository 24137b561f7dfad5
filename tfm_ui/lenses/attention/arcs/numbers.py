"""What the arcs show: some heads' weights, or an aggregate of them, with a sentence and a table. Nothing is drawn here.

For a long text not all weights travel: only the largest of each row, and what the others sum to.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.attention.arcs import recipe
from tfm_ui.lenses.attention.arcs.weights import ALL_UP_TO, Lines, lines, maps, sums_to_one
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import head_recipe, passes, places
from tfm_ui.live.attention import Attention
from tfm_ui.live.script import of_model, script
from tfm_ui.live.texts import tokens_of
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels

FORMULAS = {
    "heads": "softmax(scores) of one head",
    "mean": "(1/H) Σₕ wₕ, the mean over the heads of this layer",
    "max": "maxₕ wₕ, the largest weight that any head of this layer has there",
    "rollout": "Aₗ ⋯ A₂ A₁ up to this layer, A = (W + I) / 2 with rows that sum to 1, W a layer's mean over heads",
}


@dataclass(frozen=True)
class Arcs(Result):
    """Some maps of weights over the same tokens: a layer's heads, or one aggregate.

    Attributes:
        model: whose weights they are.
        how: "heads", "mean", "max" or "rollout", as far as this attention has it.
        chosen_heads: the heads that the reader looks at, as the link says it: numbers from 1.
        heads: how many the layer has.
        attention: what the maps are made of.
        lines: what is drawn of them.
        layer: from 0.
        visible: boolean (query, key), where the mask lets look.
        queries, keys: a label per token, padding included.
        read: how many of the queries are tokens; the rest is padding.
        read_keys: the same of the keys.
        same_text: whether queries and keys are the same tokens.
        stack: "" of a single one, "encoder" or "decoder" of two, "cross" between them.
        place: the recording's name of this attention, with `{layer}` and `{what}` to be put in.
    """

    model: ModelState
    how: str
    chosen_heads: str
    heads: int
    attention: Attention
    lines: Lines
    layer: int
    visible: NDArray[np.bool_]
    queries: list[str]
    keys: list[str]
    read: int
    read_keys: int
    same_text: bool
    stack: str
    place: str

    @property
    def title(self) -> str:
        """What is drawn."""
        many = formats.plural(self.heads, "head")
        return {
            "heads": f"Layer {self.layer + 1}, {many}",
            "mean": f"Layer {self.layer + 1}, mean over {many}",
            "max": f"Layer {self.layer + 1}, largest of {many}",
            "rollout": f"Rollout, layers 1 to {self.layer + 1}" if self.layer else "Rollout, layer 1",
        }[self.how]

    def how_to_read(self, wanted: str) -> str:
        """One line on the lines, with the aggregate's formula.

        Args:
            wanted: the aggregate that was asked for: this attention may not have it.
        """
        said = f"A line runs from a query to a key; its strength is {FORMULAS[self.how]}."
        if wanted != self.how:
            said = f"Cross-attention has no rollout, as its rows and columns are two texts: this is the mean. {said}"
        elif self.how == "rollout" and self.stack == "decoder":
            said += " It follows the decoder's self-attention alone, and leaves out what comes by cross-attention."
        return said

    @property
    def names(self) -> list[str]:
        """What each map is called: the numbers of the heads, or the aggregate."""
        if self.how == "heads":
            return [str(head + 1) for head in range(self.heads)]
        many = formats.plural(self.heads, "head")
        return [{"mean": f"mean of {many}", "max": f"largest of {many}", "rollout": "rollout"}[self.how]]

    @property
    def chosen(self) -> list[int]:
        """Which maps the reader looks at, from 0; all, if the link names none that there is."""
        wanted = {int(word) - 1 for word in self.chosen_heads.split() if word.isascii() and word.isdigit()}
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
        said = head_sentences.about_head(rows, self.queries, self.keys, same_text=self.same_text)
        return said if self.how == "heads" else f"{self.names[0].capitalize()}: {said[0].lower()}{said[1:]}"

    def _about_heads(self, choices: NDArray[np.intp]) -> str:
        """A sentence about the heads that are looked at."""
        lines, shown = self.lines, self.chosen
        free = choices > 1
        first = np.where(free, lines.weights[shown, : self.read, 0], -1)
        at, query = divmod(int(first.argmax()), first.shape[1])
        key = lines.keys[shown[at], query, 0]
        top = np.maximum(lines.weights[shown, : self.read, :2], 0)[:, free]  # (map, row, first and second)
        if (top[..., 0] * choices[free] < 1 + head_sentences.TIE).all():
            return f"No pattern: every row of all {len(shown)} heads spreads its weight evenly."
        clear = (top[..., 1] < top[..., 0] * (1 - head_sentences.TIE)).all(0)  # rows in which each head has a favourite
        favourites = lines.keys[shown, : self.read, 0][:, free]
        agree = int(((favourites == favourites[0]).all(0) & clear).sum())
        largest = formats.weight(float(first[at, query]))
        equals = int((top > first[at, query] * (1 - head_sentences.TIE)).sum())
        strongest = f"head {shown[at] + 1}, {self.queries[query]} → {self.keys[key]}, {largest}"
        if equals > 1:
            strongest = f"{equals} lines alike, of {largest}"
        rows = f"{agree} of {free.sum()} rows"
        where = "" if free.all() else " where a row has a choice"
        return f"Strongest of {len(shown)} heads{where}: {strongest}. They favour the same key in {rows}."

    def laws(self) -> dict[str, bool]:
        """What must hold of what is drawn, tested on its own numbers."""
        lines = self.lines
        visible = self.visible[np.arange(len(self.queries))[:, None], lines.keys]  # (map, query, kept)
        if self.how == "rollout":  # padding, which nobody may see, and rows that see nothing keep themselves
            visible = visible | ((np.arange(len(self.queries)) >= self.read) | ~self.visible.any(-1))[:, None]
        laws = {}
        if not visible.all():
            laws["masked weights are exactly 0"] = bool((lines.weights[~visible] <= 0).all())
        if sums_to_one(self.how):
            laws = {f"every row sums to 1 (largest error {formats.tiny(lines.error)})": lines.error < 1e-5, **laws}
        return laws

    def table(self) -> pd.DataFrame:
        """Each map that is drawn; of several heads of a long text the lines, and what all others sum to."""
        name = "head" if self.how == "heads" else "weights"
        queries, keys = ([f"{i + 1} {name}" for i, name in enumerate(names)] for names in (self.queries, self.keys))
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

    def recipe(self) -> str:
        """A script that leaves the same in `weights`, (query, key)."""
        header = of_model(self.model)
        site = self.place.format(layer=self.layer, what="weights")
        if self.how == "heads":
            return script(head_recipe.weights, **header, site=site, head=self.chosen[0])
        if self.how == "rollout":
            sites = [self.place.format(layer=layer, what="weights") for layer in range(self.layer + 1)]
            return script(recipe.rollout, **header, sites=sites)
        return script({"mean": recipe.mean, "max": recipe.largest}[self.how], **header, site=site)


def arcs(model: ModelState, state: AttentionState) -> Arcs:
    """The lines that these controls ask for. Cross-attention has no rollout: its rows and columns are two texts."""
    kind = places.kind_of(model, state.kind)
    cross = kind == "cross"
    queries, keys = tokens_of(model, kind)
    attention = passes.run(model).attention[kind]
    how = "mean" if cross and state.lines == "rollout" else state.lines
    return Arcs(
        model=model,
        how=how,
        chosen_heads=state.heads,
        heads=model.num_heads,
        attention=attention,
        lines=lines(model, kind, state.layer - 1, how),
        layer=state.layer - 1,
        visible=attention.visible,
        queries=token_labels.labels(queries),
        keys=token_labels.labels(keys),
        read=attention.read,
        read_keys=len(keys.pieces),
        same_text=not cross,
        stack=kind.replace("self", ""),
        place=places.place(model, kind),
    )
