"""Surprise along a text: where its bits fall, and how the perplexity comes about."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tfm_ui.lenses.generate.surprise.numbers import NOTHING, ROUNDING, Surprising
from tfm_ui.lenses.generate.surprise.sides import FIRST, Side
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units


@dataclass(frozen=True)
class Along(Result):
    """The sides over their tokens."""

    shown: Surprising

    def sentence(self) -> str:
        """How few tokens have half of the bits, and the perplexity in the middle of the text and at its end."""
        return " ".join(map(self._of, self.shown.rated)) or NOTHING

    def _of(self, side: Side) -> str:
        scored = side.scored
        whose = f"{side.name}’s" if len(self.shown.sides) > 1 else "the"
        few = fewest_for_half(scored.bits.numpy())
        middle = (scored.count + 1) // 2
        return (
            f"Half of {whose} {units.three(float(scored.bits.sum()))} bits fall on the {few} most surprising of "
            f"{formats.plural(scored.count, 'token')}. Up to token {middle + FIRST} the perplexity is "
            f"{units.three(float(scored.running[middle - 1]))}, at the end {units.three(scored.perplexity)}."
        )

    def table(self) -> pd.DataFrame:
        """A row per token; a column for each side."""
        columns = {
            f"{what} {side.name}": pd.Series(
                values.numpy(), index=range(FIRST + 1, FIRST + 1 + side.scored.count), dtype=np.float64
            )
            for side in self.shown.sides
            for what, values in (("bits", side.scored.bits), ("perplexity up to here", side.scored.running))
        }
        return pd.DataFrame(columns).rename_axis("place")

    def laws(self) -> Mapping[str, bool]:
        """Where the right chart ends."""
        if not self.shown.rated:
            return {}
        apart = max(abs(float(side.scored.running[-1]) / side.scored.perplexity - 1) for side in self.shown.rated)
        return {
            f"up to the last token the perplexity is that of the text (error {formats.tiny(apart)})": apart < ROUNDING
        }


def fewest_for_half(bits: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """How few of these numbers, the largest first, add up to half of all."""
    sums = np.cumsum(np.sort(bits)[::-1])
    return int(np.searchsorted(sums, sums[-1] / 2) + 1)
