"""How the pairs that a mask keeps grow with the text."""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import isqrt

import pandas as pd
import torch
from torch import Tensor

from tfm_core import causal_mask
from tfm_ui.lenses.masks.composition import combined, parse
from tfm_ui.lenses.masks.mask_code import function_of
from tfm_ui.lenses.masks.masked_passes import MasksPanel
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.lenses.masks.terms import terms_of
from tfm_ui.live import passes
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import LITTLE
from tfm_ui.live.script import script
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.state.model_state import WEIGHTS, ModelState
from tfm_ui.text import formats, units

LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
COMPOSED, STRIDED = "your composition", "strided √n and causal"


def pairs_kept(*, composed: Callable[[Tensor, Tensor, int, int], Tensor], lengths: Sequence[int]) -> dict[int, int]:
    """How many pairs the mask keeps of texts of these lengths, the longest last.

    The mask of a shorter text is the upper left corner of that of the longest, as is tested for each mask.
    """
    length = lengths[-1]
    tokens = torch.ones(1, length, dtype=torch.long)  # words: no padding
    mask = composed(tokens, tokens, length, length)
    kept = {n: int(mask[:n, :n].sum()) for n in lengths}
    return kept


@cached(heavy=never, apart=256)
def kept_by_length(composition: str, *, causal: bool) -> dict[int, int]:
    """How many pairs a composition keeps of texts of LENGTHS tokens without padding.

    Args:
        composition: as in a link (tfm_ui/lenses/masks/composition.py).
        causal: whether nobody looks ahead, whatever is composed.
    """

    def composed(queries: Tensor, keys: Tensor, rows: int, columns: int) -> Tensor:
        mask = combined(parse(composition)[0], queries, keys)
        return mask & causal_mask(rows, columns) if causal else mask

    return pairs_kept(composed=composed, lengths=LENGTHS)


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
            f"Pairs kept by {terms_of(self.setting).title}, over the length of a text without padding and paint. Both "
            "axes go by powers of two: n² is twice as steep as n."
        )

    def picture(self) -> Content:
        """Pairs kept over the length of the text."""
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
        return script(pairs_kept, composed=function_of(self.setting), lengths=LENGTHS)
