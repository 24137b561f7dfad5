"""A mask out of text, as people have them: printed tensors, nested lists, rows of a table, drawings. Pure.

Nothing is executed, and nothing large is made before its size is known. What cannot be read is a ValueError with a
sentence for the reader.
"""

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tfm_ui.lenses.masks.state import PASTED_SIDE as SIDE
from tfm_ui.text import formats

BYTES = 9 * 2**20  # of text or a file: 1,024 x 1,024 float64 fit
BETWEEN = " \n\t\r,;"  # what stands around cells
DEEP = 8  # brackets within each other
WORDS = {"true": 1.0, "t": 1.0, "false": 0.0, "f": 0.0}
SHORTENED = (
    "This was shortened when it was printed (“...”). Before printing, call torch.set_printoptions(threshold=10**7), or "
    "np.set_printoptions(threshold=10**7)."
)
CORNER = "query \\ key"  # how the first cell of our own files begins
# A drawing has ■ where a query sees a key, and ⬚ where it does not.
SEES, HIDES = "■█▓●◼▪⬛✓✔✅🟩", "⬚□░○◻▫▢⬜✗✘❌·🟥"
SEES_PLAIN, HIDES_PLAIN = "xX#*", ".-_"  # which only count where nothing else is there
COLOURS = re.compile(r"\x1b\[[\d;]*m|\ufe0f")
ROW = re.compile(rf"(?:^|[\s:])((?:[{SEES}{HIDES}]\s*)+)$")  # what stands before is the row's name

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Table:
    """What was read.

    Attributes:
        values: float64 (row, column), of several tables (head, row, column) or (layer, head, row, column); True is 1.
        kind: what stood there: "booleans", "whole numbers", "numbers", or "signs" that were drawn.
        notes: what was done with it on the way, in sentences.
        precision: the float type that it came in; of text, which rarely says it, the finer one.
        says: what the table itself says of its cells, as our own files do; "" if nothing.
    """

    values: NDArray[np.float64]
    kind: str
    notes: tuple[str, ...] = ()
    precision: str = "float64"
    says: str = ""

    @property
    def stack(self) -> tuple[int, ...]:
        """How many layers and heads there are, of several tables."""
        return self.values.shape[:-2]

    def at(self, layer: int, head: int) -> "Table":
        """One of several tables, counted from 1; the last, if there are fewer."""
        if not self.stack:
            return self
        layers, heads = [1, *self.stack][-2:]
        layer, head = min(layer, layers), min(head, heads)
        which = f"layer {layer} of {layers}, " * (len(self.stack) > 1) + f"head {head} of {heads}"
        values = self.values.reshape(layers, heads, *self.values.shape[-2:])[layer - 1, head - 1]
        return replace(self, values=values, notes=(*self.notes, f"Of several tables, this is {which}."))


def read_text(text: str) -> Table:
    """A table out of text.

    Raises:
        ValueError: with a sentence that says what is wrong, and where.
    """
    text = text.replace("\u2212", "-").replace("∞", "inf").strip()
    if "[" in text:
        text = text.rstrip(BETWEEN)  # a statement ends in a semicolon
    if not text:
        raise ValueError("There is nothing in it.")
    if len(text) > BYTES:
        raise ValueError(f"It has {len(text):,} characters; {BYTES:,} is the limit.")
    reader = _Reader()
    if signs := drawn(text):
        rows, notes = signs
        lengths = [reader.row(row) for row in rows]
        _even(lengths)
        return table(np.array(reader.values), [len(lengths), lengths[0]], "signs", notes)
    if "..." in text or "…" in text:
        raise ValueError(SHORTENED)
    is_file = "\n" in text and text[-1] not in "])" and any(sign in text.split("\n")[0] for sign in ",;\t")
    if "[" in text and not is_file:  # where names may hold brackets
        shape = _brackets(text, reader)
        return table(np.array(reader.values), shape, reader.kind)
    named = without_names(_rows(text), lambda word: word.lower() in WORDS or _number(word) is not None)
    lengths = [reader.row(row) for row in named.rows]
    _even(lengths)
    shape = [len(lengths), lengths[0]] if len(lengths) > 1 else lengths
    says = named.corner.removeprefix(CORNER).strip(" :") if named.corner.startswith(CORNER) else ""
    return table(np.array(reader.values), shape, reader.kind, named.notes, says=says)


def _number(word: str) -> float | None:
    """What the word says, if it is a number; None if not."""
    try:
        return None if len(word) > 40 or "_" in word else float(word)
    except ValueError:
        return None


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
        value = _number(word)
        if value is None:
            shown = word if len(word) <= 20 else word[:19] + "…"
            raise ValueError(f"{where} is “{shown}”: a number, True or False was expected.")
        if math.isnan(value):
            raise ValueError(f"{where} is NaN, which stands for neither visible nor hidden.")
        return value

    @property
    def kind(self) -> str:
        words = set(self.known)
        if all(word.lower() in WORDS for word in words):
            return "booleans"
        return "whole numbers" if all(re.fullmatch(r"[+-]?\d+", word) for word in words) else "numbers"


def _rows(text: str) -> list[list[str]]:
    """The words of each line; semicolons of a single line separate rows, if its cells are separated by something else.

    Where cells are quoted, names may hold what separates them.
    """
    lines = text.splitlines()
    if len(lines) == 1 and ";" in text and re.search(r"[\s,](?!$)", text.replace("; ", ";")):
        lines = text.strip(";").split(";")
    lines = [line.rstrip(" \t,;") for line in lines if line.strip(" \t,;")]
    if not lines:
        raise ValueError("There is nothing in it.")
    separator = next((sign for sign in "\t;," if all(sign in line for line in lines)), "")
    if separator and '"' in text:
        quoted = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return [[word.strip() for word in row] for row in quoted if any(word.strip() for word in row)]
    if len(lines) > SIDE + 1:  # one may hold names
        raise ValueError(f"It has {len(lines):,} rows; {SIDE:,} is the limit.")
    for row, line in enumerate(lines, 1):
        if separator != "\t" and "," in line and ";" in line:
            raise ValueError(f"Row {row} has both , and ; in it: if the comma is a decimal one, write a point.")
    if all(re.fullmatch(r"[01]{2,}", line.strip()) for line in lines):  # 1100, without anything between
        return [list(line.strip()) for line in lines]
    # Only the first line may begin with an empty cell: the one above the names of the rows.
    lines = [lines[0].strip(" "), *(line.strip(" \t,;") for line in lines[1:])]
    between = rf" *{separator}\s*" if separator else r"\s*[,;]\s*|\s+"
    return [[word.strip(" \"'") for word in re.split(between, line, maxsplit=SIDE + 1)] for line in lines]


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
        elif rows := [row for row in piece.split(";", SIDE + 1) if row.strip(BETWEEN)]:
            if not open_lists:
                raise ValueError("There is more than one array in it: paste one.")
            if open_lists[-1]:
                raise ValueError(f"Beside row {reader.rows} stands “{piece.strip(' ,')[:20]}” outside of any row.")
            lengths = [reader.row(re.split(r"[\s,;]+", row.strip(BETWEEN), maxsplit=SIDE)) for row in rows]
            # [1 0; 0 1], as Matlab and Julia write it, is a list of two rows.
            open_lists[-1] += [[length] for length in lengths] if len(rows) > 1 else [[*lengths, -1]]
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


def table(
    values: NDArray[np.float64],
    shape: Sequence[int],
    kind: str,
    notes: Sequence[str] = (),
    *,
    precision: str = "float64",
    says: str = "",
) -> Table:
    """The values in two to four axes: others of length 1 are left out, one axis becomes a row.

    Raises:
        ValueError: where there is nothing, or more than layers of heads.
    """
    shape, notes = list(shape), list(notes)
    if 0 in shape or not values.size:
        raise ValueError("There is nothing in it: its shape has a 0.")
    whole = " × ".join(map(str, shape))
    stack = [size for size in shape[:-2] if size > 1]
    shape = [*stack, *shape[-2:]]
    if len(stack) > 2:
        raise ValueError(f"It holds {math.prod(stack):,} tables ({whole}): paste those of one sentence.")
    if whole.count("×") >= len(shape):
        notes.append(f"Of {whole}, axes of length 1 are left out.")
    if len(shape) == 1:
        shape = [1, *shape]
        notes.append("One row: a mask of keys for all queries.")
    if max(shape) > SIDE:
        raise ValueError(f"It is {' × '.join(f'{size:,}' for size in shape)}; {SIDE:,} × {SIDE:,} is the limit.")
    return Table(values.reshape(shape), kind, tuple(notes), precision, says)


# drawings, as printers of masks make them


def drawn(text: str) -> tuple[list[list[str]], tuple[str, ...]] | None:
    """Rows of "1" and "0", and what was left out in sentences; None if the text is no drawing."""
    lines = [line.rstrip() for line in COLOURS.sub("", text).splitlines() if line.strip()]
    signs = "".join(lines).replace(" ", "")
    if set(signs) <= {*SEES_PLAIN, *HIDES_PLAIN} and set(signs) & {*SEES_PLAIN} and set(signs) & {*HIDES_PLAIN}:
        return [_signs(line) for line in lines], ()
    matches = [ROW.search(line.split("|")[0].rstrip()) for line in lines]
    rows = [_signs(row[1]) for row in matches if row]
    if not rows:
        return None
    beside = ("Of the two drawings that stand side by side, the left one is read.",)
    return rows, beside if any("|" in line for line, row in zip(lines, matches, strict=True) if row) else ()


def _signs(line: str) -> list[str]:
    return ["1" if sign in SEES + SEES_PLAIN else "0" for sign in line if not sign.isspace()]


# names around a table: a first row of column names, a first column of row names, as pandas writes and prints


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
