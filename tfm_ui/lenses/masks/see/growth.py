"""How the pairs that a mask keeps grow with the text."""

from dataclasses import dataclass
from math import isqrt

import pandas as pd

from tfm_ui.lenses.masks.mask_code import function_of
from tfm_ui.lenses.masks.masked_passes import LENGTHS, kept_by_length
from tfm_ui.lenses.masks.see import recipe
from tfm_ui.lenses.masks.state import Setting
from tfm_ui.lenses.masks.terms import terms_of
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats, units

SOURCES = (kept_by_length,)
COMPOSED, STRIDED = "your composition", "strided √n and causal"


@dataclass(frozen=True)
class Growth(Result):
    """How many pairs are kept at each of LENGTHS.

    Attributes:
        setting: whose composition it is.
        title: the composition.
        composed: what it keeps.
        strided: what `strided` keeps with causality, its stride the root of the length, rounded down.
    """

    setting: Setting
    title: str
    composed: list[int]
    strided: list[int]

    @property
    def length(self) -> int:
        """The length of the text that is shown."""
        return max(self.setting.composed.shape)

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
        return script(recipe.pairs_kept, composed=function_of(self.setting), lengths=LENGTHS)


def growth(setting: Setting) -> Growth:
    """The growth of the setting's composition, without padding and without paint."""
    strided = [kept_by_length(f"strided {isqrt(length)}", causal=True)[i] for i, length in enumerate(LENGTHS)]
    composed = kept_by_length(setting.composition, causal=setting.causal_anyway)
    return Growth(setting, terms_of(setting).title, composed, strided)
