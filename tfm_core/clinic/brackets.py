"""Lists within each other, as Python, NumPy, torch and Matlab write them: their numbers, and the shape they make."""

import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.table import SIDE, Values, place
from tfm_core.clinic.words import BadWord, Words, read_words, split

DEEP = 8  # brackets within each other
MOST_LISTS = 2**18
APART = b" \n\t,;[]\"'"  # what separates words
SCALARS = re.compile(r"\b(?:np|numpy|jnp|torch)?\.?(?:float\d+|u?int\d+|bool_?|tensor|array)\(([^()\[\]]{0,40})\)")
INFINITE = re.compile(r"""float\(\s*['"]\s*([+-]?)inf(?:inity)?\s*['"]\s*\)|\b(?:math|np|numpy|jnp|torch)\.inf\b""")
# What may stand between two arrays that belong together: rows, or the layers of a tuple, each printed as a tensor.
BETWEEN = re.compile(r"(?=.*[,\n])\s*(?:,\s*\w+=[^()\[\],]*)*\)?\s*,?\s*(?:[\w.]{1,20}\(\s*|-\s*)?", re.DOTALL)

Shape = tuple[int, ...]


def read_lists(text: str) -> tuple[Values, str]:
    """The array that lists are, from the first bracket of a text to its last, and the kind of its numbers.

    Raises:
        ValueError: with what is wrong, and where.
    """
    inside = _plain(text)
    words = split(inside, APART)
    shape = _shape(inside, words)
    try:
        values, kind = read_words(words)
    except BadWord as bad:
        at = np.unravel_index(bad.index, shape)
        raise ValueError(f"{place(at)} {bad.problem}") from None
    return values.reshape(shape), kind


def _plain(text: str) -> bytes:
    """A single list, in which tuples are lists, numbers in calls are numbers, and several arrays are one list."""
    if "inf" in text:
        text = INFINITE.sub(r"\1inf", text)
    if "(" in text:
        text = SCALARS.sub(r"\1", text)
    if "np." in text:
        text = text.replace("np.True_", "True").replace("np.False_", "False")
    inside = text.encode("utf-8", "replace")
    marks, places = _marks(inside)
    depth = np.cumsum(np.where(marks == ord("["), 1, -1))
    if (depth < 0).any():
        raise ValueError("A bracket is closed that was never opened.")
    if depth[-1]:
        raise ValueError("There are more brackets of one kind than of the other: was it cut?")
    if depth.max() > DEEP:
        raise ValueError(f"Its lists lie more than {DEEP} deep: a mask has rows and columns.")
    ends = np.flatnonzero(depth == 0)
    if len(ends) > 1:
        starts = [0, *(ends[:-1] + 1).tolist()]
        arrays = [inside[places[i] : places[j] + 1] for i, j in zip(starts, ends.tolist(), strict=True)]
        for end, start in zip(ends.tolist(), starts[1:], strict=False):
            gap = inside[places[end] + 1 : places[start]].decode("utf-8", "replace")
            if len(gap) > 200 or not BETWEEN.fullmatch(gap):
                raise ValueError("There is more than one array in it: paste one.")
        inside = b"[" + b",".join(arrays) + b"]"
    if b"(" in inside and not re.search(rb"\w\s*\(", inside):
        inside = inside.replace(b"(", b"[").replace(b")", b"]")
    return inside


def _marks(text: bytes, which: bytes = b"[]") -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The signs of a text that are brackets, and their places."""
    signs = np.frombuffer(text, np.uint8)
    is_mark = np.zeros(256, bool)
    is_mark[np.frombuffer(which, np.uint8)] = True
    places = np.flatnonzero(is_mark[signs])
    if len(places) > MOST_LISTS:
        raise ValueError(f"It has more than {MOST_LISTS // 2:,} lists or rows; {SIDE:,} × {SIDE:,} is a large mask.")
    return signs[places], places


class _List:
    """An open list: how many words stand in it, in this row of it, and the shapes of the lists or rows before."""

    def __init__(self) -> None:
        self.words = 0
        self.parts: list[Shape] = []
        self.has_rows = False  # [1 0; 0 1], as Matlab and Julia write it, is a list of two rows

    def end_row(self) -> None:
        if self.words:
            self.parts.append((self.words,))
            self.words, self.has_rows = 0, True

    def shape(self) -> Shape:
        if self.has_rows:
            self.end_row()
        if self.words:
            return (self.words,)
        if not self.parts:
            return (0,)
        first = self.parts[0]
        if any(len(part) != len(first) for part in self.parts):
            raise ValueError("Some of its rows are lists of lists, others are not.")
        if len(first) == 1:
            even([part[0] for part in self.parts])
        elif any(part != first for part in self.parts):
            raise ValueError("It holds several tables of different sizes: paste one.")
        return (len(self.parts), *first)


def _shape(text: bytes, words: Words) -> Shape:
    """The shape that lists make."""
    marks, places = _marks(text, b"[];")
    counts = np.diff(np.searchsorted(words.starts, places), prepend=0)
    open_lists: list[_List] = []
    rows = 0
    for mark, count in zip(marks.tolist(), counts.tolist(), strict=True):
        if count:
            inner = open_lists[-1]
            if inner.parts and not inner.has_rows:
                raise ValueError(f"Numbers stand outside of any row, beside row {rows}.")
            inner.words += count
        if mark == ord("["):
            if open_lists and (open_lists[-1].words or open_lists[-1].has_rows):
                raise ValueError("Numbers and lists stand side by side.")
            if len(open_lists) == DEEP:
                raise ValueError(f"Its lists lie more than {DEEP} deep: a mask has rows and columns.")
            open_lists.append(_List())
        elif mark == ord(";"):
            if not open_lists[-1].parts or open_lists[-1].has_rows:
                open_lists[-1].end_row()
        else:
            shape = open_lists.pop().shape()
            rows += len(shape) == 1
            if not open_lists:
                return shape
            open_lists[-1].parts.append(shape)
    raise ValueError("There are more brackets of one kind than of the other: was it cut?")


def even(lengths: list[int]) -> None:
    """Refuse rows that differ in length.

    Raises:
        ValueError: with the first row that has not the usual length.
    """
    usual = Counter(lengths).most_common(1)[0][0]
    odd = [row for row, length in enumerate(lengths) if length != usual]
    if not odd:
        return
    entries = f"{lengths[odd[0]]:,} {'entry' if lengths[odd[0]] == 1 else 'entries'}"
    others = {1: "", 2: ", and 1 more differs"}.get(len(odd), f", and {len(odd) - 1:,} more differ")
    raise ValueError(f"Row {odd[0] + 1} has {entries}, most rows have {usual}{others}: a mask has equal rows.")
