"""The chosen sentence alone and in a padded batch, with padding hidden and without: what moves, and by how much."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import POSITIONAL, padding_mask
from tfm_core.study import order
from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.padding import computed as compute_padding
from tfm_ui.lenses.masks.padding import padded
from tfm_ui.lenses.masks.padding.batch import ROUNDING, batch_of, most_places, moved, names_of, titles_of, told
from tfm_ui.lenses.masks.padding.computed import Run
from tfm_ui.lenses.masks.padding.padded import Padded
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of, tied

TITLES = {"with": "Padding hidden", "without": "Padding not hidden"}
SOURCES = (order.apart, padding_mask, padded.laid, padded.key_mask, compute_masks.forward)


@dataclass(frozen=True)
class Beside:
    """The sentence alone beside the sentence in its batch.

    Attributes:
        model: the sidebar's.
        state: the lens's controls.
        batch: what is run.
        runs: as `compute_padding.runs` gives them.
        amounts: PADs -> the largest move of an output, with padding hidden and without.
    """

    model: ModelState
    state: MasksState
    batch: Padded
    runs: Mapping[str, Run]
    amounts: Mapping[int, tuple[float, float]]

    @cached_property
    def shares(self) -> dict[str, NDArray[np.float32]]:
        """Way -> (place, token), how far each vector is from what it is alone."""
        return {way: moved(self.runs["alone"].streams, self.runs[way].streams) for way in TITLES}

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Way -> (token, key) of the chosen head, columns of padding included."""
        return {way: run.weights(self.state.layer - 1, self.state.head - 1) for way, run in self.runs.items()}

    @cached_property
    def names(self) -> list[str]:
        """A label per token whose output is compared."""
        tokens = self.batch.setting.queries
        return words.labels(tokens)[: len(tokens.pieces)]

    @cached_property
    def keys(self) -> list[str]:
        """A label per key, padding included."""
        return names_of(self.batch.setting.keys, self.batch.side)

    def largest(self, way: str) -> float:
        """The largest move of an output."""
        return float(self.shares[way][-1].max())

    @property
    def where(self) -> str:
        """Where padding stands, and how much of it."""
        on = {"right": "behind", "left": "before"}[self.batch.side]
        return f"{look.plural(self.batch.pads, 'PAD')} {on} {look.plural(self.batch.read, 'token')}"

    @cached_property
    def open_columns(self) -> NDArray[np.intp]:
        """The columns of padding, of the attention that the mask is for."""
        return np.delete(np.arange(len(self.keys)), self.batch.keys)

    @property
    def may_look(self) -> bool:
        """Whether any token may look at padding if it is taken for words."""
        mask = self.batch.masks(hidden=False)[self.batch.item, 0][self.batch.queries]
        return bool(mask[:, self.open_columns].any())

    @property
    def harmless(self) -> bool:
        """Whether it makes no difference that padding is not hidden."""
        return max(self.largest(way) for way in TITLES) < ROUNDING

    @property
    def shifted(self) -> bool:
        """Whether tokens get other positions than alone: those that are added by place, where PAD stands before."""
        return self.batch.side == "left" and "encode" in POSITIONAL[self.model.positional].enters()

    def aside(self) -> str:
        """What is another than the sidebar says; "" if nothing."""
        read = self.batch.setting.model.seq_len
        if read == self.model.seq_len:
            return ""
        return (
            f"{look.plural(len(self.batch.settings), 'sentence')} of {self.model.seq_len} places in "
            f"{look.plural(self.model.num_layers, 'layer')} of {look.plural(self.model.num_heads, 'head')} take "
            f"long: of each the first {read} are read."
        )

    def sentence(self) -> str:
        """What moves, and why."""
        hidden, free = (self.largest(way) for way in TITLES)
        if not self.batch.pads:
            places = look.plural(self.batch.setting.model.seq_len, "place")
            return (
                f"The sentence fills all of its {places}: it has no padding, and there is nothing to hide. Alone and "
                f"in the batch its outputs differ by {told(max(hidden, free))} of their length at most. Choose a "
                "shorter sentence, or more tokens in the sidebar."
            )
        if self.harmless:
            return (
                f"{self.where}: hidden or not, each output is what it is alone, to rounding "
                f"({told(max(hidden, free))} of its length at most). {self._reason()}"
            )
        if hidden < ROUNDING:
            count = int((self.shares["without"][-1] >= ROUNDING).sum())
            most = tied(self.shares["without"][-1], size=max(1.0, free))
            total = look.plural(len(self.names), "output")
            return (
                f"{self.where}: hidden, they change nothing but the last digits ({told(hidden)} of an output’s length "
                f"at most). Not hidden, they move {count} of {total}, “{self.names[most[0]]}” "
                f"most{one_of(len(most))}, by {told(free)} of its length."
            )
        why = (
            f", as each token stands {look.plural(self.batch.pads, 'place')} further on, where "
            f"{self.model.positional} positions are others"
            if self.shifted
            else ""
        )
        schemes = [name for name, scheme in POSITIONAL.items() if "encode" not in scheme.enters()]
        return (
            f"{self.where}: even hidden, they move outputs by up to {told(hidden)} of their length{why}. "
            f"Not hidden, by up to {told(free)}. Positions by distance alone, or none ({', '.join(schemes)}), "
            "do not mind padding that is hidden."
        )

    def _reason(self) -> str:
        setting = self.batch.setting
        if setting.place == "decoder":
            return "The decoder’s own text is never padded, and the encoder hides PAD by itself: look at “cross”."
        if self.may_look:
            return "Tokens may look at PAD, and get no more from it than rounding."
        if setting.causal_anyway and self.batch.side == "right":
            return (
                "Nobody looks ahead, and padding on the right lies ahead of every token: with causality it does no "
                "harm to them, as it may on the left."
            )
        return "The composed mask lets no token look at PAD, even where PAD is taken for a word."

    def laws(self) -> dict[str, bool]:
        """What padding should not change, measured."""
        if not self.batch.pads:
            return {}
        return {
            f"{TITLES[way].lower()}: the outputs of the sentence alone (largest move "
            f"{told(self.largest(way))} of an output’s length)": self.largest(way) < ROUNDING
            for way in TITLES
        }

    def about_amounts(self) -> str:
        """How the number of PADs matters."""
        counts = [count for count in self.amounts if count]
        if not counts:
            return "There is no room for padding beside this sentence."
        first, last = (self.amounts[counts[i]] for i in (0, -1))
        span = (
            f"From {look.plural(counts[0], 'PAD')} to {counts[-1]}"
            if len(counts) > 1
            else f"With {look.plural(counts[0], 'PAD')}"
        )

        def way(i: int) -> str:
            return f"{told(first[i])} to {told(last[i])}" if len(counts) > 1 else told(first[i])

        setting = self.batch.setting
        bare = " Paint on PAD is left out here." if setting.paint and self.batch.side == "right" else ""
        return f"{span} the largest move of an output goes, hidden: {way(0)}; not hidden: {way(1)} of its length.{bare}"

    def table(self) -> pd.DataFrame:
        """A row per token, a column per way and place."""
        titles = titles_of(self.batch)
        return pd.DataFrame(
            {
                f"{TITLES[way]}, {title}": row
                for way in TITLES
                for title, row in zip(titles, self.shares[way], strict=True)
            },
            index=pd.Index(self.names, name="token"),
        )

    def amounts_table(self) -> pd.DataFrame:
        """A row per number of PADs."""
        index = pd.Index(list(self.amounts), name="PADs")
        columns = [f"largest move, {title.lower()}" for title in TITLES.values()]
        return pd.DataFrame(list(self.amounts.values()), index=index, columns=columns)


def view(model: ModelState, state: MasksState) -> Beside:
    """Run the sentence alone, in its batch, and with more or less padding."""
    batch = batch_of(model, state)
    runs = compute_padding.runs(batch)
    end = runs["alone"].streams[-1]
    most = max(batch.read, most_places(model, 2 * len(compute_padding.AMOUNTS)))  # of all of them together
    amounts = {
        pads: (float(moved(end, with_it).max()), float(moved(end, without).max()))
        for pads, (with_it, without) in compute_padding.by_amount(batch, most).items()
    }
    return Beside(model, state, batch, runs, amounts)
