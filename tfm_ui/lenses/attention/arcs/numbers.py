"""What the arcs show: some heads' weights, or an aggregate of them, with a sentence and a table. Nothing is drawn here.

Of a long text not all weights travel: of each row the largest, and what the others sum to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import attention_scores, attention_weights, mask_scores
from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_ui.lenses.attention import computed
from tfm_ui.lenses.attention.arcs.weights import Lines, maps, sums_to_one
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes
from tfm_ui.live.attention import Attention
from tfm_ui.live.texts import tokens_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words

FORMULAS = {
    "heads": "softmax(scores) of one head",
    "mean": "(1/H) Σₕ wₕ, the mean over the heads of this layer",
    "max": "maxₕ wₕ, the largest weight that any head of this layer has there",
    "rollout": "Aₗ ⋯ A₂ A₁ up to this layer, A = (W + I) / 2 with rows that sum to 1, W a layer's mean over heads",
}
SOURCES: Mapping[str, Sequence[Callable[..., object]]] = {  # what computed them, to be shown
    "heads": (attention_scores, mask_scores, attention_weights),
    "mean": (mean_over_heads,),
    "max": (max_over_heads,),
    "rollout": (attention_rollout, mean_over_heads),
}


@dataclass(frozen=True)
class ArcsView:
    """Some maps of weights over the same tokens: a layer's heads, or one aggregate.

    Attributes:
        lines: "heads", "mean", "max" or "rollout", as far as this attention has it.
        heads: how many the layer has.
        attention: what the maps are made of.
        kept: what is drawn of them.
        layer: from 0.
        visible: boolean (query, key), where the mask lets look.
        queries, keys: a label per token, padding included.
        read: how many of the queries are tokens; the rest is padding.
        read_keys: the same of the keys.
        same_text: whether queries and keys are the same tokens.
        stack: "" of a single one, "encoder" or "decoder" of two, "cross" between them.
        place: the layer's name in the recording, its weights.
    """

    lines: str
    heads: int
    attention: Attention
    kept: Lines
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
        many = look.plural(self.heads, "head")
        return (
            f"Layer {self.layer + 1}, {many}"
            if self.lines == "heads"
            else {
                "mean": f"Layer {self.layer + 1}, mean over {many}",
                "max": f"Layer {self.layer + 1}, largest of {many}",
                "rollout": f"Rollout, layers 1 to {self.layer + 1}" if self.layer else "Rollout, layer 1",
            }[self.lines]
        )

    def how_to_read(self, wanted: str) -> str:
        """One line on the lines, with the aggregate's formula.

        Args:
            wanted: the aggregate that was asked for: this attention may not have it.
        """
        said = f"A line runs from a query to a key; its strength is {FORMULAS[self.lines]}."
        if wanted != self.lines:
            said = f"Cross-attention has no rollout, as its rows and columns are two texts: this is the mean. {said}"
        elif self.lines == "rollout" and self.stack == "decoder":
            said += " It follows the decoder's self-attention alone, and leaves out what comes by cross-attention."
        return said

    @property
    def names(self) -> list[str]:
        """What each map is called: the numbers of the heads, or the aggregate."""
        if self.lines == "heads":
            return [str(head + 1) for head in range(self.heads)]
        many = look.plural(self.heads, "head")
        return [{"mean": f"mean of {many}", "max": f"largest of {many}", "rollout": "rollout"}[self.lines]]

    def chosen(self, heads: str) -> list[int]:
        """Which maps the field `heads` asks for, from 0; all, if it names none that there is."""
        wanted = {int(word) - 1 for word in heads.split() if word.isascii() and word.isdigit()}
        return sorted(wanted & set(range(len(self.names)))) or list(range(len(self.names)))

    def sentence(self, heads: str = "") -> str:
        """The strongest line among the rows that have a choice, and what most rows have in common.

        Args:
            heads: the field, which of them are looked at.
        """
        lines, shown = self.kept, self.chosen(heads)
        seen = self.visible.sum(1)[: self.read]
        if not (seen > 1).any():
            return words.NO_CHOICE
        if len(shown) == 1:
            values = np.maximum(lines.weights[shown[0], : self.read], 0)
            second = values[:, 1] if values.shape[1] > 1 else np.zeros_like(values[:, 0])
            rows = words.Rows(values[:, 0], lines.keys[shown[0], : self.read, 0].astype(np.intp), second, seen)
            said = words.about_head(rows, self.queries, self.keys, same_text=self.same_text)
            return said if self.lines == "heads" else f"{self.names[0].capitalize()}: {said[0].lower()}{said[1:]}"
        first = np.where(seen > 1, lines.weights[shown, : self.read, 0], -1)
        at, query = divmod(int(first.argmax()), first.shape[1])
        key = lines.keys[shown[at], query, 0]
        top = np.maximum(lines.weights[shown, : self.read, :2], 0)[:, seen > 1]  # (map, row, first and second)
        if (top[..., 0] * seen[seen > 1] < 1 + words.TIE).all():
            return f"No pattern: every row of all {len(shown)} heads spreads its weight evenly."
        clear = (top[..., 1] < top[..., 0] * (1 - words.TIE)).all(0)  # rows in which each head has a favourite
        favourites = lines.keys[shown, : self.read, 0][:, seen > 1]
        agree = int(((favourites == favourites[0]).all(0) & clear).sum())
        largest = look.weight(float(first[at, query]))
        equals = int((top > first[at, query] * (1 - words.TIE)).sum())
        strongest = f"head {shown[at] + 1}, {self.queries[query]} → {self.keys[key]}, {largest}"
        if equals > 1:
            strongest = f"{equals} lines alike, of {largest}"
        return (
            f"Strongest of {len(shown)} heads: {strongest}. They favour the same key in {agree} of {(seen > 1).sum()} "
            "rows."
        )

    def laws(self) -> dict[str, bool]:
        """What must hold of what is drawn, tested on its own numbers."""
        lines = self.kept
        seen = self.visible[np.arange(len(self.queries))[:, None], lines.keys]  # (map, query, kept)
        if self.lines == "rollout":  # padding, which nobody may see, and rows that see nothing keep themselves
            seen = seen | ((np.arange(len(self.queries)) >= self.read) | ~self.visible.any(-1))[:, None]
        laws = {"masked weights are exactly 0": bool((lines.weights[~seen] <= 0).all())}
        if sums_to_one(self.lines):
            laws = {f"every row sums to 1 (largest error {look.tiny(lines.error)})": lines.error < 1e-5, **laws}
        return laws

    def table(self, index: int) -> pd.DataFrame:
        """One of the maps, rows and columns by number and name."""
        weights = next(maps(self.attention, self.layer, self.lines, first=index))
        rows, columns = ([f"{i + 1} {name}" for i, name in enumerate(names)] for names in (self.queries, self.keys))
        return pd.DataFrame(weights, index=pd.Index(rows, name="query"), columns=columns)


def view(model: ModelState, state: AttentionState) -> ArcsView:
    """The lines that these controls ask for. Cross-attention has no rollout: its rows and columns are two texts."""
    kind = passes.kind_of(model, state.kind)
    cross = kind == "cross"
    queries, keys = tokens_of(model, kind)
    attention = passes.run(model).attention[kind]
    lines = "mean" if cross and state.lines == "rollout" else state.lines
    return ArcsView(
        lines=lines,
        heads=model.num_heads,
        attention=attention,
        kept=computed.lines(model, kind, state.layer - 1, lines),
        layer=state.layer - 1,
        visible=attention.visible,
        queries=words.labels(queries),
        keys=words.labels(keys),
        read=attention.read,
        read_keys=len(keys.pieces),
        same_text=not cross,
        stack=kind.replace("self", ""),
        place=passes.place(model, kind).format(layer=state.layer - 1, what="weights"),
    )
