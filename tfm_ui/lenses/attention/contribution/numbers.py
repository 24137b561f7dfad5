"""What a head looks at beside what it writes: weights, the norms of what they carry, and where the two disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core.study.contribution import contribution_norms
from tfm_ui.lenses.attention import computed
from tfm_ui.lenses.attention.inside import Inside
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.live import passes
from tfm_ui.live.recipe import script, weights_of
from tfm_ui.live.texts import tokens_of
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of, tied

CAVEAT = (
    "A weight says where a head looks, not why the model answers as it does. Jain and Wallace (2019, “Attention is not "
    "Explanation”) found quite other weights that lead to the same answer; Wiegreffe and Pinter (2019, “Attention is "
    "not not Explanation”) replied that it depends on what one asks of an explanation, and how one tests it. "
    "The norm of what is written (Kobayashi et al. 2020) is a step closer to the output, and no explanation either."
)
SINK, TIMES_EVEN = 0.3, 2.0  # of the weight on average, and of an even share: from here on a key is called a sink
SHOWN = 12  # bars of one row


@dataclass(frozen=True)
class ContributionView:
    """One head.

    Attributes:
        weights: float32 (query, key), a.
        norms: float32 (query, key), ||a v W_O||.
        visible: boolean (query, key), False where masked.
        queries, keys: a label per row and per column, padding included.
        read: how many of the rows are tokens; the rest is padding.
        row: the chosen query, from 0.
        key: the chosen key.
    """

    weights: NDArray[np.float32]
    norms: NDArray[np.float32]
    visible: NDArray[np.bool_]
    queries: Sequence[str]
    keys: Sequence[str]
    read: int
    row: int = 0
    key: int = 0

    @cached_property
    def shares(self) -> NDArray[np.float32]:
        """(query, key), each norm as a share of its row's; zeros in a row that writes nothing."""
        total = self.norms.sum(-1, keepdims=True)
        return np.asarray(np.divide(self.norms, total, out=np.zeros_like(self.norms), where=total > 0))

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """The rows that are tokens and have a choice."""
        return np.flatnonzero(self.visible[: self.read].sum(-1) > 1)

    @cached_property
    def clear(self) -> list[int]:
        """Those of them that have a favourite: a token that they look at more than at any other."""
        if not len(self.free):
            return []
        second, first = np.sort(self.weights[self.free], -1)[:, -2:].T
        return [int(row) for row in self.free[first > second * (1 + words.TIE)]]

    @cached_property
    def differing(self) -> dict[int, float]:
        """The rows with a favourite where another token writes most -> by how much more, as a share."""
        found = {}
        for row in self.clear:
            looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
            more = float(self.shares[row, written] - self.shares[row, looked])
            if more > words.TIE * self.shares[row, written]:
                found[row] = more
        return found

    @property
    def sentence(self) -> str:
        """Where looking and writing disagree most, and whether a key is a sink."""
        return " ".join(filter(None, [self._agreement(), self.sink()]))

    def _agreement(self) -> str:
        if not len(self.free):
            return words.NO_CHOICE
        if not self.norms[self.free].any():
            return "The head writes nothing: all that it looks at has a value of length 0."
        if not self.clear:
            return "No row has a favourite: each looks at two tokens or more alike."
        rows = look.plural(len(self.clear), "row") + " with a favourite"
        if not self.differing:
            return f"In all {rows}, the token that is looked at most also writes most."
        most = tied(np.array(list(self.differing.values())), size=1.0)
        row = list(self.differing)[most[0]]
        return (
            f"In {len(self.differing)} of {rows}, another token than the one looked at most writes most. "
            f"The furthest apart{one_of(len(most), 'rows')}: {self.sentence_of(row)}"
        )

    def sentence_of(self, row: int) -> str:
        """Whom one row looks at most, and who writes most into it."""
        name = f"“{self.queries[row]}”"
        if not self.visible[row].any():
            return f"{name} may see nothing: it looks at no token, and nothing is written."
        looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
        weight, share = look.weight(self.weights[row, looked]), self.shares[row]
        if row in self.differing:
            first, second = look.percents(float(share[written]), float(share[looked]))
            return (
                f"{name} looks most at “{self.keys[looked]}” ({weight}), but takes most from “{self.keys[written]}”"
                f"{one_of(len(tied(share)))} ({first} of the lengths; “{self.keys[looked]}” {second})."
            )
        if self.visible[row].sum() == 1:
            return f"{name} has no choice: all comes from “{self.keys[looked]}”."
        if row not in self.clear:
            return f"{name} has no favourite: it looks at two tokens or more alike."
        most = look.percent(float(share[looked]))
        return f"{name} looks most at “{self.keys[looked]}” ({weight}), which also writes most ({most})."

    def sink(self) -> str:
        """The attention sink of this head, if it has one.

        A sink is a key that gets much of the weight whoever looks (Xiao et al. 2023). Here: more than 0.3 on average
        over the rows that have a choice, and more than twice what an even spread would give it.
        """
        if not len(self.free):
            return ""
        visible = self.visible[self.free]
        mean = self.weights[self.free].mean(0)
        even = (visible / visible.sum(-1, keepdims=True)).mean(0)
        key = int(mean.argmax())
        if mean[key] <= max(SINK, TIMES_EVEN * even[key]):
            return ""
        share = self.shares[self.free, key].mean()
        ratio = share / mean[key]
        verdicts = {0.5: "but writes little", 0.9: "and writes less", 1.1: "and writes as much"}
        verdict = next((said for most, said in verdicts.items() if ratio < most), "and writes more")
        return (
            f"“{self.keys[key]}” is an attention sink here: it gets {look.percent(float(mean[key]))} of the weight on "
            f"average, where an even spread would give it {look.percent(even[key])}, {verdict}: "
            f"{look.percent(float(share))} of the lengths."
        )

    @property
    def bars(self) -> list[int]:
        """The keys of the chosen row that are worth a bar, in the order of the text."""
        seen = np.flatnonzero(self.visible[self.row])
        larger = np.maximum(self.weights[self.row], self.shares[self.row])[seen]
        return sorted(seen[np.argsort(-larger, kind="stable")[:SHOWN]].tolist())

    def table(self) -> pd.DataFrame:
        """A row for each pair that may be: weight, norm, and the norm's share of its row."""
        rows, columns = np.nonzero(self.visible)
        named = [
            [f"{i + 1} {names[i]}" for i in at]
            for names, at in ((self.queries, rows.tolist()), (self.keys, columns.tolist()))
        ]
        index = pd.MultiIndex.from_arrays(named, names=["query", "key"])
        numbers = {"weight": self.weights, "norm": self.norms, "share of norms": self.shares}
        return pd.DataFrame({name: matrix[rows, columns] for name, matrix in numbers.items()}, index=index)

    def row_table(self) -> pd.DataFrame:
        """The chosen row of it."""
        seen = np.flatnonzero(self.visible[self.row])
        index = pd.Index([f"{key + 1} {self.keys[key]}" for key in seen.tolist()], name="key")
        matrices = {"weight": self.weights, "norm": self.norms, "share of norms": self.shares}
        return pd.DataFrame({name: matrix[self.row, seen] for name, matrix in matrices.items()}, index=index)


def view(model: ModelState, state: AttentionState) -> ContributionView:
    """The chosen head and row."""
    kind = passes.kind_of(model, state.kind)
    head, inside = state.head - 1, computed.inside(model, kind, state.layer - 1)
    weights = inside.weights(head)
    queries, keys = tokens_of(model, kind)
    return ContributionView(
        weights=weights.numpy(),
        norms=contribution_norms(weights, inside.value[head], inside.output_weight(head)).numpy(),
        visible=inside.visible.numpy(),
        queries=words.labels(queries),
        keys=words.labels(keys),
        read=len(queries.pieces),
        row=min(state.query, len(queries.pieces)) - 1,
        key=min(state.key, len(keys.pieces)) - 1,
    )


def caveat(model: ModelState) -> str:
    """What neither a weight nor a length says; always beside them."""
    random = " These weights are random: what they show is how attention works, nothing about language."
    return CAVEAT + (random if model.weights == "random" else "")


def laws(model: ModelState, state: AttentionState) -> dict[str, bool]:
    """That the contributions are parts of the output: tested on what the model recorded."""
    inside = computed.inside(model, passes.kind_of(model, state.kind), state.layer - 1)
    return contributions_add_up(inside, state.head - 1)


def recipe_of(model: ModelState, state: AttentionState) -> str:
    """Lines of Python that leave the lengths in `norms`, (query, key)."""
    kind, width = passes.kind_of(model, state.kind), model.d_model // model.num_heads
    at = passes.place(model, kind).replace("{layer}", str(state.layer - 1))
    path = at.removesuffix(".{what}")
    module = path if model.is_encoder_decoder else f"stack.{path}"
    head = state.head - 1
    columns = f"{head * width}:{head * width + width}"
    return script(
        model,
        weights_of(at.format(what="weights"), head),
        f'value = trace["{at.format(what="value")}"][0, {head}]  # (key, head_dim)',
        f'matrix = model.get_submodule("{module}").output_projection.weight.detach()',
        f"norms = contribution_norms(weights, value, matrix[:, {columns}].mT)  # (query, key)",
        imports=["from tfm_core.study.contribution import contribution_norms"],
        recorded="",
    )


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
        f"contributions sum, as vectors, to the head’s share (largest error {look.tiny(off_share)})": off_share < 1e-4,
        f"all heads’ shares and the bias sum to the output (largest error {look.tiny(off_output)})": off_output < 1e-4,
    }
