"""Attention weights of a head, and the norms of the contributions."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from tfm_core.study.contribution import contribution_norms
from tfm_ui.lenses.attention import computed
from tfm_ui.lenses.attention.contribution import recipe
from tfm_ui.lenses.attention.contribution.writing import HeadWriting
from tfm_ui.lenses.attention.inside import Inside
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import places
from tfm_ui.live.script import of_model, script
from tfm_ui.live.texts import tokens_of
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, token_labels

CAVEAT = (
    "A weight says where a head looks, not why the model answers as it does. Jain and Wallace (2019, “Attention is not "
    "Explanation”) found quite other weights that lead to the same answer; Wiegreffe and Pinter (2019, “Attention is "
    "not not Explanation”) replied that it depends on what one asks of an explanation, and how one tests it. "
    "The norm of what is written (Kobayashi et al. 2020) is a step closer to the output, and no explanation either."
)
SHOWN = 12  # bars of one row


@dataclass(frozen=True)
class WholeHead(Result):
    """All rows of a head.

    Attributes:
        model: whose head it is.
        state: the lens's controls, which say what head.
        writing: what it looks at, and what it writes.
        row: the chosen query, from 0.
        key: the chosen key.
    """

    model: ModelState
    state: AttentionState
    writing: HeadWriting
    row: int
    key: int

    def sentence(self) -> str:
        """Where looking and writing disagree most, and whether a key is a sink."""
        return " ".join(filter(None, [self.writing.agreement(), self.writing.sink()]))

    def laws(self) -> dict[str, bool]:
        """Whether the contributions add up to the head's output, tested on what the model recorded."""
        inside = computed.inside(self.model, places.kind_of(self.model, self.state.kind), self.state.layer - 1)
        return contributions_add_up(inside, self.state.head - 1)

    def table(self) -> pd.DataFrame:
        """A row for each pair that may be: weight, norm, and the norm's share of its row."""
        writing = self.writing
        rows, columns = np.nonzero(writing.visible)
        named = [
            [f"{i + 1} {names[i]}" for i in at]
            for names, at in ((writing.queries, rows.tolist()), (writing.keys, columns.tolist()))
        ]
        index = pd.MultiIndex.from_arrays(named, names=["query", "key"])
        return pd.DataFrame({name: matrix[rows, columns] for name, matrix in writing.matrices.items()}, index=index)

    def recipe(self) -> str:
        """A script that leaves the lengths in `norms`, (query, key)."""
        place = places.place(self.model, places.kind_of(self.model, self.state.kind))
        site = place.removesuffix(".{what}").format(layer=self.state.layer - 1)
        module = site if self.model.is_encoder_decoder else f"stack.{site}"
        return script(recipe.norms, **of_model(self.model), site=site, module=module, head=self.state.head - 1)


@dataclass(frozen=True)
class ChosenRow(Result):
    """One row of a head.

    Attributes:
        writing: what the head looks at, and what it writes.
        row: the chosen query, from 0.
    """

    writing: HeadWriting
    row: int

    @property
    def bars(self) -> list[int]:
        """The keys that are worth a bar, in the order of the text."""
        visible = np.flatnonzero(self.writing.visible[self.row])
        larger = np.maximum(self.writing.weights[self.row], self.writing.shares[self.row])[visible]
        return sorted(visible[np.argsort(-larger, kind="stable")[:SHOWN]].tolist())

    def sentence(self) -> str:
        """Which token the row looks at most, and which contributes most to it."""
        return self.writing.sentence_of(self.row)

    def table(self) -> pd.DataFrame:
        """A row per key that may be seen."""
        writing = self.writing
        visible = np.flatnonzero(writing.visible[self.row])
        index = pd.Index([f"{key + 1} {writing.keys[key]}" for key in visible.tolist()], name="key")
        columns = {name: matrix[self.row, visible] for name, matrix in writing.matrices.items()}
        return pd.DataFrame(columns, index=index)


def contribution(model: ModelState, state: AttentionState) -> tuple[WholeHead, ChosenRow]:
    """The chosen head, and its chosen row."""
    kind = places.kind_of(model, state.kind)
    head, inside = state.head - 1, computed.inside(model, kind, state.layer - 1)
    weights = inside.weights(head)
    queries, keys = tokens_of(model, kind)
    writing = HeadWriting(
        weights=weights.numpy(),
        norms=contribution_norms(weights, inside.value[head], inside.output_weight(head)).numpy(),
        visible=inside.visible.numpy(),
        queries=token_labels.labels(queries),
        keys=token_labels.labels(keys),
        read=len(queries.pieces),
    )
    row, key = min(state.query, len(queries.pieces)) - 1, min(state.key, len(keys.pieces)) - 1
    return WholeHead(model, state, writing, row, key), ChosenRow(writing, row)


def caveat(model: ModelState) -> str:
    """What neither a weight nor a length says; always beside them."""
    random = " These weights are random: what they show is how attention works, nothing about language."
    return CAVEAT + model.if_random(random)


def contributions_add_up(inside: Inside, head: int) -> dict[str, bool]:
    """The vectors a v W_O summed over the keys are the head's share; the shares of all heads and b_O are the output."""
    with torch.no_grad():
        summed = inside.weights(head) @ (inside.value[head] @ inside.output_weight(head))
        share = inside.recorded["head_output"][head] @ inside.output_weight(head)
        heads = inside.module.num_heads
        whole = torch.stack([inside.recorded["head_output"][h] @ inside.output_weight(h) for h in range(heads)]).sum(0)
        output = inside.recorded["output"]
        off_share = (summed - share).abs().max().item()
        off_output = (whole + inside.module.output_projection.bias - output).abs().max().item()
    return {
        f"contributions sum, as vectors, to the head’s share (largest error {formats.tiny(off_share)})": off_share
        < 1e-4,
        f"all heads’ shares and the bias sum to the output (largest error {formats.tiny(off_output)})": off_output
        < 1e-4,
    }
