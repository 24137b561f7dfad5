"""A table of a reading, as the mask doctor looks at it: what it shows, and how code that mends it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.facts import Facts
from tfm_core.clinic.finding import Finding, Severity
from tfm_core.clinic.findings_fixes import Axes, fixes
from tfm_core.clinic.reading import Reading

WRITTEN_OUT = 1e6  # whole numbers below this are written out
NAMED = 4  # places that are named before "and n more"
# Below these, e^x is exactly 0.
LIMITS = {"float16": -18, "bfloat16": -93, "float32": -104, "float64": -746}


@dataclass(frozen=True)
class Case:
    """A table and its meaning.

    Attributes:
        values: float64 (row, column).
        visible: boolean (row, column), True = may attend.
        meaning: "attend", "ignore" or "added".
        kind: "booleans", "whole numbers", "numbers" or "signs".
        precision: the float type that the numbers came in.
    """

    values: NDArray[np.float64]
    visible: NDArray[np.bool_]
    meaning: str
    kind: str
    precision: str

    @classmethod
    def of(cls, reading: Reading, at: int) -> "Case | None":
        """The table of a reading, or None where it is no mask."""
        if reading.meaning in ("weights", "token ids"):
            return None
        return cls(reading.tables[at], reading.visible[at], reading.meaning, reading.kind, reading.precision)

    @cached_property
    def facts(self) -> Facts:
        """What can be said of the mask."""
        return Facts(self.visible)

    @property
    def boolean(self) -> bool:
        """Whether the mask is of booleans."""
        return self.kind in ("booleans", "signs")

    @property
    def zeros_and_ones(self) -> bool:
        """Whether there is no other number."""
        return bool(np.isin(self.values, (0, 1)).all())

    @property
    def sentences(self) -> bool:
        """Whether a row is a sentence, and its columns are the keys of that sentence."""
        return self.facts.per_key and not self.column

    @property
    def column(self) -> bool:
        """Whether there is a single column for several rows, which says nothing of single keys."""
        return bool(self.visible.shape[1] == 1 < len(self.visible))

    @property
    def square(self) -> bool:
        """Whether it is a mask of self-attention over more than one token."""
        return self.facts.square and len(self.visible) > 1 and not self.sentences

    @cached_property
    def empty(self) -> NDArray[np.intp]:
        """The rows without a key, from 0."""
        return np.flatnonzero(~self.visible.any(1))

    @property
    def limit(self) -> int:
        """The number at and below which what is added hides."""
        return LIMITS.get(self.precision, LIMITS["float32"])

    @property
    def axes(self) -> Axes | None:
        """What the axes of the mask are, for a fix."""
        if self.column:
            return None
        if self.sentences:
            return "sentences"
        return "pairs" if self.facts.square else "uneven pairs"

    def fixes(self, mending: Mapping[str, str], meaning: str = "", axes: Axes | None = None) -> dict[str, str]:
        """Code that mends the mask, by call.

        Args:
            mending: by meaning, an expression of `mask`; {m} stands for its booleans, {limit} for what hides.
            meaning: of the mended mask, that of this by default.
            axes: of the mended mask, those of this by default.
        """
        if self.meaning not in mending:
            return {}
        booleans = "mask" if self.boolean else "mask.bool()"
        made = mending[self.meaning].format(m=booleans, limit=self.limit)
        meaning = meaning or self.meaning
        return fixes(f"mask = {made}", meaning=meaning, boolean=meaning != "added", axes=axes or self.axes)

    def finding(
        self,
        severity: Severity,
        topic: str,
        title: str,
        consequence: str,
        cell: Sequence[int] | None = None,
        mending: Mapping[str, str] | None = None,
        *,
        row: int | None = None,
        meaning: str = "",
        axes: Axes | None = None,
    ) -> Finding:
        """A finding at a cell, in a row, or of the whole mask."""
        where = f"row {cell[0] + 1}, column {cell[1] + 1}" if cell else "" if row is None else f"row {row + 1}"
        at = (int(cell[0]), int(cell[1])) if cell else None if row is None else (int(row), 0)
        made = self.fixes(mending, meaning, axes) if mending else {}
        return Finding(severity, title, consequence, where, at, made, topic)


def first(where: NDArray[np.bool_]) -> tuple[int, int]:
    """The first cell that is True, row by row."""
    row, column = divmod(int(where.argmax()), where.shape[1])
    return row, column


def listed(numbers: Sequence[Any] | NDArray[np.intp]) -> str:
    """Numbers from 0, in words from 1: "5", "5 and 6", "1, 2, 3, 4 and 7 more"."""
    told = [str(int(number) + 1) for number in numbers[:NAMED]]
    if len(numbers) > NAMED:
        return f"{', '.join(told)} and {len(numbers) - NAMED:,} more"
    return " and ".join(filter(None, [", ".join(told[:-1]), told[-1]]))


def lines(numbers: Sequence[Any] | NDArray[np.intp], name: str = "row") -> str:
    """Rows or columns in words: "Row 5", "Rows 5 and 6"."""
    return f"{name.capitalize()}{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def has(numbers: Sequence[Any] | NDArray[np.intp]) -> str:
    """The verb after `lines`."""
    return "have" if len(numbers) > 1 else "has"


def signed(number: float) -> str:
    """A number as it is written in a sentence, such as −1e9 or −∞."""
    if np.isinf(number):
        return "−∞" if number < 0 else "+∞"
    if number == int(number) and abs(number) < WRITTEN_OUT:
        return f"{int(number):,}".replace("-", "−")
    text = f"{number:.4g}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-")
    return text.replace("-", "−")
