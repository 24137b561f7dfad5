"""The view "see": the mask, and the model that obeys it; below, how the pairs that it keeps grow with the text."""

from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from math import isqrt

import numpy as np
import pandas as pd
import streamlit as st
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import (
    MultiHeadAttention,
    Tokens,
    Transformer,
    TransformerConfig,
    attention_scores,
    attention_weights,
    mask_scores,
)
from tfm_ui.lenses.masks.above import PICTURES, THE_BATCH, mask_and, other_mask, reads_instead, texts_of_sentence
from tfm_ui.lenses.masks.composition import combined, composed
from tfm_ui.lenses.masks.mask_code import function_of, mask_of, of_sentence
from tfm_ui.lenses.masks.masked_passes import (
    MasksPanel,
    Obeyed,
    argument_of,
    at,
    forward_under_mask,
    obeyed,
    under_exactly,
)
from tfm_ui.lenses.masks.state import PREFIX, MasksState
from tfm_ui.lenses.masks.terms import PAINTS, Terms
from tfm_ui.live import passes, tables, windows
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.passes import and_scores
from tfm_ui.live.script import script
from tfm_ui.live.tensors.attention import SCORE_IS_SCALED
from tfm_ui.live.tensors.step import Step
from tfm_ui.page import controls, undo
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines, maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import SHARES, around_zero
from tfm_ui.pictures.maps import MAPS, MASKED, Axis, Map, Painting, Why
from tfm_ui.state.model_state import WEIGHTS, ModelState
from tfm_ui.state.paint import HIDE, SEE, SIDE, painted
from tfm_ui.text import formats, head_sentences, units
from tfm_ui.text.ties import one_of_ties, places_of_largest

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
COMPOSED, STRIDED = "your composition", "strided √n and causal"
NOTHING = 1e-6  # weights that differ by less differ by rounding
NAMED = 4  # tokens that a sentence names
TABLED = 2**16  # pairs that stand in the table whether they may attend or not
PAINT_WORDS = {SEE: "shown by paint", HIDE: "hidden by paint"}
EXACT, FEW_PADS = 64, 8  # places that are always shown; PADs that are shown beside as many as there are tokens
BLOCK = 128  # of FlexAttention, queries and keys, in torch 2.5 and later


def block_size(length: int) -> int:
    """Rows and columns of a block: FlexAttention's 128 for long texts, about an eighth of a shorter one."""
    return min(BLOCK, max(2, 1 << (length // 16).bit_length()))


def empty_blocks(mask: NDArray[np.bool_], size: int) -> float:
    """The share of all pairs that lie in blocks of size x size without a single pair that may attend.

    Args:
        mask: boolean (query, key); the last blocks may be smaller.
        size: rows and columns of a block.
    """
    rows, columns = (np.arange(0, length, size) for length in mask.shape)
    kept = np.add.reduceat(np.add.reduceat(mask, rows, axis=0, dtype=np.int64), columns, axis=1)
    high, wide = (np.diff(np.append(begins, end)) for begins, end in zip((rows, columns), mask.shape, strict=True))
    return float(np.outer(high, wide)[kept == 0].sum() / mask.size)


def about_saved(mask: NDArray[np.bool_]) -> str:
    """What kernels that skip work would leave out, in theory."""
    size = block_size(max(mask.shape))
    pairs, blocks = formats.percent(1 - float(mask.mean())), formats.percent(empty_blocks(mask, size))
    return (
        f"In theory, a kernel that skips single pairs leaves out {pairs} of the multiply-adds of q·kᵀ and weights·v, "
        f"one that skips whole blocks of {size} × {size}, {blocks}. This program skips none."
    )


def weights(
    *,
    config: TransformerConfig,
    inputs: Sequence[Tensor],
    mask: Tensor,
    argument: str,
    mask_site: str,
    site: str,
    head: int,
) -> tuple[Tensor, Tensor]:
    """The mask, and the weights of one head under exactly this mask; both (query, key)."""
    model = Transformer(config).eval()
    _, trace = under_exactly(model, inputs, mask, argument, mask_site, [site])
    weights = trace[site][0, head]  # (query, key)
    return mask, weights


class See(MasksPanel):
    """The chosen head of the chosen sentence."""

    title = "The mask, and how it is obeyed"
    sources = (
        *(combined, painted, obeyed, forward_under_mask, MultiHeadAttention.forward),
        *(attention_scores, mask_scores, attention_weights, empty_blocks),
    )
    canvas = MAPS
    needs = and_scores(1)

    @property
    def tensors(self) -> Step | None:
        step = super().tensors
        return step and step.also(note=SCORE_IS_SCALED)

    @cached_property
    def obeyed(self) -> Obeyed:
        """Scores, weights and mask, all (query, key)."""
        return obeyed(self.setting, self.layer, self.head)

    @cached_property
    def terms(self) -> Terms:
        """The masks that are composed."""
        return Terms(self.setting)

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

    @property
    def how_to_read(self) -> str:
        return f"{self.where.capitalize()}. Hatched: hidden. Scores come before the softmax, weights after it."

    @property
    def shape(self) -> str:
        return self.pairs

    def picture(self) -> Content:
        """Mask, scores and weights beside each other."""
        mask, scores, weights = self.obeyed.mask, self.obeyed.scores, self.obeyed.weights
        part = windows.part_of(self.state.part, worth_showing(self.setting.queries), worth_showing(self.setting.keys))

        def shown(values: NDArray[np.float32]) -> NDArray[np.float32]:
            """Exact cells are told even where they are hidden; of pooled ones only what is not counts."""
            return windows.pooled(tables.matrix(values if part.exact else np.where(mask, values, MASKED)), part)

        inside = np.s_[part.top : part.top + part.rows, part.left : part.left + part.columns]
        rows, columns = self.names
        return maps.content(
            [
                Map(
                    name="Mask",
                    values=windows.pooled(tables.matrix(np.where(mask, 1, MASKED)), part),
                    scale=SHARES,
                    unit=self.kept,
                    ticks=True,
                ),
                Map(
                    name="Scores, before the softmax",
                    values=shown(scores),
                    scale=around_zero(float(np.abs(scores).max())),
                    unit="score",
                ),
                Map(name="Weights", values=shown(weights), scale=SHARES, unit="weight"),
            ],
            rows=Axis(part.row_names(rows), "query (row): looks", "query", "query"),
            columns=Axis(part.column_names(columns), "key (column): is looked at", "key", "key"),
            about=f"Mask, masked scores and weights of {self.where}. {self.kept}.",
            read=-(-min(part.rows, max(0, len(self.setting.queries.pieces) - part.top)) // part.block[0]),  # rounded up
            part=part,
            counted_from=1,
            zooms=PREFIX + "part",
            why=Why(self.terms.reasons()[inside].astype(np.float32), self.terms.names) if part.exact else None,
            painting=Painting(PREFIX + "paint", self.state.paint) if self.setting.paintable else None,
        )

    def tools(self) -> None:
        """Draw what was painted, and how it is taken back."""
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key="masks_paint"):
            st.html(f'<p class="note">{escape(self.about_paint())}</p>')
            if self.setting.paintable:
                # Undo takes back the last act of all: it stands beside the paint only where that act was painting.
                painted_last = f"{PREFIX}paint" in undo.changes()
                st.button(
                    "Undo",
                    icon=":material/undo:",
                    on_click=controls.undo_last,
                    disabled=not painted_last,
                    help="Take back what was painted last." if painted_last else "Nothing was painted last.",
                    key="_masks_undo",
                )
                st.button(
                    "Clear",
                    icon=":material/ink_eraser:",
                    on_click=controls.change,
                    args=(PREFIX,),
                    kwargs={"paint": ""},
                    disabled=not self.setting.paint,
                    help="Take all paint off the mask.",
                    key="_masks_clear",
                )

    def laws(self) -> dict[str, bool]:
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
        return script(
            weights,
            **of_sentence(self.setting.model) | {"mask": mask_of(self.setting)},
            argument=argument_of(self.setting),
            mask_site=at(self.setting, "*", "mask"),
            site=at(self.setting, self.layer, "weights"),
            head=self.head,
        )


def worth_showing(tokens: Tokens) -> int:
    """How many places of a text the maps show: all, but of long padding only the beginning, as all of it is alike."""
    places, read = len(tokens.ids), len(tokens.pieces)
    return places if places <= EXACT or 3 * read >= places else min(places, 2 * read + FEW_PADS)


def reason(code: int, names: Sequence[str]) -> str:
    """A number of `Terms.reasons` in words; "" of a pair that may attend as composed."""
    by = [name for i, name in enumerate(names) if code // PAINTS >> i & 1]
    paint = PAINT_WORDS.get(code % PAINTS, "")
    hidden = f"hidden by {' and '.join(by)}" if by else ""
    return ", ".join(part for part in (paint, f"else {hidden}" if paint and by else hidden) if part)


def pairs_kept(*, of_tokens: Callable[[Tensor, Tensor, int, int], Tensor], lengths: Sequence[int]) -> dict[int, int]:
    """How many pairs the mask keeps of texts of these lengths, the longest last.

    The mask of a shorter text is the upper left corner of that of the longest, as is tested for each mask.
    """
    length = lengths[-1]
    tokens = torch.ones(1, length, dtype=torch.long)  # words: no padding
    mask = of_tokens(tokens, tokens, length, length)
    kept = {n: int(mask[:n, :n].sum()) for n in lengths}
    return kept


@cached(heavy=never, always_kept=256)
def kept_by_length(composition: str, *, causal: bool) -> dict[int, int]:
    """How many pairs a composition keeps of texts of LENGTHS tokens without padding.

    Args:
        composition: as in a link (tfm_ui/lenses/masks/composition.py).
        causal: whether nobody looks ahead, whatever is composed.
    """

    def of_tokens(queries: Tensor, keys: Tensor, rows: int, columns: int) -> Tensor:
        return composed(composition, queries, keys, causal=causal)

    return pairs_kept(of_tokens=of_tokens, lengths=LENGTHS)


def growth_needs(model: ModelState, state: MasksState) -> int:
    """A pass, and masks of the longest text, whatever the model reads."""
    return passes.needs(model) + 2 * LITTLE


class Growth(MasksPanel):
    """The growth of the chosen composition, without padding and without paint."""

    title = "How the pairs grow with the text"
    sources = (kept_by_length,)
    canvas = CHART
    ignores = WEIGHTS
    needs = growth_needs

    @cached_property
    def composed(self) -> list[int]:
        """How many pairs the composition keeps at each of LENGTHS."""
        return list(kept_by_length(self.setting.composition, causal=self.setting.causal_anyway).values())

    @cached_property
    def strided(self) -> list[int]:
        """What `strided` keeps with causality, its stride the root of the length, rounded down."""
        return [kept_by_length(f"strided {isqrt(length)}", causal=True)[length] for length in LENGTHS]

    def sentence(self) -> str:
        """How fast the last doubling makes it grow."""
        most, last = LENGTHS[-1] ** 2, LENGTHS[-1]
        before, pairs = self.composed[-2:]
        grown = f"No pair is kept of a text of {LENGTHS[-2]} tokens."
        if before:
            grow = "stay as many" if pairs == before else f"grow to {units.times(pairs / before)} as many"
            grown = (
                f"From {LENGTHS[-2]} to {formats.count(last)} tokens the pairs {grow}; with n² it would be 4×, with "
                "n √n 2.83×, with n 2×."
            )
        return (
            f"{grown} Of {formats.count(most)} pairs {formats.count(pairs)} are kept, "
            f"{formats.percent(pairs / most)}. Strided with its stride at √n = {isqrt(last)}, and causal, keeps "
            f"{formats.count(self.strided[-1])}: with a fixed stride, the number of pairs grows as n² in the end."
        )

    @property
    def how_to_read(self) -> str:
        return (
            f"Pairs kept by {Terms(self.setting).title}, over the length of a text without padding and paint. Both "
            "axes go by powers of two: n² is twice as steep as n."
        )

    def picture(self) -> Content:
        square, root = ([n**power for n in LENGTHS] for power in (2, 1.5))
        kept = [
            Line("n²", LENGTHS, square, "muted", "dashed"),
            Line("n √n", LENGTHS, root, "muted", "dashed"),
            Line(STRIDED, LENGTHS, self.strided, "head 1", "thin"),
            Line(COMPOSED, LENGTHS, self.composed, "ink"),
        ]
        length = max(self.setting.composed.shape)
        marks = {f"this text: {length}": length}
        return lines.content(
            [Chart("tokens of the text", "pairs kept", kept, "log2", "log2", marks=marks)], gap="none kept"
        )

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns = {
            f"pairs kept, {COMPOSED}": self.composed,
            f"pairs kept, {STRIDED}": self.strided,
            "n²": [n * n for n in LENGTHS],
            "n √n": [n**1.5 for n in LENGTHS],
        }
        return pd.DataFrame(columns, index=pd.Index(LENGTHS, name="tokens"))

    def recipe(self) -> str:
        """A script that leaves the pairs kept in `kept`: length -> pairs."""
        return script(pairs_kept, of_tokens=function_of(self.setting), lengths=LENGTHS)


VIEW = View(
    title="Mask and weights",
    exercise="causal-mask",
    shows=[See, *THE_BATCH, Growth],
    beside=PICTURES,
    reads_instead=reads_instead,
    reads=texts_of_sentence,
    controls=mask_and("layer", "head"),
    never_trained=other_mask,
)
