"""One target at several lengths: what the panels of the view "length" have in common."""

from dataclasses import dataclass

from tfm_ui.lenses.profiling.comparison import Comparison, under_load
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats


@dataclass(frozen=True)
class Lengths(Result):
    """A row per length.

    Attributes:
        comparison: the rows, and their measurement.
    """

    comparison: Comparison

    @property
    def lengths(self) -> list[int]:
        """The lengths that are asked for."""
        return [row.size.seq_len for row in self.comparison.plan.rows]

    def under_load(self, *kinds: str) -> str:
        """A sentence that names the lengths at which these are of contended blocks too; "" if there are none."""
        return under_load(self.comparison.rows, kinds, self._named)

    def _named(self, numbers: list[int]) -> str:
        if len(numbers) == len(self.lengths):
            return "all lengths"
        return in_tokens([self.lengths[number - 1] for number in numbers])


def in_tokens(lengths: list[int]) -> str:
    """32, 64 and 128 tokens; 1 token."""
    return f"{formats.listed([formats.count(length) for length in lengths])} {'token' if lengths == [1] else 'tokens'}"
