"""What the Heads lens shows, worked out from one pass: arrays, labels, sentences, a table. Nothing is drawn here."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import POSITIONAL, Positional
from tfm_core.analysis import entropy, mean_distance, weight_on_first, weight_on_previous, weight_on_self
from tfm_ui import words
from tfm_ui.compute import PLACES, Pass, weight_sites
from tfm_ui.fields import Choice, Limits, Whole, control
from tfm_ui.figures import look
from tfm_ui.model_state import ModelState

SCALES = ("largest", "choice", "1", "own")


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
            "choice; a causal model's first token has none, and its 1.00 goes off the scale. 1: the same for every "
            "model. own: each head's largest, so that faint heads can be read but no longer compared.",
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
        weights: float32 (layer, head, query, key).
        visible: boolean (query, key), False where masked.
        queries, keys: a label per row and per column, padding included.
        read: how many of the rows are tokens; the rest is padding.
        same_text: whether rows and columns are the same tokens, as in self-attention: only then is there a distance.
        formula: how a weight comes from its query and key.
        sites: the recording's name for each layer's weights.
    """

    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]
    queries: list[str]
    keys: list[str]
    read: int
    same_text: bool
    formula: str
    sites: list[str]

    @cached_property
    def sentences(self) -> list[str]:
        """What each head does, layer by layer."""
        rows = self.weights[:, :, : self.read].reshape(-1, self.read, len(self.keys))
        visible, queries = self.visible[: self.read], self.queries[: self.read]
        return [words.about_head(row, visible, queries, self.keys, same_text=self.same_text) for row in rows]

    @property
    def sentence(self) -> str:
        """What stands out among all heads."""
        return words.about_heads(self.weights[:, :, : self.read], self.visible[: self.read])

    def top(self, scale: str) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head, 1, 1)."""
        own: NDArray[np.float32] = self.weights.max((-2, -1), keepdims=True)
        if scale == "own":
            return own
        chosen = self.weights[:, :, self.visible.sum(1) > 1]
        ends = {"1": 1.0, "largest": own.max(), "choice": chosen.max() if chosen.size else own.max()}
        return np.full_like(own, ends[scale])

    def laws(self, layer: int, head: int) -> dict[str, bool]:
        """What must hold of the head shown, tested on its own numbers."""
        weights = self.weights[layer, head]
        error = float(np.abs(weights.sum(-1) - self.visible.any(-1)).max())
        return {
            f"every row sums to 1 (largest error {look.tiny(error)})": error < 1e-5,
            "masked weights are exactly 0": not weights[~self.visible].any(),
        }

    def table(self, layer: int, head: int) -> pd.DataFrame:
        """The weights of one head, rows and columns by number and name."""
        rows = [f"{i + 1} {label}" for i, label in enumerate(self.queries)]
        columns = [f"{i + 1} {label}" for i, label in enumerate(self.keys)]
        return pd.DataFrame(self.weights[layer, head], index=pd.Index(rows, name="query"), columns=columns)

    def summary(self) -> pd.DataFrame:
        """A row per head: entropy in nats, mean distance in tokens, shares of weight in %. Without padding rows."""
        weights = torch.from_numpy(self.weights[:, :, : self.read])
        columns = {"entropy": entropy(weights)}
        if self.same_text:
            columns["distance"] = mean_distance(weights)
            columns["self"] = 100 * weight_on_self(weights)
            columns["prev"] = 100 * weight_on_previous(weights)
        columns["first"] = 100 * weight_on_first(weights)
        layers, heads = weights.shape[:2]
        names = [f"L{layer + 1} h{head + 1}" for layer in range(layers) for head in range(heads)]
        return pd.DataFrame({k: v.flatten().numpy() for k, v in columns.items()}, index=pd.Index(names, name="head"))


def view(state: ModelState, shown: Pass, kind: str) -> HeadsView:
    """The heads of one kind of attention ("encoder", "decoder" or "cross"; a single stack has but one)."""
    kind = kind if state.is_encoder_decoder else "self"
    source, target = state.source_tokens, state.target_tokens
    queries = target if kind in ("decoder", "cross") else source
    keys = target if kind == "decoder" else source
    return HeadsView(
        weights=shown.attention[kind].weights,
        visible=shown.attention[kind].visible,
        queries=words.labels(queries),
        keys=words.labels(keys),
        read=len(queries.pieces),
        same_text=kind != "cross",
        formula=_formula(Positional if kind == "cross" else POSITIONAL[state.positional]),
        sites=weight_sites(state, kind),
    )


def _formula(scheme: type[Positional]) -> str:
    """What the positional scheme makes of softmax(q·k / √dₖ)."""
    product = "q·k" if scheme.rotate is Positional.rotate else "turned q·k"
    return f"softmax({product} / √dₖ" + (")" if scheme.bias is Positional.bias else " + bias)")
