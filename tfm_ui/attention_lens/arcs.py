"""What the arcs show: some heads' weights, or an aggregate of them, with a sentence and a table. Nothing is drawn here.

Of a long text not all weights travel: of each row the largest, and what the others sum to.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import attention_scores, attention_weights, mask_scores
from tfm_core.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_ui import compute, words
from tfm_ui.attention import Attention
from tfm_ui.attention_lens.state import AttentionState
from tfm_ui.feasible import tokens_of
from tfm_ui.figures import look
from tfm_ui.model_state import ModelState

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
ALL_UP_TO = 96  # keys up to which every weight travels
MASKED = -1.0
LARGEST = 32  # beyond, so many of each row


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


@dataclass(frozen=True)
class ArcsView:
    """Some maps of weights over the same tokens: a layer's heads, or one aggregate.

    Attributes:
        lines: "heads", "mean", "max" or "rollout", as far as this attention has it.
        heads: how many the layer has.
        attention: what the maps are made of.
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

    def maps(self) -> Iterator[NDArray[np.float32]]:
        """The maps, one at a time, float32 (query, key): 16 heads of 1,024 tokens are 67 MB together."""
        if self.lines == "heads":
            yield from (self.attention.exact(self.layer, head) for head in range(self.heads))
        else:
            yield aggregate(self.attention, self.layer, self.lines)

    @property
    def sums_to_one(self) -> bool:
        """Whether the rows that may see something must sum to 1."""
        return self.lines != "max"

    def kept(self) -> Lines:
        """What is drawn."""
        count = len(self.keys) if len(self.keys) <= ALL_UP_TO else LARGEST
        # A rollout's row that may see nothing keeps itself.
        due = np.ones(len(self.queries)) if self.lines == "rollout" else self.visible.any(-1)
        keys, weights, rests, error = [], [], [], 0.0
        for whole in self.maps():
            sums = whole.sum(-1, dtype=np.float64)
            error = max(error, float(np.abs(sums - due).max()) if self.sums_to_one else 0.0)
            marked = np.where(self.visible | (whole > 0), whole, np.float32(MASKED))
            values, at = (found.numpy() for found in torch.from_numpy(marked).topk(count))
            rest = sums - np.maximum(values, 0).sum(-1, dtype=np.float64)
            keys.append(at.astype(np.uint16))
            weights.append(values)
            rests.append(np.maximum(rest, 0).astype(np.float32) * (count < len(self.keys)))
        return Lines(np.stack(keys), np.stack(weights), np.stack(rests), error)

    def chosen(self, heads: str) -> list[int]:
        """Which maps the field `heads` asks for, from 0; all, if it names none that there is."""
        wanted = {int(word) - 1 for word in heads.split() if word.isascii() and word.isdigit()}
        return sorted(wanted & set(range(len(self.names)))) or list(range(len(self.names)))

    def sentence(self, lines: Lines, heads: str = "") -> str:
        """The strongest line among the rows that have a choice, and what most rows have in common.

        Args:
            lines: what is drawn.
            heads: the field, which of them are looked at.
        """
        maps = self.chosen(heads)
        seen = self.visible.sum(1)[: self.read]
        if not (seen > 1).any():
            return words.NO_CHOICE
        if len(maps) == 1:
            values = np.maximum(lines.weights[maps[0], : self.read], 0)
            second = values[:, 1] if values.shape[1] > 1 else np.zeros_like(values[:, 0])
            rows = words.Rows(values[:, 0], lines.keys[maps[0], : self.read, 0].astype(np.intp), second, seen)
            said = words.about_head(rows, self.queries, self.keys, same_text=self.same_text)
            return said if self.lines == "heads" else f"{self.names[0].capitalize()}: {said[0].lower()}{said[1:]}"
        first = np.where(seen > 1, lines.weights[maps, : self.read, 0], -1)
        at, query = np.unravel_index(int(first.argmax()), first.shape)
        key = lines.keys[maps[at], query, 0]
        top = np.maximum(lines.weights[maps, : self.read, :2], 0)[:, seen > 1]  # (map, row, first and second)
        if (top[..., 0] * seen[seen > 1] < 1 + words.TIE).all():
            return f"No pattern: every row of all {len(maps)} heads spreads its weight evenly."
        clear = (top[..., 1] < top[..., 0] * (1 - words.TIE)).all(0)  # rows in which each head has a favourite
        favourites = lines.keys[maps, : self.read, 0][:, seen > 1]
        agree = int(((favourites == favourites[0]).all(0) & clear).sum())
        return (
            f"Strongest of {len(maps)} heads: head {maps[at] + 1}, {self.queries[query]} → {self.keys[key]}, "
            f"{look.weight(float(first[at, query]))}. They favour the same key in {agree} of {(seen > 1).sum()} rows."
        )

    def laws(self, lines: Lines) -> dict[str, bool]:
        """What must hold of what is drawn, tested on its own numbers."""
        seen = self.visible[np.arange(len(self.queries))[:, None], lines.keys]  # (map, query, kept)
        if self.lines == "rollout":  # padding, which nobody may see, and rows that see nothing keep themselves
            seen = seen | ((np.arange(len(self.queries)) >= self.read) | ~self.visible.any(-1))[:, None]
        laws = {"masked weights are exactly 0": bool((lines.weights[~seen] <= 0).all())}
        if self.sums_to_one:
            laws = {f"every row sums to 1 (largest error {look.tiny(lines.error)})": lines.error < 1e-5, **laws}
        return laws

    def table(self, index: int) -> pd.DataFrame:
        """One of the maps, rows and columns by number and name."""
        weights = next(map_ for at, map_ in enumerate(self.maps()) if at == index)
        rows, columns = ([f"{i + 1} {name}" for i, name in enumerate(names)] for names in (self.queries, self.keys))
        return pd.DataFrame(weights, index=pd.Index(rows, name="query"), columns=columns)


def heads_of(attention: Attention, layer: int) -> torch.Tensor:
    """All weights of one layer, (head, query, key)."""
    return torch.from_numpy(np.stack([attention.exact(layer, h) for h in range(attention.largest.shape[1])]))


def aggregate(attention: Attention, layer: int, how: str) -> NDArray[np.float32]:
    """The mean, the max or the rollout, float32 (query, key); the rollout from the first layer to this, from 0."""
    if how == "rollout":
        found = attention_rollout(heads_of(attention, before) for before in range(layer + 1))
    else:
        found = {"mean": mean_over_heads, "max": max_over_heads}[how](heads_of(attention, layer))
    array: NDArray[np.float32] = found.numpy()
    return array


def view(model: ModelState, state: AttentionState) -> ArcsView:
    """The lines that these controls ask for. Cross-attention has no rollout: its rows and columns are two texts."""
    kind = compute.kind_of(model, state.kind)
    cross = kind == "cross"
    queries, keys = tokens_of(model, kind)
    attention = compute.run(model).attention[kind]
    lines = "mean" if cross and state.lines == "rollout" else state.lines
    return ArcsView(
        lines=lines,
        heads=model.num_heads,
        attention=attention,
        layer=state.layer - 1,
        visible=attention.visible,
        queries=words.labels(queries),
        keys=words.labels(keys),
        read=attention.read,
        read_keys=len(keys.pieces),
        same_text=not cross,
        stack=kind.replace("self", ""),
        place=compute.place(model, kind).format(layer=state.layer - 1, what="weights"),
    )
