"""One head under the mask: scores, weights, why a pair is hidden, and what the mask moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray

from tfm_core import MultiHeadAttention, attention_scores, attention_weights, mask_scores
from tfm_ui.lenses.masks.composition import combined
from tfm_ui.lenses.masks.mask_code import mask_of
from tfm_ui.lenses.masks.masked_passes import Obeyed, argument_of, at, forward_under_mask, obeyed
from tfm_ui.lenses.masks.paint import HIDE, SEE, SIDE, painted
from tfm_ui.lenses.masks.see import recipe
from tfm_ui.lenses.masks.see.savings import about_saved, empty_blocks
from tfm_ui.lenses.masks.state import MasksState, Setting, setting
from tfm_ui.lenses.masks.terms import PAINTS, Terms, terms_of
from tfm_ui.live.script import of_model, script
from tfm_ui.pictures.panel import Result
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, head_sentences, token_labels
from tfm_ui.text.ties import one_of_ties, places_of_largest

SOURCES = (
    combined,
    painted,
    obeyed,
    forward_under_mask,
    MultiHeadAttention.forward,
    attention_scores,
    mask_scores,
    attention_weights,
    empty_blocks,
)
NOTHING = 1e-6  # weights that differ by less differ by rounding
NAMED = 4  # tokens that a sentence names
TABLED = 2**16  # pairs that stand in the table whether they may attend or not
PAINT_WORDS = {SEE: "shown by paint", HIDE: "hidden by paint"}


@dataclass(frozen=True)
class HeadUnderMask(Result):
    """The chosen head of the chosen sentence.

    Attributes:
        setting: the sentence and its mask.
        layer, head: from 0.
        obeyed: scores, weights and mask, all (query, key).
    """

    setting: Setting
    layer: int
    head: int
    obeyed: Obeyed

    @cached_property
    def terms(self) -> Terms:
        """The masks that are composed."""
        return terms_of(self.setting)

    @cached_property
    def names(self) -> tuple[list[str], list[str]]:
        """A label per query and per key, padding included."""
        return token_labels.labels(self.setting.queries), token_labels.labels(self.setting.keys)

    @property
    def where(self) -> str:
        """Which head it is."""
        return f"layer {self.layer + 1}, head {self.head + 1}"

    @property
    def kept(self) -> str:
        """How many pairs may attend."""
        mask = self.obeyed.mask
        return f"{formats.count(int(mask.sum()))} of {formats.count(mask.size)} pairs kept"

    @cached_property
    def unmasked(self) -> NDArray[np.float32]:
        """The softmax of the same scores without a mask, (query, key)."""
        return attention_weights(torch.from_numpy(self.obeyed.scores), None).numpy()

    def sentence(self) -> str:
        """What is kept, what that did to the weights, and what it would save."""
        return " ".join([f"{self.kept}.", self._moved(), *self._empty(), about_saved(self.obeyed.mask)])

    def _moved(self) -> str:
        """The weight that differs most from that of no mask."""
        mask = self.obeyed.mask
        if mask.all():
            return "Nothing is hidden: the weights are those of no mask."
        if not mask.any():
            return "Nobody sees anything: all weights are 0."
        choice = mask.sum(1) > 1  # a row with one key gives it all, whatever its scores
        choice[len(self.setting.queries.pieces) :] = False  # rows of padding are nobody's
        if not choice.any():
            return head_sentences.NO_CHOICE
        moved = np.where(choice[:, None], np.abs(self.obeyed.weights - self.unmasked), 0)
        most = places_of_largest(moved, size=1.0)
        query, key = divmod(most[0], moved.shape[1])
        of_rows = "Of the rows that may look at two tokens or more"
        if moved[query, key] < NOTHING:
            return f"{of_rows}, the mask changes no weight."
        before, after = formats.weights(float(self.unmasked[query, key]), float(self.obeyed.weights[query, key]))
        pair = f"“{self.names[0][query]}” → “{self.names[1][key]}”"
        tie = one_of_ties(len(most))
        return f"{of_rows}, {pair}{tie} changes most: {before} without the mask, {after} with it."

    def _empty(self) -> list[str]:
        """Which rows have no key."""
        empty = np.flatnonzero(~self.obeyed.mask.any(1))
        read = len(self.setting.queries.pieces)
        tokens, padding = [self.names[0][i] for i in empty if i < read], int((empty >= read).sum())
        parts = []
        if tokens:
            named = ", ".join(f"“{name}”" for name in tokens[:NAMED])
            more = f" and {len(tokens) - NAMED} more" if len(tokens) > NAMED else ""
            parts.append(f"{named}{more}")
        if padding:
            parts.append(formats.plural(padding, "row") + " of padding")
        if not parts or len(empty) == len(self.obeyed.mask):
            return []
        whose = "its" if len(empty) == 1 else "their"
        return [f"Without any key: {' and '.join(parts)}; {whose} weights are all 0."]

    def laws(self) -> dict[str, bool]:
        """What must hold of the weights under any mask."""
        mask, weights = self.obeyed.mask, self.obeyed.weights
        off = float(np.abs(weights.sum(1, dtype=np.float64) - mask.any(1)).max())
        sums = "1, or to 0 without a key" if not mask.any(1).all() else "1"
        leaking = int(np.count_nonzero(weights[~mask]))
        return {
            f"rows sum to {sums} (largest error {formats.tiny(off)})": off < 1e-5,
            f"hidden weights are exactly 0 ({leaking} of {formats.count(int((~mask).sum()))} are not)": not leaking,
        }

    @property
    def painted(self) -> tuple[int, int]:
        """How many cells are painted so that they are shown, and so that they are hidden."""
        paint = self.setting.painted
        return int((paint == SEE).sum()), int((paint == HIDE).sum())

    def about_paint(self) -> str:
        """How many cells are painted, or why none can be."""
        if not self.setting.paintable:
            rows, columns = self.obeyed.mask.shape
            return f"Cells can be painted up to {SIDE} × {SIDE}; this mask has {rows} × {columns}."
        shown, hidden = self.painted
        if not shown + hidden:
            return "No cell is painted."
        what = " and ".join([*[f"{shown} shown"] * bool(shown), *[f"{hidden} hidden"] * bool(hidden)])
        return f"{formats.plural(shown + hidden, 'cell')} painted: {what}."

    def table(self) -> pd.DataFrame:
        """A row per pair, that of padding too; of many pairs those alone that may attend."""
        obeyed, reasons = self.obeyed, self.terms.reasons()
        rows = np.nonzero(obeyed.mask if obeyed.mask.size > TABLED else np.ones_like(obeyed.mask))
        queries, keys = rows
        codes, at = np.unique(reasons[rows], return_inverse=True)
        why = [reason(int(code), self.terms.names) for code in codes]
        text = pd.CategoricalDtype(list(dict.fromkeys(why)))
        tokens = [pd.CategoricalDtype([f"{i + 1} {name}" for i, name in enumerate(names)]) for names in self.names]
        return pd.DataFrame(
            {
                "query": pd.Categorical.from_codes(queries, dtype=tokens[0]),
                "key": pd.Categorical.from_codes(keys, dtype=tokens[1]),
                "may attend": obeyed.mask[rows],
                "score": obeyed.scores[rows],
                "weight": obeyed.weights[rows],
                "why": pd.Categorical(np.array(why)[at], dtype=text),
            }
        )

    def recipe(self) -> str:
        """A script that leaves the mask in `mask` and the weights in `weights`, both (query, key)."""
        model = of_model(self.setting.model) | {"mask": mask_of(self.setting)}
        return script(
            recipe.weights,
            **model,
            argument=argument_of(self.setting),
            mask_site=at(self.setting, "*", "mask"),
            site=at(self.setting, self.layer, "weights"),
            head=self.head,
        )


def reason(code: int, names: Sequence[str]) -> str:
    """A number of `Terms.reasons` in words; "" of a pair that may attend as composed."""
    by = [name for i, name in enumerate(names) if code // PAINTS >> i & 1]
    paint = PAINT_WORDS.get(code % PAINTS, "")
    hidden = f"hidden by {' and '.join(by)}" if by else ""
    return ", ".join(part for part in (paint, f"else {hidden}" if paint and by else hidden) if part)


def head_under_mask(model: ModelState, state: MasksState) -> HeadUnderMask:
    """The chosen head of the chosen sentence under the mask."""
    chosen = setting(model, state)
    layer, head = min(state.layer, model.num_layers) - 1, min(state.head, model.num_heads) - 1
    return HeadUnderMask(chosen, layer, head, obeyed(chosen, layer, head))
