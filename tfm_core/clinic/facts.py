"""What can be said of a mask: causal, blocks, padding, rows without a key."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

NAMED = 4  # rows that are named before "and n more"

Mask = NDArray[np.bool_]


class Facts:
    """What can be said of a mask, (row, column), True = may attend."""

    def __init__(self, mask: Mask) -> None:
        self.mask = mask

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """Lengths of the blocks on the diagonal that do not see each other; a square mask alone has them."""
        if not self.square:
            return ()
        rows = len(self.mask)
        either = self.mask | self.mask.T | np.eye(rows, dtype=bool)
        tied = rows - 1 - either[:, ::-1].argmax(1)  # the last that each is tied to
        furthest = np.maximum.accumulate(tied)
        ends = np.flatnonzero(furthest == np.arange(rows)) + 1
        return tuple(int(size) for size in np.diff(ends, prepend=0))

    @property
    def square(self) -> bool:
        """Whether there are as many rows as columns."""
        return bool(self.mask.shape[0] == self.mask.shape[1])

    @property
    def causal(self) -> bool:
        """Whether no query looks ahead, the last query beside the last key."""
        rows, columns = self.mask.shape
        return not bool(np.triu(self.mask, columns - rows + 1).any())

    @property
    def per_key(self) -> bool:
        """Whether it may be a mask of padding: one row for all queries, or a row per sentence, hiding the same end."""
        rows, columns = self.mask.shape
        end, beginning = self.mask[:, :-1] >= self.mask[:, 1:], self.mask[:, :-1] <= self.mask[:, 1:]
        return bool(rows == 1 or (rows != columns and (end.all() or beginning.all()) and not of_a_cache(self.mask)))

    def sentence(self) -> str:
        """All of it in words."""
        rows, columns = self.mask.shape
        kept = int(self.mask.sum())
        sentences = [
            f"{rows} × {columns}, {'square' if self.square else 'not square'}; {kept:,} of "
            f"{self.mask.size:,} pairs kept ({_percent(kept / self.mask.size)})."
        ]
        if self.per_key:
            sentences.append(
                "Taken as padding: a row of keys " + ("for all queries." if rows == 1 else "per sentence.")
            )
        elif self.square and rows > 1:
            sentences.append(self._order())
            if len(self.blocks) > 1 and kept:
                sentences.append(self._blocks())
            elif bool((self.mask == self.mask[0]).all()) and 0 < kept < self.mask.size:
                sentences.append("All rows are alike: which keys are hidden, as padding is.")
        elif rows > 1:
            sentences.append("No query looks ahead." if self.causal else "Some queries look ahead.")
        return " ".join(part for part in (*sentences, self._empties()) if part)

    def _order(self) -> str:
        diagonal = self.mask.diagonal()
        if not self.mask.any():
            return ""
        if self.causal and not diagonal.any():
            return "Strictly lower triangular: nobody sees itself, or what comes later."
        ahead = int(np.triu(self.mask, 1).sum())
        sentence = "Causal: nobody looks ahead."
        if not self.causal:
            sentence = f"Not causal: {counted(ahead, 'pair looks', 'pairs look')} ahead."
        if not diagonal.any():
            return f"{sentence} The diagonal is hidden: nobody sees itself."
        if not diagonal.all():
            blind = int((~diagonal).sum())
            return f"{sentence} {counted(blind, 'token cannot see itself', 'tokens cannot see themselves')}."
        return sentence

    def _blocks(self) -> str:
        if len(self.blocks) == len(self.mask):
            return "Diagonal: everybody sees at most itself."
        shown = ", ".join(map(str, self.blocks[:8])) + (", …" if len(self.blocks) > 8 else "")
        return f"Block-diagonal: {len(self.blocks)} blocks of {shown} tokens that do not see each other."

    def _empties(self) -> str:
        empty = np.flatnonzero(~self.mask.any(1))
        if not len(empty):
            return ""
        if len(empty) == len(self.mask):
            return "No row has any key: it hides everything."
        names = ", ".join(str(row + 1) for row in empty[:NAMED])
        more = f" and {len(empty) - NAMED:,} more" if len(empty) > NAMED else ""
        return f"{'Row' if len(empty) == 1 else 'Rows'} {names}{more} without any key."


def of_a_cache(mask: Mask) -> bool:
    """Whether it is causal, the last query beside the last key."""
    rows, columns = mask.shape
    return rows > 1 and np.array_equal(mask, np.tri(rows, columns, columns - rows, dtype=bool))


def counted(number: int, what: str, more: str = "") -> str:
    """A number of things in words, such as "1 pair", "1,024 pairs"."""
    return f"{number:,} {what if number == 1 else more or what + 's'}"


def _percent(share: float) -> str:
    """A share in percent with two digits; 0% and 100% are written of exactly 0 and 1 alone."""
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.0001:
        return "under 0.01%"
    if share > 0.9999:
        return "over 99.99%"
    digits = (f"{100 * share:.2g}", f"{100 * share:.1f}", f"{100 * share:.2f}", f"{100 * share:.3f}")
    return f"{next(text for text in digits if float(text) < 100)}%"
