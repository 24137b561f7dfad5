"""What the Heads lens shows of one pass: arrays, labels, sentences, tables. Nothing is drawn here."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import POSITIONAL, Positional
from tfm_ui.live import head_recipe
from tfm_ui.live.attention import SUMMARY, Attention, Summary
from tfm_ui.live.passes import run, summary
from tfm_ui.live.places import kind_of, place, tokens_of
from tfm_ui.live.script import of_model, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels
from tfm_ui.text.head_sentences import Rows


@dataclass(frozen=True)
class AllHeads(Result):
    """All heads of one kind of attention, with the names of their rows and columns.

    Attributes:
        model: the model of these heads.
        attention: the heads.
        queries, keys: a label for each row and each column, padding included.
        same_text: whether rows and columns are the same tokens, as in self-attention, so that there is a distance.
        formula: how a weight is computed from its query and key.
        kind: as in `Pass.attention`.
        place: the sites of this attention in a recording, with `{layer}` and `{what}` as placeholders.
    """

    model: ModelState
    attention: Attention
    queries: list[str]
    keys: list[str]
    same_text: bool
    formula: str
    kind: str
    place: str

    @cached_property
    def kept(self) -> Summary:
        """A map and numbers of each head; computed when the first is asked for."""
        return summary(self.model, self.kind)

    @cached_property
    def visible_keys(self) -> NDArray[np.intp]:
        """How many keys each query may see, (query)."""
        return np.asarray(self.attention.visible.sum(1))

    @property
    def sentences(self) -> list[str]:
        """What each head does, layer by layer."""
        layers, heads = self.kept.largest.shape
        return [self.sentence_of(layer, head) for layer in range(layers) for head in range(heads)]

    def sentence_of(self, layer: int, head: int) -> str:
        """What one head does; layer and head from 0."""
        read, kept = self.attention.read, self.kept.layers[layer]
        rows = Rows(kept.first[head, :read], kept.key[head, :read], kept.second[head, :read], self.visible_keys[:read])
        return head_sentences.about_head(rows, self.queries, self.keys, same_text=self.same_text, ids=self.ids)

    @property
    def ids(self) -> Sequence[int]:
        """The number of each row's token."""
        text = self.model.target_tokens if self.place.startswith("decoder") else self.model.source_tokens
        return text.ids[: self.attention.read]

    def sentence(self) -> str:
        """What stands out among all heads."""
        read = self.attention.read
        return head_sentences.about_heads(self.kept.first[:, :, :read], self.visible_keys[:read])

    def top(self, scale: str) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head)."""
        largest = self.kept.largest
        if scale == "own":
            return largest
        chosen = self.kept.first[:, :, self.visible_keys > 1]
        ends = {"largest": largest.max(), "choice": chosen.max() if chosen.size else largest.max()}
        return np.full_like(largest, ends[scale] if scale in ends else float(scale))

    def head(self, layer: int, head: int) -> "LargeHead":
        """The exact weights of one head; layer and head from 0."""
        attention = self.attention
        return LargeHead(
            model=self.model,
            weights=attention.exact(layer, head),
            visible=attention.visible,
            queries=self.queries,
            keys=self.keys,
            read=attention.read,
            formula=self.formula,
            site=self.place.format(layer=layer, what="weights"),
            head=head,
            about=self.sentence_of(layer, head),
        )

    def table(self) -> pd.DataFrame:
        """A row for each head: entropy in nats, mean distance in tokens, shares in %. Padding rows are left out."""
        columns = {}
        for name in SUMMARY:
            if self.same_text or name in ("entropy", "first"):
                values = np.concatenate([layer.summary[name] for layer in self.kept.layers])
                columns[name] = values if name in ("entropy", "distance") else 100 * values
        layers, heads = self.kept.largest.shape
        names = [f"L{layer + 1} h{head + 1}" for layer in range(layers) for head in range(heads)]
        return pd.DataFrame(columns, index=pd.Index(names, name="head"))


@dataclass(frozen=True)
class HeadsInNumbers(Result):
    """The table of all heads."""

    heads: AllHeads

    def sentence(self) -> str:
        """Which heads spread their weight the least and the most."""
        table = self.heads.table()
        entropies, names = table["entropy"].to_numpy(), table.index
        least, most = int(entropies.argmin()), int(entropies.argmax())
        visible = self.heads.visible_keys[: self.heads.attention.read]
        even = float(np.log(visible[visible > 0]).mean()) if (visible > 0).any() else 0.0
        return (
            f"By entropy, {names[least]} spreads its weight the least, {entropies[least]:.2f} nats, and {names[most]} "
            f"the most, {entropies[most]:.2f} nats; spread evenly over the keys that each row may see, it would be "
            f"{even:.2f} nats on average."
        )

    def table(self) -> pd.DataFrame:
        """A row for each head."""
        return self.heads.table()


@dataclass(frozen=True)
class LargeHead(Result):
    """The exact weights of one head.

    Attributes:
        model: the model of this head.
        weights: float32 (query, key).
        visible: boolean (query, key), False where masked.
        queries, keys: a label for each row and each column, padding included.
        read: how many of the rows are tokens; the rest is padding.
        formula: how a weight is computed from its query and key.
        site: the site of these weights in a recording.
        head: the number of the head, from 0.
        about: what stands out in this head, in words.
    """

    model: ModelState
    weights: NDArray[np.float32]
    visible: NDArray[np.bool_]
    queries: list[str]
    keys: list[str]
    read: int
    formula: str
    site: str
    head: int
    about: str

    def sentence(self) -> str:
        """What stands out in this head."""
        return self.about

    def laws(self) -> dict[str, bool]:
        """Laws of attention weights, tested on the numbers of this head."""
        error = float(np.abs(self.weights.sum(-1) - self.visible.any(-1)).max())
        laws = {f"every row sums to 1 (largest error {formats.tiny(error)})": error < 1e-5}
        if not self.visible.all():
            laws["masked weights are exactly 0"] = not self.weights[~self.visible].any()
        return laws

    def table(self) -> pd.DataFrame:
        """The weights; rows and columns are named by number and label."""
        rows = [f"{i + 1} {label}" for i, label in enumerate(self.queries)]
        columns = [f"{i + 1} {label}" for i, label in enumerate(self.keys)]
        return pd.DataFrame(self.weights, index=pd.Index(rows, name="query \\ key"), columns=columns)

    def recipe(self) -> str:
        """A script that leaves the shown weights in `weights`, (query, key)."""
        return script(head_recipe.weights, **of_model(self.model), site=self.site, head=self.head)


def all_heads(model: ModelState, kind: str) -> AllHeads:
    """The heads of one kind of attention: "encoder", "decoder" or "cross"; in a single stack the kind is ignored."""
    kind = kind_of(model, kind)
    queries, keys = tokens_of(model, kind)
    return AllHeads(
        model=model,
        attention=run(model).attention[kind],
        kind=kind,
        queries=token_labels.labels(queries),
        keys=token_labels.labels(keys),
        same_text=kind != "cross",
        formula=_formula(Positional if kind == "cross" else POSITIONAL[model.positional]),
        place=place(model, kind),
    )


def _formula(scheme: type[Positional]) -> str:
    """The formula softmax(q·k / √dₖ), as the positional scheme changes it."""
    product = "turned q·k" if "rotate" in scheme.enters() else "q·k"
    return f"softmax({product} / √dₖ" + (" + bias)" if "bias_at" in scheme.enters() else ")")
