"""Names around a table: a first row of column names, a first column of row names, as pandas writes and prints. Pure."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

CORNER = "query \\ key"  # how the first cell of our own files begins
Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Named:
    """A table's cells without their names.

    Attributes:
        rows: the cells.
        corner: what stands above the names of the rows: in our own files, what the cells mean; "" if nothing.
        notes: what was left out, in sentences.
    """

    rows: Rows
    corner: str = ""
    notes: tuple[str, ...] = ()


def without_names(rows: Rows, is_number: Callable[[str], bool]) -> Named:
    """The cells alone.

    Args:
        rows: the words of each line.
        is_number: whether a word is a cell of a mask: a number, True or False.
    """
    if len(rows) < 2:
        return Named(rows)
    first, rest = rows[0], rows[1:]
    width = Counter(map(len, rest)).most_common(1)[0][0]
    if len(first) in (width, width - 1):
        beside, corner = first[len(first) - width + 1 :], first[0].strip() if len(first) == width else ""
        names = [row[0] for row in rest]
        if corner.startswith(CORNER):
            is_named = True
        elif not corner:  # nothing but names of rows is below an empty cell, and below one that is missing
            is_named = len(first) == width or all(_may_name(words, is_number) for words in (names, beside))
        else:
            is_named = not is_number(corner) and all(_are_names(words, is_number) for words in (names, beside))
        if beside and is_named:
            notes = (_about("row and column", [*names[:1], *beside[:1]]),)
            return Named([row[1:] for row in rest], corner, notes)
    if _head_alone(first, rest, width, is_number):
        return Named(rest, "", (_about("column", first),))
    if all(len(row) > 1 and row[0] and not is_number(row[0]) for row in rows):
        return Named([row[1:] for row in rows], "", (_about("row", [row[0] for row in rows]),))
    return Named(rows)


def _head_alone(first: Sequence[str], rest: Rows, width: int, is_number: Callable[[str], bool]) -> bool:
    """Whether the first row names columns, and nothing names rows."""
    if len(first) != width:
        return False
    if not any(map(is_number, first)):
        return True
    # 0, 1, 2, … may be a row of numbers, too: not where the table would be square with it
    makes_square, was_square = len(rest) == width, len(rest) + 1 == width
    largest = max((float(word) for row in rest for word in row if re.fullmatch(r"\d+(\.\d*)?", word)), default=0)
    return _counts(first) and (makes_square or (width > 2 and largest <= 1 and not was_square))


def _are_names(words: Sequence[str], is_number: Callable[[str], bool]) -> bool:
    return _counts(words) or not any(map(is_number, words))


def _may_name(words: Sequence[str], is_number: Callable[[str], bool]) -> bool:
    return _counts(words) or not all(map(is_number, words))


def _counts(words: Sequence[str]) -> bool:
    """Whether they are 0, 1, 2, … or 1, 2, 3, …"""
    return len(words) > 1 and any(list(words) == [str(start + at) for at in range(len(words))] for start in (0, 1))


def _about(what: str, names: Sequence[str]) -> str:
    shown = ", ".join(f"“{name[:20]}”" for name in names[:2]) + (", …" if len(names) > 1 else "")
    return f"Its {what} names ({shown}) are left out."
