"""A mask out of text, as people have them: printed tensors, nested lists, rows of a table. Pure.

Nothing is executed, and nothing large is made before its size is known. What cannot be read is a ValueError with a
sentence for the reader.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_ui.text import formats

SIDE = 1024  # rows and columns at most
BYTES = 9 * 2**20  # of text or a file: 1,024 x 1,024 float64 fit
DEEP = 8  # brackets within each other
WORDS = {"true": 1.0, "t": 1.0, "false": 0.0, "f": 0.0}
SHORTENED = (
    "This was shortened when it was printed (“...”). Before printing, call torch.set_printoptions(threshold=10**7), or "
    "np.set_printoptions(threshold=10**7)."
)


@dataclass(frozen=True)
class Table:
    """What was read.

    Attributes:
        values: float64 (row, column); True is 1.
        kind: what stood there: "booleans", "whole numbers" or "numbers".
        notes: what was done with it on the way, in sentences.
    """

    values: NDArray[np.float64]
    kind: str
    notes: tuple[str, ...] = ()


def read_text(text: str) -> Table:
    """A table out of text.

    Raises:
        ValueError: with a sentence that says what is wrong, and where.
    """
    text = text.replace("\u2212", "-").replace("∞", "inf").strip()
    if not text:
        raise ValueError("There is nothing in it.")
    if len(text) > BYTES:
        raise ValueError(f"It has {len(text):,} characters; {BYTES:,} is the limit.")
    if "..." in text or "…" in text:
        raise ValueError(SHORTENED)
    reader = _Reader()
    shape = _brackets(text, reader) if "[" in text else _lines(text, reader)
    return table(np.array(reader.values), shape, reader.kind)


class _Reader:
    """Rows of words into numbers: each different word is read once."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.known: dict[str, float] = {}
        self.rows = 0

    def row(self, words: Sequence[str]) -> int:
        self.rows += 1
        if self.rows > SIDE:
            raise ValueError(f"It has more than {SIDE:,} rows, which is the limit.")
        if len(words) > SIDE:
            raise ValueError(f"Row {self.rows} has more than {SIDE:,} entries, which is the limit.")
        for column, word in enumerate(words, 1):
            if word not in self.known:
                self.known[word] = self._number(word, column)
            self.values.append(self.known[word])
        return len(words)

    def _number(self, word: str, column: int) -> float:
        where = f"Row {self.rows}, entry {column}"
        if word.lower() in WORDS:
            return WORDS[word.lower()]
        try:
            if len(word) > 40 or "_" in word:
                raise ValueError(word)
            value = float(word)
        except ValueError:
            shown = word if len(word) <= 20 else word[:19] + "…"
            raise ValueError(f"{where} is “{shown}”: a number, True or False was expected.") from None
        if math.isnan(value):
            raise ValueError(f"{where} is NaN, which stands for neither visible nor hidden.")
        return value

    @property
    def kind(self) -> str:
        words = set(self.known)
        if all(word.lower() in WORDS for word in words):
            return "booleans"
        return "whole numbers" if all(re.fullmatch(r"[+-]?\d+", word) for word in words) else "numbers"


def _lines(text: str, reader: _Reader) -> list[int]:
    """A row per line; semicolons of a single line separate rows, if its cells are separated by something else."""
    lines = text.splitlines()
    if len(lines) == 1 and ";" in text and re.search(r"[\s,](?!$)", text.replace("; ", ";")):
        lines = text.strip(";").split(";")
    lines = [line.strip().strip(",;").strip() for line in lines if line.strip(" \t,;")]
    if not lines:
        raise ValueError("There is nothing in it.")
    if len(lines) > SIDE:
        raise ValueError(f"It has {len(lines):,} rows; {SIDE:,} is the limit.")
    for row, line in enumerate(lines, 1):
        if "," in line and ";" in line:
            raise ValueError(f"Row {row} has both , and ; in it: if the comma is a decimal one, write a point.")
    digits = all(re.fullmatch(r"[01]{2,}", line) for line in lines)  # 1100, without anything between
    separator = r"\s*[,;]\s*|\s+"
    rows = [list(line) if digits else re.split(separator, line, maxsplit=SIDE) for line in lines]
    lengths = [reader.row([word.strip("\"'") for word in row]) for row in rows]
    _even(lengths)
    return [len(lengths), lengths[0]] if len(lengths) > 1 else [lengths[0]]


def _brackets(text: str, reader: _Reader) -> list[int]:
    """Lists within lists, in whatever stands around them: the shape that they make."""
    begin, end = text.index("["), text.rfind("]") + 1
    if end and end < begin:
        raise ValueError("A bracket is closed that was never opened.")
    if not end or text.count("[") != text.count("]"):
        raise ValueError("There are more brackets of one kind than of the other: was it cut?")
    if text.count("[") > 2 * SIDE + DEEP:
        raise ValueError(f"It has more than {SIDE:,} rows, which is the limit.")
    if max(begin, len(text) - end) > 200:
        raise ValueError("There is more in it than one array: paste the array alone.")
    open_lists: list[list[list[int]]] = []  # of each open bracket, the shapes of what it holds
    shape: list[int] | None = None
    for piece in re.split(r"([\[\]])", text[begin:end]):
        if piece == "[":
            if shape is not None:
                raise ValueError("There is more than one array in it: paste one.")
            open_lists.append([])
            if len(open_lists) > DEEP:
                raise ValueError(f"Its lists lie more than {DEEP} deep: a mask has rows and columns.")
        elif piece == "]":
            if not open_lists:
                raise ValueError("A bracket is closed that was never opened.")
            inner = open_lists.pop()
            shape_of = _closed(inner)
            if open_lists:
                open_lists[-1].append(shape_of)
            else:
                shape = shape_of
        elif words := re.split(r"[\s,;]+", piece.strip(" \n\t\r,;"), maxsplit=SIDE):
            if words == [""]:
                continue
            if not open_lists:
                raise ValueError("There is more than one array in it: paste one.")
            if open_lists[-1]:
                raise ValueError(f"Beside row {reader.rows} stands “{piece.strip(' ,')[:20]}” outside of any row.")
            open_lists[-1].append([reader.row(words), -1])
    return shape or [0]


def _closed(inner: list[list[int]]) -> list[int]:
    """The shape of a list by what it holds: numbers, marked by -1, or lists."""
    if not inner:
        return [0]
    if inner[0][-1] == -1:
        if len(inner) > 1:
            raise ValueError("Numbers and lists stand side by side.")
        return [inner[0][0]]
    if any(len(shape) != len(inner[0]) for shape in inner):
        raise ValueError("Some of its rows are lists of lists, others are not.")
    if len(inner[0]) == 1:
        _even([shape[0] for shape in inner])
    elif any(shape != inner[0] for shape in inner):
        raise ValueError("It holds several tables of different sizes: paste one.")
    return [len(inner), *inner[0]]


def _even(lengths: Sequence[int]) -> None:
    """All rows of one length, or a sentence on the first that is not."""
    usual = Counter(lengths).most_common(1)[0][0]
    odd = [row for row, length in enumerate(lengths) if length != usual]
    if odd:
        entries = formats.plural(lengths[odd[0]], "entry", "entries")
        others = {1: "", 2: ", and 1 more differs"}.get(len(odd), f", and {len(odd) - 1} more differ")
        raise ValueError(f"Row {odd[0] + 1} has {entries}, most rows have {usual}{others}: a mask has equal rows.")


def table(values: NDArray[np.float64], shape: Sequence[int], kind: str) -> Table:
    """The values in two axes: axes of length 1 are left out, one axis becomes a row.

    Raises:
        ValueError: where there is nothing, or more than one mask.
    """
    shape, notes = list(shape), []
    if 0 in shape or not values.size:
        raise ValueError("There is nothing in it: its shape has a 0.")
    whole = " × ".join(map(str, shape))
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    while len(shape) > 2 and 1 in shape[1:-1]:
        shape.pop(1 + shape[1:-1].index(1))
    if len(shape) > 2:
        count = math.prod(shape[:-2])
        raise ValueError(f"It holds {count:,} tables ({whole}): paste one of them.")
    if whole.count("×") > 1:
        notes.append(f"Of {whole}, axes of length 1 are left out.")
    if len(shape) == 1:
        shape = [1, *shape]
        notes.append("One row: a mask of keys for all queries.")
    if max(shape) > SIDE:
        raise ValueError(f"It is {shape[0]:,} × {shape[1]:,}; {SIDE:,} × {SIDE:,} is the limit.")
    return Table(values.reshape(shape), kind, tuple(notes))
