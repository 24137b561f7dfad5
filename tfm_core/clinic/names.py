"""Names around a table: a first row of column names, first columns of row names, as pandas writes and prints them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfm_core.clinic.table import CORNER
from tfm_core.clinic.words import scalar
from tfm_core.study.attention_files import told

UNNAMED = "Unnamed:"  # how pandas calls a column whose name was empty, such as an index that was written


@dataclass(frozen=True)
class Around:
    """How much of a table is names.

    Attributes:
        top: how many of the first rows.
        left: how many of the first columns.
        corner: what stands above the names of the rows: in our own files, what the cells mean; "" if nothing.
        labels: the names, where they are more than 0, 1, 2, …
        notes: what was left out, in sentences.
    """

    top: int = 0
    left: int = 0
    corner: str = ""
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edges:
    """What names are told by.

    Attributes:
        first: the words of the first row, which may have a cell fewer than others.
        column: the words at a place, from 0, of all rows but the first; a first row that is shorter is no exception.
        rows: how many rows there are but the first.
        width: how many words they have.
        largest: the largest number of a part of them, from a column on; infinite where not all are numbers.
    """

    first: Sequence[str]
    column: Callable[[int], list[str]]
    rows: int
    width: int
    largest: Callable[[int], float]


def around(edges: Edges) -> Around:
    """The names around a table; none in a table of a single row."""
    first, width = list(edges.first), edges.width
    if not edges.rows:
        return Around()
    if len(first) in (width, width - 1):
        corner = first[0].strip() if len(first) == width else ""
        left = 1 + max((at for at in (0, 1) if first[at : at + 1] and first[at].startswith(UNNAMED)), default=0)
        left -= len(first) < width and left > 1
        beside, names = first[len(first) - width + left :], edges.column(left - 1)
        if corner.startswith(CORNER):
            is_named = True
        elif not corner:  # nothing but names of rows is below an empty cell, and below a cell that is missing
            is_named = len(first) == width or all(_may_name(words) for words in (names, beside))
        else:
            is_named = not is_number(corner) and all(_are_names(words) for words in (names, beside))
        if beside and is_named:
            labels = beside if corner.startswith(CORNER) or not _counts(beside) else _labels(names)
            return Around(1, left, corner, tuple(labels), _about("row and column", [*names[:1], *beside[:1]]))
    names = edges.column(0)
    if _head_alone(edges):
        return Around(1, 0, "", _labels(first), _about("column", first))
    if len(first) == width > 1 and all(name and not is_number(name) for name in (first[0], *names)):
        return Around(0, 1, "", (first[0], *names), _about("row", [first[0], *names]))
    if len(first) == width and _counts([first[0], *names]) and _counts_beside(edges):
        return Around(0, 1, "", (), _about("row", [first[0], *names]))
    return Around()


def is_number(word: str) -> bool:
    """Whether a word may be a cell of a mask: a number, True or False."""
    try:
        scalar(word)
    except ValueError as problem:
        return "NaN" in str(problem)
    return True


def _counts_beside(edges: Edges) -> bool:
    """Whether the table is square without its first column, with 0 and 1 alone, so that 0, 1, 2, … is an index."""
    return edges.rows > 1 and edges.width == edges.rows + 2 and edges.largest(1) <= 1


def _head_alone(edges: Edges) -> bool:
    """Whether the first row names columns, and nothing names rows."""
    if len(edges.first) != edges.width:
        return False
    if not any(map(is_number, edges.first)):
        return True
    # 0, 1, 2, … may be a row of numbers, too: not where the table would be square with it
    makes_square, was_square = edges.rows == edges.width, edges.rows + 1 == edges.width
    if not _counts(edges.first):
        return False
    # Of distances in as many columns the largest would be smaller; ids of tokens are larger.
    return makes_square or (edges.width > 2 and not was_square and not 1 < edges.largest(0) <= edges.width)


def _are_names(words: Sequence[str]) -> bool:
    return _counts(words) or not any(map(is_number, words))


def _may_name(words: Sequence[str]) -> bool:
    return _counts(words, least=1) or not all(map(is_number, words))


def _counts(words: Sequence[str], least: int = 2) -> bool:
    """Whether they are 0, 1, 2, … or 1, 2, 3, …"""
    return len(words) >= least and any(list(words) == [str(start + at) for at in range(len(words))] for start in (0, 1))


def _labels(words: Sequence[str]) -> tuple[str, ...]:
    return () if _counts(words) or all(map(is_number, words)) else tuple(words)


def _about(what: str, names: Sequence[str]) -> tuple[str, ...]:
    shown = ", ".join(f"“{told(name[:20])}”" for name in names[:2]) + (", …" if len(names) > 1 else "")
    return (f"Its {what} names ({shown}) are left out.",)
