"""What a head looks at beside what it writes, in words: favourites, where the two disagree, and attention sinks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_ui.text import formats, head_sentences
from tfm_ui.text.ties import one_of_ties, places_of_largest

SINK, TIMES_EVEN = 0.3, 2.0  # of the weight on average, and of an even share: from here on a key is called a sink


@dataclass(frozen=True)
class HeadWriting:
    """What one head looks at, and what it writes.

    Attributes:
        weights: float32 (query, key), a.
        norms: float32 (query, key), ||a v W_O||.
        visible: boolean (query, key), False where masked.
        queries, keys: a label per row and per column, padding included.
        read: how many of the rows are tokens; the rest is padding.
    """

    weights: NDArray[np.float32]
    norms: NDArray[np.float32]
    visible: NDArray[np.bool_]
    queries: Sequence[str]
    keys: Sequence[str]
    read: int

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
        return [int(row) for row in self.free[first > second * (1 + head_sentences.TIE)]]

    @cached_property
    def differing(self) -> dict[int, float]:
        """The rows with a favourite where another token writes most -> by how much more, as a share."""
        by_row = {}
        for row in self.clear:
            looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
            more = float(self.shares[row, written] - self.shares[row, looked])
            if more > head_sentences.TIE * self.shares[row, written]:
                by_row[row] = more
        return by_row

    def agreement(self) -> str:
        """Where looking and writing disagree most."""
        if not len(self.free):
            return head_sentences.NO_CHOICE
        if not self.norms[self.free].any():
            return "The head writes nothing: all that it looks at has a value of length 0."
        if not self.clear:
            return "No row has a favourite: each looks at two tokens or more alike."
        rows = formats.plural(len(self.clear), "row") + " with a favourite"
        if not self.differing:
            return f"In all {rows}, the token with the largest weight also contributes most."
        most = places_of_largest(np.array(list(self.differing.values())), size=1.0)
        row = list(self.differing)[most[0]]
        return (
            f"In {len(self.differing)} of {rows}, the token with the largest weight is not the one that contributes "
            "most. "
            f"The furthest apart{one_of_ties(len(most), 'rows')}: {self.sentence_of(row)}"
        )

    def sentence_of(self, row: int) -> str:
        """Which token one row looks at most, and which contributes most to it."""
        name = f"“{self.queries[row]}”"
        if not self.visible[row].any():
            return f"{name} may see nothing: it looks at no token, and nothing is written."
        looked, written = int(self.weights[row].argmax()), int(self.shares[row].argmax())
        weight, share = formats.weight(self.weights[row, looked]), self.shares[row]
        if row in self.differing:
            first, second = formats.percents(float(share[written]), float(share[looked]))
            ties = one_of_ties(len(places_of_largest(share)))
            return (
                f"{name} looks most at “{self.keys[looked]}” ({weight}), but “{self.keys[written]}” contributes most"
                f"{ties} ({first} of the lengths; “{self.keys[looked]}” {second})."
            )
        if self.visible[row].sum() == 1:
            return f"{name} has no choice: all comes from “{self.keys[looked]}”."
        if row not in self.clear:
            return f"{name} has no favourite: it looks at two tokens or more alike."
        most = formats.percent(float(share[looked]))
        return f"{name} looks most at “{self.keys[looked]}” ({weight}), which also contributes most ({most})."

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
            f"“{self.keys[key]}” is an attention sink here: it gets {formats.percent(float(mean[key]))} of the weight "
            f"on average, where an even spread would give it {formats.percent(even[key])}, {verdict}: "
            f"{formats.percent(float(share))} of the lengths."
        )

    @property
    def matrices(self) -> dict[str, NDArray[np.float32]]:
        """The columns of the tables, each (query, key)."""
        return {"weight": self.weights, "norm": self.norms, "share of norms": self.shares}
