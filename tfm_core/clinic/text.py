"""A mask out of text, as people have them: printed tensors, nested lists, rows of a table, drawings. Pure.

Nothing is executed, and nothing large is made before its size is known. What cannot be read is a ValueError with a
sentence for the reader.
"""

import csv
import io
import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.brackets import even, read_lists
from tfm_core.clinic.chosen import picked
from tfm_core.clinic.drawings import drawn
from tfm_core.clinic.mask_code import CHARACTERS, CodeMask, looks_like_code, read_code
from tfm_core.clinic.names import Edges, around, is_number
from tfm_core.clinic.printed import Hints, cleaned, hints, is_literal
from tfm_core.clinic.table import BYTES, CORNER, SIDE, Table, place, table
from tfm_core.clinic.words import WORDS, BadWord, Words, read_words, split

SHORTENED = (
    "Parts are missing: it was shortened when it was printed (“...”). Before, call torch.set_printoptions or "
    "np.set_printoptions with threshold=10**7; of a DataFrame, print df.to_string()."
)
DRAWN_SO = "True = may attend"  # what ✓ and ✗ say, and ■ and ⬚ do not
AROUND = 200  # signs before and after an array
MOST_NAMES = 4 * SIDE
MOST_LINES = 2**17  # and words of a line; of so many, the first 1,024 are read
CELL_ENDS = "\x1f"  # between cells that were quoted


def read_text(text: str) -> Table:
    """A table out of text.

    Raises:
        ValueError: with a sentence that says what is wrong, and where.
    """
    if len(text) > BYTES:
        raise ValueError(f"It has {len(text):,} characters; {BYTES:,} is the limit.")
    if "\0" in text:
        raise ValueError("It is no text: it holds zero bytes.")
    text, known = cleaned(text)
    if not text.strip(" \n\t,;"):
        raise ValueError("There is nothing in it.")
    if drawing := drawn(text):
        says = DRAWN_SO if drawing.is_plain else ""
        return table(drawing.values, "signs", drawing.notes, says=says, labels=drawing.labels)
    chosen = picked(text)
    if not chosen and _is_code(text):
        return _made(read_code(text))
    if "..." in text or "…" in text:
        raise ValueError(SHORTENED)
    if chosen:
        made = _array(chosen.text, known)
        return replace(made, labels=chosen.labels, notes=(*chosen.notes, *made.notes))
    is_file = "\n" in text and text[-1] not in "])>" and any(sign in text.split("\n")[0] for sign in ",;\t")
    if "[" in text and not _are_names(text) and (not is_file or is_literal(*_around(text))):
        return _array(text, known)
    if re.match(r"(?:\w+\s*=\s*)?[({]", text) and text.rstrip(" ;")[-1:] in ")}":  # tuples, and lists of C
        return _array(text.translate({ord("("): "[", ord("{"): "[", ord(")"): "]", ord("}"): "]"}), known)
    return _rows(text, known)


def _is_code(text: str) -> bool:
    """Whether it is code that computes a mask, and neither numbers with names around them nor a printed array."""
    if "[" in text and (is_literal(*_around(text)) or _are_names(text)):
        return False
    if text.startswith("<table"):
        raise ValueError("This is a table of HTML: copy its cells, or write it with to_csv.")
    words = re.split(r"[\s,;]+", text[:CHARACTERS])
    if 2 * sum(map(is_number, words)) > len(words) and not re.search(
        r"\w\(\s*[\[(]|\]\s*\)?\s*\.\w", text[:CHARACTERS]
    ):
        return False
    return looks_like_code(text)


def _made(mask: CodeMask) -> Table:
    """The mask that code makes, as a table."""
    kind = {"b": "booleans", "i": "whole numbers", "u": "whole numbers"}.get(mask.values.dtype.kind, "numbers")
    precision = mask.dtype if mask.dtype in ("float16", "bfloat16", "float32") else "float64"
    values, notes = np.asarray(mask.values, np.float64), mask.notes
    if values.ndim == 4 and values.shape[-1] == 1 < values.shape[-2]:  # which torch spreads over the keys
        values = np.broadcast_to(values, (*values.shape[:-1], values.shape[-2]))
        notes = (*notes, "Its last axis has length 1, so each row holds for all keys.")
    return replace(table(values, kind, notes, precision=precision), findings=mask.findings)


def _are_names(text: str) -> bool:
    """Whether all brackets belong to names of tokens, such as [CLS]."""
    if "\n" not in text or text.count("[") > MOST_NAMES:
        return False
    names = [name for name in re.findall(r"\[([A-Za-z_]\w{0,20})\]", text) if name.lower() not in WORDS]
    return len(names) == text.count("[")


def _around(text: str) -> tuple[str, str]:
    """What stands before the first bracket and after the last."""
    return text[: text.index("[")], text[text.rfind("]") + 1 :]


def _array(text: str, known: Hints) -> Table:
    begin, end = text.index("["), text.rfind("]") + 1
    if not end:
        raise ValueError("There are more brackets of one kind than of the other: was it cut?")
    if end <= begin:
        raise ValueError("A bracket is closed that was never opened.")
    if max(begin, len(text) - end) > AROUND:
        raise ValueError("There is more in it than one array: paste the array alone.")
    values, kind = read_lists(text[begin:end])
    return _as_said(values, kind, known.over(hints(*_around(text), values_are=kind)))


def _as_said(values: NDArray[np.float64], kind: str, said: Hints) -> Table:
    """The table, of the kind and the precision that the text itself names."""
    if said.kind == "booleans":
        values = (values != 0).astype(np.float64)
    kind = "numbers" if said.kind == "numbers" or not np.array_equal(values, np.round(values)) else said.kind or kind
    return table(values, kind, precision=said.precision or "float64")


# rows of cells


def _rows(text: str, known: Hints) -> Table:
    """A table out of lines: with commas, semicolons, tabs or spaces, perhaps with names around it."""
    words, counts = _cells(text)
    if not len(words):
        raise ValueError("There is nothing in it.")
    if counts.max() > MOST_LINES:
        raise ValueError(f"Row {int(counts.argmax()) + 1} has {counts.max():,} columns: {MOST_LINES:,} is the limit.")
    ends = np.cumsum(counts)
    starts = ends - counts
    width = int(np.bincount(counts[1:]).argmax()) if len(counts) > 1 else int(counts[0])
    rest = slice(int(ends[0]), None)

    def column(at: int) -> list[str]:
        return words[starts[1:][counts[1:] > at] + at].words()

    def largest(at: int) -> float:
        try:
            return float(read_words(words[rest])[0].reshape(-1, width)[:, at:].max()) if even_below else np.inf
        except BadWord:
            return np.inf

    even_below = bool((counts[1:] == width).all())
    names = around(Edges(words[: int(counts[0])].words(), column, len(counts) - 1, width, largest))
    lengths = counts[names.top :] - names.left
    even(lengths.tolist())
    if not lengths[0]:
        raise ValueError("There is nothing in it but names.")
    kept = (starts[names.top :, None] + names.left + np.arange(lengths[0])).ravel()
    try:
        values, kind = read_words(words[kept])
    except BadWord as bad:
        row, at = divmod(bad.index, int(lengths[0]))
        raise ValueError(f"{place((row, at))} {bad.problem}") from None
    shape = (len(lengths), int(lengths[0])) if len(lengths) > 1 else (int(lengths[0]),)
    read = _as_said(values.reshape(shape), kind, known)
    says = names.corner.removeprefix(CORNER).strip(" :") if names.corner.startswith(CORNER) else ""
    return Table(read.values, read.kind, (*names.notes, *read.notes), read.precision, says, names.labels, read.axes)


def _cells(text: str) -> tuple[Words, NDArray[np.int64]]:
    """The words of all lines, and how many each line has."""
    lines = _lines(text)
    separator = next((sign for sign in "\t;," if all(sign in line for line in lines)), "")
    if separator and '"' in text:
        try:
            quoted = list(csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=separator))
        except csv.Error:
            raise ValueError('It cannot be read as CSV: is a quote (") closed?') from None
        lines = [CELL_ENDS.join(map(str.strip, row)).replace("\n", " ") for row in quoted]
        separator = CELL_ENDS
    if separator != "\t":
        _refuse_decimal_commas(lines)
    joined = "\n".join(lines)
    if all(re.fullmatch(r"[01]{2,}|[TF]{2,}", line) for line in lines):  # 1100, without anything between
        joined, separator = "\n".join(" ".join(line) for line in lines), ""
    whole = joined.encode("utf-8", "replace")
    if separator:
        return _strictly(whole, separator.encode())
    words = split(whole, b" \t,;\n\"'")
    signs = np.frombuffer(whole, np.uint8)
    ends = np.append(np.flatnonzero(signs == ord("\n")), len(whole))
    return words, np.diff(np.searchsorted(words.starts, ends), prepend=0)


def _strictly(whole: bytes, separator: bytes) -> tuple[Words, NDArray[np.int64]]:
    """Cells between separators, which may hold spaces, and may be empty."""
    for spaced in (b" " + separator, separator + b" "):
        while spaced in whole:
            whole = whole.replace(spaced, separator)
    signs = np.frombuffer(whole, np.uint8)
    ends = np.append(np.flatnonzero((signs == separator[0]) | (signs == ord("\n"))), len(whole))
    starts = np.append(0, ends[:-1] + 1)
    lines = np.append(np.flatnonzero(signs == ord("\n")), len(whole))
    counts = np.diff(np.searchsorted(ends, lines, side="right"), prepend=0)
    return Words(whole, starts, ends - starts), counts


def _lines(text: str) -> list[str]:
    """The lines that are rows.

    Semicolons of a single line separate rows, if its cells are separated by something else.
    """
    while "\n\n" in text:
        text = text.replace("\n\n", "\n")
    if text.count("\n") > MOST_LINES:
        raise ValueError(f"It has more than {MOST_LINES:,} lines; rows and columns of a mask were expected.")
    lines = text.splitlines()
    if len(lines) == 1 and ";" in text and re.search(r"[\s,](?!$)", text.replace("; ", ";")):
        lines = text.strip(";").split(";")
    lines = [line.rstrip(" \t,;") for line in lines if line.strip(",; \t\v\f\r\x1c\x1d\x1e\x85\u2028\u2029")]
    if not lines:
        raise ValueError("There is nothing in it.")
    if len(lines) > 1:
        lines = [line for line in lines if not re.match(r"[#%]\s*[^\W\d]", line)] or lines  # comments
    # Only the first line may begin with an empty cell: the one above the names of the rows.
    return [lines[0].strip(" "), *(line.strip(" \t,;") for line in lines[1:])]


def _refuse_decimal_commas(lines: list[str]) -> None:
    """Refuse lines in which a comma stands within cells that semicolons separate."""
    for row, line in enumerate(lines):
        if "," in line and ";" in line:
            cells = line.split(";")
            at = next((at for at, cell in enumerate(cells) if "," in cell), 0)
            raise ValueError(
                f"{place((row, at))} is “{cells[at].strip()[:20]}”, with , and ; in the row: if the comma is a decimal "
                "one, write a point."
            )
