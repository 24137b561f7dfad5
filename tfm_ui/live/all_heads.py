"""All heads of one kind of attention over their tokens: what each does, and on which scale it is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tfm_ui.live.attention import Attention, Summary
from tfm_ui.text import formats, head_sentences
from tfm_ui.text.head_sentences import Rows
from tfm_ui.text.ties import one_of_ties, places_of_largest

NO_SUMS = "Rows of this file do not sum to 1."


@dataclass(frozen=True)
class AllHeads:
    """The heads of all layers, wherever their weights come from.

    Attributes:
        attention: the heads.
        kept: a map and numbers of each.
        queries, keys: a label for each row and each column, padding included.
        ids: the number of each row's token, without padding; () where tokens have no numbers.
        same_text: whether rows and columns are the same tokens, as in self-attention, so that there is a distance.
        no_sums: what is said where rows do not sum to 1.
    """

    attention: Attention
    kept: Summary
    queries: Sequence[str]
    keys: Sequence[str]
    ids: Sequence[int] = ()
    same_text: bool = True
    no_sums: str = NO_SUMS

    @property
    def read(self) -> int:
        """How many of the rows are tokens; the rest is padding."""
        return self.attention.read

    @cached_property
    def visible_keys(self) -> NDArray[np.intp]:
        """How many keys each query may see, (query)."""
        return np.asarray(self.attention.visible.sum(1))

    @property
    def places(self) -> Iterator[tuple[int, int]]:
        """Layer and head of each head, from 0, layer by layer."""
        layers, heads = self.kept.largest.shape
        return ((layer, head) for layer in range(layers) for head in range(heads))

    def sentence_of(self, layer: int, head: int) -> str:
        """What one head does; layer and head from 0."""
        read, kept = self.read, self.kept.layers[layer]
        rows = Rows(kept.first[head, :read], kept.key[head, :read], kept.second[head, :read], self.visible_keys[:read])
        return head_sentences.about_head(
            rows,
            self.queries,
            self.keys,
            same_text=self.same_text,
            ids=self.ids,
            shares_out_1=self.attention.shares_out_1,
        )

    def sentence(self) -> str:
        """What stands out among all heads."""
        if not self.attention.shares_out_1:
            layer, head = (int(at) for at in np.unravel_index(self.kept.largest.argmax(), self.kept.largest.shape))
            largest = formats.weight(self.kept.largest[layer, head])
            ties = one_of_ties(len(places_of_largest(self.kept.largest)))
            return f"The largest number, {largest}, is in layer {layer + 1}, head {head + 1}{ties}. {self.no_sums}"
        return head_sentences.about_heads(self.kept.first[:, :, : self.read], self.visible_keys[: self.read])

    def top(self, scale: str) -> NDArray[np.float32]:
        """The weight at the dark end of each head's colour scale, (layer, head).

        Args:
            scale: "own", of each head its largest weight; "largest", of all heads; "choice", the largest weight in rows
                that have a choice; or a number.
        """
        largest = self.kept.largest
        if scale == "own":
            return largest
        chosen = self.kept.first[:, :, self.visible_keys > 1]
        ends = {"largest": largest.max(), "choice": chosen.max() if chosen.size else largest.max()}
        return np.full_like(largest, ends[scale] if scale in ends else float(scale))
