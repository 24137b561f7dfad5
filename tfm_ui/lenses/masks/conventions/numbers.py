"""The view "conventions": the batch's mask as each library's calls want it, and what these calls made of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core.study.mask_conventions import CONVENTIONS, Convention
from tfm_core.study.mask_verified import Verified
from tfm_ui.lenses.masks.conventions import computed as compute_conventions
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.lenses.masks.state import MasksState, item_of, sentences, setting
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look
from tfm_ui.text.words import labels

ROUNDING = 1e-5  # of float32 outputs summed in another order, beside the largest of them
ACROSS = "HF, attention_mask"
INSIDE = {"rope": "turns queries and keys", "alibi": "adds to the scores", "t5": "adds to the scores"}


@dataclass(frozen=True)
class Conventions:
    """The batch, and the convention that was chosen.

    Attributes:
        model: the sidebar's.
        state: the lens's.
        settings: the sentences that were run: the whole batch, or of a large one the chosen sentence alone.
        count: how many sentences the batch has.
    """

    model: ModelState
    state: MasksState
    settings: tuple[Setting, ...]
    count: int

    @property
    def name(self) -> str:
        """Of the chosen one; for cross-attention, where that has no such call, of the one that stands in for it."""
        chosen = self.state.convention
        return chosen if CONVENTIONS[chosen].across or self.settings[0].place != "cross" else ACROSS

    @property
    def convention(self) -> Convention:
        """The chosen one."""
        return CONVENTIONS[self.name]

    @property
    def own(self) -> int:
        """The chosen sentence, from 0, among those that were run."""
        return item_of(self.model, self.state) - 1 if len(self.settings) == self.count else 0

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Of the chosen sentence's queries and keys."""
        chosen = self.settings[self.own]
        return labels(chosen.queries), labels(chosen.keys)

    @cached_property
    def mask(self) -> torch.Tensor:
        """Boolean (batch, query, key), True = may attend."""
        return torch.stack([setting.mask for setting in self.settings])

    @cached_property
    def handed(self) -> torch.Tensor:
        """The mask as the chosen convention has it."""
        return self.convention.to(self.mask, self.model.num_heads)

    @cached_property
    def lost(self) -> NDArray[np.bool_]:
        """(batch, query, key): what the chosen convention cannot say."""
        said = self.convention.back(self.handed, tuple(self.mask.shape), self.model.num_heads)
        return (said != self.mask).numpy()

    @cached_property
    def found(self) -> dict[str, Verified]:
        """What the calls gave, by convention."""
        return compute_conventions.verified(self.settings, self.layer - 1, compute_conventions.hugging_face())

    @property
    def layer(self) -> int:
        """From 1."""
        return min(self.state.layer, self.model.num_layers)

    @property
    def where(self) -> str:
        """The attention that the calls stand in for."""
        place = {"self": "", "decoder": "the decoder’s ", "cross": "the decoder’s cross-attention, "}
        return f"{place[self.settings[0].place]}layer {self.layer}"

    @property
    def shape(self) -> str:
        """Of what is handed over, in symbols and numbers."""
        return f"{self.convention.shape} = ({', '.join(look.count(size) for size in self.handed.shape)})"

    @property
    def per_query(self) -> bool:
        """Whether what is handed over has a row per query, rather than one per sentence."""
        return "query" in self.convention.shape

    def slice(self) -> tuple[NDArray[np.float64], str]:
        """Of what is handed over the two axes that concern the chosen sentence and head, and what to call them."""
        values, name = self.handed, "handed over"
        if self.handed.dim() == 4:
            values, name = self.handed[self.own, 0], f"mask[{self.own}, 0]"
        elif self.handed.dim() == 3:
            at = self.own * self.model.num_heads + min(self.state.head, self.model.num_heads) - 1
            values, name = self.handed[at], f"mask[{at}]"
        return values.double().numpy(), name

    def slice_names(self) -> tuple[list[str], list[str]]:
        """Of its rows and columns."""
        queries, keys = self.names
        if self.per_query:
            return queries, keys
        count = len(self.settings)
        return [str(i + 1) for i in range(count)], keys if count == 1 else [str(i + 1) for i in range(len(keys))]

    def about_slice(self) -> str:
        """What the drawing shows of what is handed over."""
        if self.handed.dim() > 2:
            head = " and head" * (self.handed.dim() == 3)
            return f"Of what the call gets, the part of the chosen sentence{head}."
        return "All that the call gets: " + ("one mask for all sentences." if self.per_query else "a row per sentence.")

    def ours_table(self) -> pd.DataFrame:
        """The chosen sentence's mask."""
        return _frame(self.mask[self.own].numpy(), *self.names)

    def handed_table(self) -> pd.DataFrame:
        """What of the call's mask is drawn."""
        return _frame(self.slice()[0], *self.slice_names())

    def about_ours(self) -> str:
        """The mask of the chosen sentence in words."""
        mask = self.mask[self.own]
        kept, lost = int(mask.sum()), int(self.lost[self.own].sum())
        said = f"Of {look.count(mask.numel())} pairs {look.count(kept)} may attend."
        if not lost:
            return f"{said} “{self.name}” says all of it."
        return f"{said} “{self.name}” cannot say {look.count(lost)} of the {look.count(mask.numel())}."

    def about_handed(self) -> str:
        """What is handed over in words."""
        hides, keeps = self.convention.hides, self.convention.keeps
        return f"{self.shape}, {self.dtype}: {keeps} where a pair may attend, {hides} where it may not."

    @property
    def dtype(self) -> str:
        """Of what is handed over."""
        return str(self.handed.dtype).removeprefix("torch.")

    def aside(self) -> str:
        """What of the model or the batch takes no part, "" if all does."""
        said = []
        if len(self.settings) < self.count:
            said.append(
                f"All {self.count} sentences of this size at once would take seconds: the calls get the chosen "
                "sentence alone."
            )
        if (scheme := INSIDE.get(self.model.positional)) and self.settings[0].place != "cross":
            said.append(
                f"{self.model.positional} {scheme} within the attention, which no call here knows of: it is left out "
                "on both sides of the comparison."
            )
        return " ".join(said)


def _frame(values: NDArray[Any], rows: list[str], columns: list[str]) -> pd.DataFrame:
    """With numbers before the names, of which several may be PAD."""
    return pd.DataFrame(
        values,
        index=[f"{i + 1} {name}" for i, name in enumerate(rows)],
        columns=[f"{i + 1} {name}" for i, name in enumerate(columns)],
    )


def view(model: ModelState, state: MasksState) -> Conventions:
    """What the lens's controls ask for."""
    count = len(sentences(model, state))
    settings = tuple(setting(model, state, item + 1) for item in range(count))
    cells = model.num_heads * settings[0].mask.numel() * count
    if cells > compute_conventions.CELLS_AT_ONCE:
        settings = (setting(model, state),)
    return Conventions(model, state, settings, count)
