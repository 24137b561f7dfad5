"""What the Heads lens shows, worked out from one pass: arrays, labels, sentences, a table. Nothing is drawn here."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import POSITIONAL, Positional
from tfm_ui.live.attention import SUMMARY, Attention
from tfm_ui.live.passes import PLACES, Pass, kind_of, place
from tfm_ui.live.texts import tokens_of
from tfm_ui.state.fields import Choice, Limits, Whole, control
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.words import Rows

SCALES = ("largest", "choice", "own", "1", "0.1", "0.01")


@dataclass(frozen=True, kw_only=True)
class HeadsState:
    """The lens's own controls; `kind` matters to encoder-decoders alone."""

    kind: str = control(Choice("Attention", tuple(PLACES[True]), "buttons"), default="encoder")
    layer: int = control(Whole("Layer", 1, 8, box=True), default=1)
    head: int = control(Whole("Head", 1, 16, box=True), default=1)
    scale: str = control(
        Choice(
            "Colours from 0 to",
            SCALES,
            help="largest: the largest weight of all heads on screen. choice: the largest of the rows that have a "
            "choice; a causal model's first token has none, and its 1.00 goes off the scale. own: each head's largest, "
            "so that faint heads can be read but no longer compared. 1, 0.1, 0.01: the same for every model; small "
            "ones show the faint weights of long texts, and what is larger gets the last colour.",
        ),
        default="largest",
    )

    @staticmethod
    def limits(model: ModelState) -> Limits:
        """What the model leaves to choose from."""
        return {"layer": {"high": model.num_layers}, "head": {"high": model.num_heads}}


@dataclass(frozen=True)
class HeadsView:
    """All heads of one kind of attention, with the names of their rows and columns.

    Attributes:
        attention: the heads.
        queries, keys: a label per row and per column, padding included.
        same_text: whether rows and columns are the same tokens, as in self-attention: only then is there a distance.
        formula: how a weight comes from its query and key.
        place: the recording's name of this attention, with `{layer}` and `{what}` to be put in.
    """

    attention: Attention
    queries: list[str]
    keys: list[str]
    same_text: bool
    formula: str
    place: str

    @cached_property
    def seen(self) -> NDArray[np.intp]:
        """How many keys each row may see, (query)."""
        return np.asarray(self.attention.visible.sum(1))

    @property
    def sentences(self) -> list[str]:
        """What each head does, layer by layer."""
        layers, heads = self.attention.largest.shape
        return [self.sentence_of(layer, head) for layer in range(layers) for head in range(heads)]

    def sentence_of(self, layer: int, head: int) -> str:
        """What one head does; both from 0."""
        read, kept = self.attention.read, self.attention.layers[layer]
        rows = Rows(kept.first[head, :read], kept.key[head, :read], kept.second[head, :read], self.seen[:read])
        return words.about_head(rows, self.queries, self.keys, same_text=self.same_text)

    @property
    def sentence(self) -> str:
        """What stands out among all heads."""
        read = self.attention.read
        return words.about_heads(self.attention.first[:, :, :read], self.seen[:read])

    def top(self, scale: str) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head)."""
        own = self.attention.largest
        if scale == "own":
            return own
        chosen = self.attention.first[:, :, self.seen > 1]
        ends = {"largest": own.max(), "choice": chosen.max() if chosen.size else own.max()}
        return np.full_like(own, ends[scale] if scale in ends else float(scale))

    def head(self, layer: int, head: int) -> "HeadView":
        """One of them, exactly; both from 0."""
        attention = self.attention
        return HeadView(
            attention.exact(layer, head), attention.visible, self.queries, self.keys, attention.read, self.formula
        )

    def summary(self) -> pd.DataFrame:
        """A row per head: entropy in nats, mean distance in tokens, shares of weight in %. Without padding rows."""
        columns = {}
        for name in SUMMARY:
            if self.same_text or name in ("entropy", "first"):
                values = np.concatenate([layer.summary[name] for layer in self.attention.layers])
                columns[name] = values if name in ("entropy", "distance") else 100 * values
        layers, heads = self.attention.largest.shape
        names = [f"L{layer + 1} h{head + 1}" for layer in range(layers) for head in range(heads)]
        return pd.DataFrame(columns, index=pd.Index(names, name="head"))


@dataclass(frozen=True)
class HeadView:
    """One head, exactly.

    Attributes:
        weights: float32 (query, key).
        visible: boolean (query, key), False where masked.
        queries, keys: a label per row and per column, padding included.
        read: how many of the rows are tokens; the rest is padding.
        formula: how a weight comes from its query and key.
    """

    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]
    queries: list[str]
    keys: list[str]
    read: int
    formula: str

    def laws(self) -> dict[str, bool]:
        """What must hold of the head shown, tested on its own numbers."""
        error = float(np.abs(self.weights.sum(-1) - self.visible.any(-1)).max())
        return {
            f"every row sums to 1 (largest error {look.tiny(error)})": error < 1e-5,
            "masked weights are exactly 0": not self.weights[~self.visible].any(),
        }

    def table(self) -> pd.DataFrame:
        """The weights, rows and columns by number and name."""
        rows = [f"{i + 1} {label}" for i, label in enumerate(self.queries)]
        columns = [f"{i + 1} {label}" for i, label in enumerate(self.keys)]
        return pd.DataFrame(self.weights, index=pd.Index(rows, name="query"), columns=columns)


def view(state: ModelState, shown: Pass, kind: str) -> HeadsView:
    """The heads of one kind of attention ("encoder", "decoder" or "cross"; a single stack has but one)."""
    kind = kind_of(state, kind)
    queries, keys = tokens_of(state, kind)
    return HeadsView(
        attention=shown.attention[kind],
        queries=words.labels(queries),
        keys=words.labels(keys),
        same_text=kind != "cross",
        formula=_formula(Positional if kind == "cross" else POSITIONAL[state.positional]),
        place=place(state, kind),
    )


def _formula(scheme: type[Positional]) -> str:
    """What the positional scheme makes of softmax(q·k / √dₖ)."""
    product = "turned q·k" if "rotate" in scheme.enters() else "q·k"
    return f"softmax({product} / √dₖ" + (" + bias)" if "bias_at" in scheme.enters() else ")")
