"""What was read, before it means something: numbers in rows and columns, of one table or of several."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.finding import Finding
from tfm_core.study.attention_files import sizes

SIDE = 1024  # rows and columns of a table, at most; of a larger one the first so many are read
BYTES = 9 * 2**20  # of text or a file: 1,024 x 1,024 float64 fit
MOST_TABLES = 1024  # of a file; of more, the first so many are read
LEADING = ("layer", "sentence", "head")  # what the axes before (row, column) count; fewer axes are the last of these
CORNER = "query \\ key"  # how the first cell of our own files begins

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """What was read.

    Attributes:
        values: float64 (row, column), of several tables (…, row, column); True is 1.
        kind: what stood there: "booleans", "whole numbers", "numbers", or "signs" that were drawn.
        notes: what was done with it on the way, in sentences.
        precision: the float type that it came in; of text that does not say it, the finest one.
        says: what the table itself says of its cells, as our own files do; "" if nothing.
        labels: the tokens, where the file names them.
        axes: what each axis before the rows counts, such as "layer" and "head".
        findings: what the code that made it has wrong.
    """

    values: Values
    kind: str
    notes: tuple[str, ...] = ()
    precision: str = "float64"
    says: str = ""
    labels: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def stack(self) -> tuple[int, ...]:
        """How many tables there are along each axis before the rows."""
        return self.values.shape[:-2]

    @property
    def names(self) -> tuple[str, ...]:
        """What each of several tables is, such as "layer 1 of 2, head 3 of 4"; none for a single one."""
        if not self.stack:
            return ()
        named = [
            [f"{axis} {at} of {n}" for at in range(1, n + 1)] for axis, n in zip(self.axes, self.stack, strict=True)
        ]
        return tuple(", ".join(parts) for parts in product(*named))

    @property
    def tables(self) -> tuple[Values, ...]:
        """(row, column) of each table."""
        return tuple(self.values.reshape(-1, *self.values.shape[-2:]))

    def at(self, layer: int, head: int) -> "Table":
        """A single one of several tables, counted from 1; the last, if there are fewer.

        Args:
            layer: its place along all axes before the last of `stack`.
            head: its place along the last axis of `stack`.
        """
        if not self.stack:
            return self
        heads = self.stack[-1]
        layers = len(self.names) // heads
        at = (min(layer, layers) - 1) * heads + min(head, heads) - 1
        notes = (*self.notes, f"Of several tables, this is {self.names[at]}.")
        return replace(self, values=self.tables[at], notes=notes, axes=())


def table(
    values: Values,
    kind: str,
    notes: Sequence[str] = (),
    *,
    precision: str = "float64",
    says: str = "",
    labels: Sequence[str] = (),
) -> Table:
    """An array of any shape as tables: axes of length 1 are left out, one axis becomes a row.

    Raises:
        ValueError: where there is nothing, or more axes than layers, sentences and heads have.
    """
    notes = list(notes)
    shape: tuple[int, ...] = values.shape
    if not values.size:
        raise ValueError("There is nothing in it: its shape has a 0.")
    if len(shape) < 2:
        values = values.reshape(1, -1)
        notes.append("It is a single row." if values.size > 1 else "It is a single number.")
    if kind == "whole numbers" and values.max() == 255 and ((values == 0) | (values == 255)).all():
        values = (values == 255).astype(np.float64)
        notes.append("255 is taken as 1, as in pictures of a byte each.")
    values, moved = _rows_and_columns_last(values)
    notes += moved
    *leading, rows, columns = values.shape
    if rows == 1 and leading and leading[0] > 1 and set(leading[1:]) <= {1} and len(leading) <= 2:
        notes.append(f"Of {sizes(shape)}, axes of length 1 are left out: a row of keys for each sentence.")
        values, leading, rows = values.reshape(leading[0], columns), [], leading[0]
    names = LEADING[-len(leading) :] if 1 < len(leading) <= len(LEADING) else ("table",) * len(leading)
    kept = [(name, size) for name, size in zip(names, leading, strict=True) if size > 1]
    if len(kept) > len(LEADING):
        raise ValueError(f"It has the shape {sizes(shape)}; at most (layer, sentence, head, query, key) was expected.")
    if len(leading) > len(LEADING):
        kept = list(zip(LEADING[-len(kept) :], (size for _, size in kept), strict=True))
    if [name for name, _ in kept] == ["sentence", "head"]:
        notes.append("Its first axis is taken for sentences, its second for heads.")
    if len(kept) < len(leading):
        notes.append(f"Of {sizes(shape)}, axes of length 1 are left out.")
    axes, stack = tuple(name for name, _ in kept), tuple(size for _, size in kept)
    values = values.reshape(*stack, rows, columns)
    values, axes, in_part = _in_part(values, axes)
    notes += in_part
    several = values.reshape(-1, *values.shape[-2:])
    if len(several) > 1 and all(np.array_equal(several[0], other) for other in several[1:]):
        notes.append(f"All {len(several)} tables are equal: they are read as a single table.")
        values, axes = several[0], ()
    return Table(np.ascontiguousarray(values), kind, tuple(notes), precision, says, tuple(labels), axes)


def _rows_and_columns_last(values: Values) -> tuple[Values, list[str]]:
    """The array with its square pair of axes at the end, and a note on it, where the last two axes are not square.

    A pair counts if its tables are causal or rows of weights, or if it is side by side and longer than all other axes:
    (batch, heads, query, key) of few heads is left as it is.
    """
    shape = values.shape
    if len(shape) < 3 or shape[-1] == shape[-2] or shape[-2] == 1:
        return values, []
    pairs = [(i, j) for i, j in combinations(range(len(shape)), 2) if shape[i] == shape[j] > 1]
    chosen = [pair for pair in pairs if _is_causal(np.moveaxis(values, pair, (-2, -1)))]
    if not chosen and not _sums_to_1(values):  # weights of fewer queries than keys are left as they are
        chosen = [pair for pair in pairs if _sums_to_1(np.moveaxis(values, pair, (-2, -1)))]
        chosen = chosen or [(i, j) for i, j in pairs if j == i + 1 and shape[i] > max(shape[:i] + shape[j + 1 :])]
    if len(chosen) != 1:
        return values, []
    (i, j), size = chosen[0], shape[chosen[0][0]]
    note = f"Of {sizes(shape)}, axes {i + 1} and {j + 1} are the square pair ({size} × {size}): query and key."
    return np.moveaxis(values, (i, j), (-2, -1)), [note]


def _is_causal(values: Values) -> bool:
    """Whether above or below the diagonal all is the same, and elsewhere something else."""
    size = values.shape[-1]
    above = np.triu(np.ones((size, size), bool), 1)
    is_same = size > 2 and any((part == part[..., :1]).all() for part in (values[..., above], values[..., above.T]))
    return bool(is_same and (values != values.flat[0]).any())


def _sums_to_1(values: Values) -> bool:
    """Whether rows are weights: no number below 0, and a sum of 1."""
    return bool(values.min() >= 0 and np.allclose(values.sum(-1), 1, atol=5e-3)) and values.shape[-1] > 1


def _in_part(values: Values, axes: tuple[str, ...]) -> tuple[Values, tuple[str, ...], list[str]]:
    """The first rows, columns and tables, as many as are read, and notes on what was left out."""
    notes = []
    *stack, rows, columns = values.shape
    if max(rows, columns) > SIDE:
        values = values[..., :SIDE, :SIDE]
        here = " × ".join(f"{size:,}" for size in values.shape[-2:])
        notes.append(f"It is {rows:,} × {columns:,}, of which the first {here} are read.")
    if (count := math.prod(stack)) > MOST_TABLES:
        values = values.reshape(-1, *values.shape[-2:])[:MOST_TABLES]
        axes = ("table",)
        notes.append(f"It holds {count:,} tables, of which the first {MOST_TABLES:,} are read.")
    return values, axes, notes


def refuse_nan(values: Values) -> None:
    """Refuse an array with NaN in it.

    Raises:
        ValueError: with the place of the first NaN.
    """
    nan = np.isnan(values)
    if nan.any():
        at = np.unravel_index(int(nan.argmax()), values.shape)
        raise ValueError(f"{place(at)} is NaN, which stands for neither visible nor hidden.")


def place(at: Sequence[int | np.intp]) -> str:
    """An entry's place in words, counted from 1, such as "Table 2, row 3, column 2"."""
    row, column = [1, *(int(i) + 1 for i in at)][-2:]
    before = [str(int(i) + 1) for i in at[:-2]]
    return f"Table {', '.join(before)}, row {row}, column {column}" if before else f"Row {row}, column {column}"
