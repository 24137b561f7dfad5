"""Who looks at whom, as lines: some maps of weights over the same tokens, a layer's heads or one aggregate of them.

For a long text not all weights travel: only the largest of each row, and what the others sum to. All that is done with
the lines is done in the browser.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray

from tfm_core.study.aggregates import attention_rollout, max_over_heads, mean_over_heads
from tfm_ui.live.attention import Attention
from tfm_ui.pictures import heatmaps
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.heatmaps import Heat, Side, Values, numbered
from tfm_ui.pictures.map_scale import Scale, from_zero
from tfm_ui.text import formats, head_sentences

ALL_UP_TO = 96  # with up to this many keys, all weights are sent to the browser
MASKED = -1.0
LARGEST = 32  # with more keys, only the largest of each row are sent, this many


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


@dataclass(frozen=True)
class Drawn:
    """Lines over their tokens, and what can be said of them.

    Attributes:
        lines: the weights to be drawn.
        attention: what they are made of.
        how: "heads", "mean", "max" or "rollout".
        names: what each map is called: the number of a head, or the aggregate.
        queries, keys: a label for each row and each column, padding included.
        same_text: whether rows and columns are the same tokens.
    """

    lines: Lines
    attention: Attention
    how: str
    names: Sequence[str]
    queries: Sequence[str]
    keys: Sequence[str]
    same_text: bool = True

    def sentence(self, chosen: Sequence[int]) -> str:
        """The strongest line among the rows that have a choice, and what most rows have in common.

        Args:
            chosen: which maps are looked at, from 0.
        """
        choices = self.attention.visible.sum(1)[: self.attention.read]  # how many keys each row may look at
        if not (choices > 1).any():
            return head_sentences.NO_CHOICE
        return self._about_a_map(chosen[0], choices) if len(chosen) == 1 else self._about_heads(chosen, choices)

    def _about_a_map(self, chosen: int, choices: NDArray[np.intp]) -> str:
        """A sentence about the one map that is looked at."""
        read = self.attention.read
        keys = self.lines.keys[chosen, :read, 0].astype(np.intp)
        values = np.maximum(self.lines.weights[chosen, :read], 0)
        second = values[:, 1] if values.shape[1] > 1 else np.zeros_like(values[:, 0])
        rows = head_sentences.Rows(values[:, 0], keys, second, choices)
        sentence = head_sentences.about_head(
            rows,
            self.queries,
            self.keys,
            same_text=self.same_text,
            shares_out_1=self.attention.shares_out_1 or self.how == "rollout",
        )
        return sentence if self.how == "heads" else f"{self.names[0].capitalize()}: {sentence[0].lower()}{sentence[1:]}"

    def _about_heads(self, chosen: Sequence[int], choices: NDArray[np.intp]) -> str:
        """A sentence about the heads that are looked at."""
        lines, read = self.lines, self.attention.read
        free = choices > 1
        first = np.where(free, lines.weights[chosen, :read, 0], -1)
        at, query = divmod(int(first.argmax()), first.shape[1])
        key = lines.keys[chosen[at], query, 0]
        top = np.maximum(lines.weights[chosen, :read, :2], 0)[:, free]  # (map, row, first and second)
        if not (top > 0).any():
            return head_sentences.NO_WEIGHT
        if self.attention.shares_out_1 and (top[..., 0] * choices[free] < 1 + head_sentences.TIE).all():
            return f"No pattern: every row of all {len(chosen)} heads spreads its weight evenly."
        clear = (top[..., 1] < top[..., 0] * (1 - head_sentences.TIE)).all(0)  # rows in which each head has a favourite
        favourites = lines.keys[chosen, :read, 0][:, free]
        agree = int(((favourites == favourites[0]).all(0) & clear).sum())
        largest = formats.weight(float(first[at, query]))
        equals = int((top > first[at, query] * (1 - head_sentences.TIE)).sum())
        strongest = f"head {chosen[at] + 1}, {head_sentences.pair(self.queries[query], self.keys[key])}, {largest}"
        if equals > 1:
            strongest = f"{equals} lines alike, of {largest}"
        rows = f"{agree} of {free.sum()} rows"
        where = "" if free.all() else " where a row has a choice"
        return f"Strongest of {len(chosen)} heads{where}: {strongest}. They favour the same key in {rows}."

    def content(self, keys_read: int, *, at: tuple[int, int] = (1, 1)) -> Content:
        """What arcs.js draws.

        Args:
            keys_read: how many of the keys are tokens; the rest is padding.
            at: the query and the key, from 1, at which a long text opens.
        """
        lines = self.lines
        header = {
            "queries": self.queries,
            "keys": self.keys,
            "read": [self.attention.read, keys_read],
            "seen": self.attention.visible.sum(1).tolist(),
            "maps": self.names,
            "heads": self.how == "heads",
            "kept": lines.keys.shape[-1],
            "at": at,
        }
        parts = (lines.rest, lines.weights, lines.keys)
        return header, np.frombuffer(b"".join(part.tobytes() for part in parts), np.uint8)
