"""One head under the mask: scores, weights, why a pair is hidden, and what the mask moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import MultiHeadAttention, attention_scores, attention_weights, mask_scores
from tfm_ui.lenses.masks import composition as mask_composition
from tfm_ui.lenses.masks import paint as mask_paint
from tfm_ui.lenses.masks import passes as compute_masks
from tfm_ui.lenses.masks.passes import Obeyed
from tfm_ui.lenses.masks.see.cost import about_saved, empty_blocks
from tfm_ui.lenses.masks.see.terms import PAINTS, Terms, terms_of
from tfm_ui.lenses.masks.setting import Setting
from tfm_ui.lenses.masks.state import MasksState, setting
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, words
from tfm_ui.text.tied import one_of, tied

SOURCES = (
    mask_composition.combined,
    mask_paint.painted,
    compute_masks.obeyed,
    compute_masks.forward,
    MultiHeadAttention.forward,
    attention_scores,
    mask_scores,
    attention_weights,
    empty_blocks,
)
NOTHING = 1e-6  # weights that differ by less differ by rounding
NAMED = 4  # tokens that a sentence names
TABLED = 2**16  # pairs that stand in the table whether they may attend or not
PAINT_WORDS = {mask_paint.SEE: "shown by paint", mask_paint.HIDE: "hidden by paint"}


@dataclass(frozen=True)
class Seen:
    """The chosen head of the chosen sentence.

    Attributes:
        setting: the sentence and its mask.
        layer, head: from 0.
        found: scores, weights and mask, all (query, key).
    """

    setting: Setting
    layer: int
    head: int
    found: Obeyed

    @cached_property
    def terms(self) -> Terms:
        """The masks that are composed."""
        return terms_of(self.setting)

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """A label per query and per key, padding included."""
        return words.labels(self.setting.queries), words.labels(self.setting.keys)

    @property
    def where(self) -> str:
        """Which head it is."""
        return f"layer {self.layer + 1}, head {self.head + 1}"

    @property
    def kept(self) -> str:
        """How many pairs may attend."""
        mask = self.found.mask
        return f"{look.count(int(mask.sum()))} of {look.count(mask.size)} pairs kept"

    @cached_property
    def unmasked(self) -> NDArray[np.float32]:
        """The softmax of the same scores without a mask, (query, key)."""
        return attention_weights(torch.from_numpy(self.found.scores), None).numpy()

    @property
    def sentence(self) -> str:
        """What is kept, what that did to the weights, and what it would save."""
        return " ".join([f"{self.kept}.", self._moved(), *self._empty(), about_saved(self.found.mask)])

    def _moved(self) -> str:
        """The weight that differs most from that of no mask."""
        mask = self.found.mask
        if mask.all():
            return "Nothing is hidden: the weights are those of no mask."
        if not mask.any():
            return "Nobody sees anything: all weights are 0."
        choice = mask.sum(1) > 1  # a row with one key gives it all, whatever its scores
        choice[len(self.setting.queries.pieces) :] = False  # rows of padding are nobody's
        if not choice.any():
            return words.NO_CHOICE
        moved = np.where(choice[:, None], np.abs(self.found.weights - self.unmasked), 0)
        most = tied(moved, size=1.0)
        query, key = divmod(most[0], moved.shape[1])
        of_rows = "Of the rows that may look at two tokens or more"
        without = "the softmax of the same scores without the mask"
        if moved[query, key] < NOTHING:
            return f"{of_rows}, no weight differs from {without}."
        before, after = look.weights(float(self.unmasked[query, key]), float(self.found.weights[query, key]))
        pair = f"“{self.names[0][query]}” → “{self.names[1][key]}”"
        return f"{of_rows}, {pair}{one_of(len(most))} differs most from {without}: {before} there, {after} here."

    def _empty(self) -> list[str]:
        """Which rows have no key."""
        empty = np.flatnonzero(~self.found.mask.any(1))
        read = len(self.setting.queries.pieces)
        tokens, padding = [self.names[0][i] for i in empty if i < read], int((empty >= read).sum())
        parts = []
        if tokens:
            named = ", ".join(f"“{name}”" for name in tokens[:NAMED])
            more = f" and {len(tokens) - NAMED} more" if len(tokens) > NAMED else ""
            parts.append(f"{named}{more}")
        if padding:
            parts.append(look.plural(padding, "row") + " of padding")
        if not parts or len(empty) == len(self.found.mask):
            return []
        one = len(empty) == 1
        return [f"Without any key: {' and '.join(parts)}; {'its' if one else 'their'} weights are all 0."]

    def laws(self) -> dict[str, bool]:
        """What must hold of the weights under any mask."""
        mask, weights = self.found.mask, self.found.weights
        off = float(np.abs(weights.sum(1, dtype=np.float64) - mask.any(1)).max())
        sums = "1, or to 0 without a key" if not mask.any(1).all() else "1"
        leaking = int(np.count_nonzero(weights[~mask]))
        return {
            f"rows sum to {sums} (largest error {look.tiny(off)})": off < 1e-5,
            f"hidden weights are exactly 0 ({leaking} of {look.count(int((~mask).sum()))} are not)": not leaking,
        }

    @property
    def painted(self) -> tuple[int, int]:
        """How many cells are painted so that they are seen, and so that they are hidden."""
        paint = self.terms.paint
        return int((paint == mask_paint.SEE).sum()), int((paint == mask_paint.HIDE).sum())

    def about_paint(self) -> str:
        """How many cells are painted, or why none can be."""
        if not self.setting.paintable:
            rows, columns = self.found.mask.shape
            side = mask_paint.SIDE
            return f"Cells can be painted up to {side} × {side}; this mask has {rows} × {columns}."
        seen, hidden = self.painted
        if not seen + hidden:
            return "No cell is painted."
        what = " and ".join([*[f"{seen} shown"] * bool(seen), *[f"{hidden} hidden"] * bool(hidden)])
        return f"{look.plural(seen + hidden, 'cell')} painted: {what}."

    def table(self) -> pd.DataFrame:
        """A row per pair, that of padding too; of many pairs those alone that may attend."""
        found, reasons = self.found, self.terms.reasons()
        rows = np.nonzero(found.mask if found.mask.size > TABLED else np.ones_like(found.mask))
        queries, keys = rows
        codes, at = np.unique(reasons[rows], return_inverse=True)
        why = [reason(int(code), self.terms.names) for code in codes]
        text = pd.CategoricalDtype(list(dict.fromkeys(why)))
        tokens = [pd.CategoricalDtype([f"{i + 1} {name}" for i, name in enumerate(names)]) for names in self.names]
        return pd.DataFrame(
            {
                "query": pd.Categorical.from_codes(queries, dtype=tokens[0]),
                "key": pd.Categorical.from_codes(keys, dtype=tokens[1]),
                "may attend": found.mask[rows],
                "score": found.scores[rows],
                "weight": found.weights[rows],
                "why": pd.Categorical(np.array(why)[at], dtype=text),
            }
        )


def reason(code: int, names: Sequence[str]) -> str:
    """A number of `Terms.reasons` in words; "" of a pair that the composition lets see."""
    by = [name for i, name in enumerate(names) if code // PAINTS >> i & 1]
    paint = PAINT_WORDS.get(code % PAINTS, "")
    hidden = f"hidden by {' and '.join(by)}" if by else ""
    return ", ".join(part for part in (paint, f"else {hidden}" if paint and by else hidden) if part)


def view(model: ModelState, state: MasksState) -> Seen:
    """The chosen head of the chosen sentence under the mask."""
    chosen = setting(model, state)
    layer, head = min(state.layer, model.num_layers) - 1, min(state.head, model.num_heads) - 1
    return Seen(chosen, layer, head, compute_masks.obeyed(chosen, layer, head))
