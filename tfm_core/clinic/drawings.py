"""Masks that were drawn with signs, as printers of masks make them: ■ where a query sees a key, ⬚ where it does not."""

import re
import sys
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_core.clinic.names import is_number
from tfm_core.clinic.table import Values

SEES = "■█▓●◼▪⬛✓✔✅☑🟩🟦◾▮⬤🔵🟢"
HIDES = "⬚□░○◻▫▢⬜✗✘❌✖·🟥⛔◽▯∙☐⚪🔴"
# Signs that are letters and punctuation elsewhere: a text is a drawing if it has some of both.
SEES_PLAIN, HIDES_PLAIN = "xX#*@1oO+", ".-_"
PLAIN = "✓✔✅☑✗✘❌✖🟩🟢🟥🔴⛔"  # which say themselves what is seen
NARROW = "█▓░"  # which are drawn twice for a cell as wide as high
BAR = re.compile("[|│┃║]")
DIGITS = "0123456789"
GAP = re.compile(r" {3,}|\t+")
LEFT = "Of the two drawings that stand side by side, the left one is read."
MOST_LINES = 2**15


@dataclass(frozen=True)
class Drawing:
    """What was drawn.

    Attributes:
        values: (row, column), 1 for a filled sign.
        is_plain: whether its signs themselves say what is seen, as ✓ and ✗ do.
        notes: what was left out, in sentences.
        labels: the names before the rows, if all rows have names.
    """

    values: Values
    is_plain: bool
    notes: tuple[str, ...]
    labels: tuple[str, ...] = ()


def drawn(text: str) -> Drawing | None:
    """The mask in a drawing; None if the text is no drawing.

    Raises:
        ValueError: if its rows differ in length.
    """
    is_fancy = not text.isascii() and any(sign in text for sign in SEES + HIDES)
    if not is_fancy and not any(sign in text for sign in HIDES_PLAIN):
        return None
    if text.count("\n") > MOST_LINES:
        return None
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    named_rows = _fancy_rows(lines) if is_fancy else _plain_rows(lines)
    if not named_rows:
        return None
    names, rows = [name for name, _ in named_rows], [row for _, row in named_rows]
    rows, beside = _left_alone(rows)
    packed = [row.replace(" ", "").replace("\t", "") for row in rows]
    usual = Counter(map(len, packed)).most_common(1)[0][0]
    # A name such as “.” looks like a sign: what is too long is cut from the left.
    packed = [
        row[len(row) - usual :] if len(row) > usual and row[0] in HIDES_PLAIN + SEES_PLAIN else row for row in packed
    ]
    if odd := [at for at, row in enumerate(packed) if len(row) != usual]:
        raise ValueError(
            f"Row {odd[0] + 1} of the drawing has {len(packed[odd[0]])} signs, most rows have {usual}: "
            "a mask has equal rows."
        )
    whole = "".join(packed)
    codes = np.frombuffer(whole.encode("utf-32-le", "replace"), np.uint32).reshape(len(packed), usual)
    notes: tuple[str, ...] = (LEFT,) if beside else ()
    if (
        usual == 2 * len(packed)
        and packed == rows
        and set(whole) <= {*NARROW}
        and (codes[:, ::2] == codes[:, 1::2]).all()
    ):
        codes = codes[:, ::2]
        notes += ("Each cell is drawn with two signs.",)
    values = _among(_seen(whole))[codes].astype(np.float64)
    return Drawing(values, bool(_among(PLAIN)[codes].all()), notes, tuple(names) if all(names) else ())


def _seen(signs: str) -> str:
    """The signs that stand where a query sees a key: of two that both say so, the one that says it plainly."""
    left = signs.lstrip(signs[0])
    two = signs[0] + left[:1]
    plain = [sign in PLAIN for sign in two]
    if len(two) == 2 and sum(plain) == 1 and not left.strip(two):
        clear, other = (two[0], two[1]) if plain[0] else (two[1], two[0])
        return clear if clear in SEES else other
    return SEES + SEES_PLAIN


def _among(signs: str) -> NDArray[np.bool_]:
    """Which code points are these signs, by code point."""
    table = np.zeros(sys.maxunicode + 1, bool)
    table[[ord(sign) for sign in signs]] = True
    return table


def _fancy_rows(lines: list[str]) -> list[tuple[str, str]]:
    """The names and the signs of all rows: lines that end in something else are no rows."""
    is_mixed = not any(sign in line for line in lines for sign in HIDES) or not any(
        sign in line for line in lines for sign in SEES
    )
    signs = SEES + HIDES + (SEES_PLAIN + HIDES_PLAIN if is_mixed else "")
    rows: list[tuple[str, str]] = []
    if not any(_trailing(line, signs)[1] for line in lines):  # names, or comments, after the rows
        lines = [line[: len(line) - len(line.lstrip(signs + " \t"))] for line in lines]
    for line in lines:
        named = [_trailing(part, signs) for part in BAR.split(line)]
        name, parts = named[0][0], [row for _, row in named if row]
        if len(parts) > 1 and all(len(part.strip()) == 1 for part in parts):
            rows.append((name, "".join(parts)))  # each cell in a frame of its own
        elif parts:
            rows.append((name, parts[0] + "|" * (len(parts) > 1)))
    return rows


def _plain_rows(lines: list[str]) -> list[tuple[str, str]]:
    """The names, and the letters and punctuation, of all rows, if no line but the first is something else."""
    signs = SEES_PLAIN + HIDES_PLAIN
    named = [_trailing(line, signs) for line in lines]
    if len(named) > 1 and not named[0][1]:
        named = named[1:]
    rows = [row for _, row in named]
    packed = [row.replace(" ", "").replace("\t", "") for row in rows]
    joined = "".join(packed)
    is_even = len({*map(len, packed)}) == 1 and bool(packed[0])
    has_both = any(sign in joined for sign in SEES_PLAIN) and any(sign in joined for sign in HIDES_PLAIN)
    is_whole = all(not line.strip(signs + " \t") for line in lines)
    if not has_both or not (is_whole or (is_even and len(rows) > 1 and len(packed[0]) > 1)):
        return []
    if all(map(is_number, set(" ".join(rows).split()))):
        return []
    return named


def _trailing(line: str, signs: str) -> tuple[str, str]:
    """The name that a line begins with, and the signs that it ends in; a sign that ends a name is none of them."""
    line = line.rstrip()
    name = line.rstrip(signs + " \t")
    row = line[len(name) :]
    if name and row[:1] not in " \t" and name[-1] != ":":
        end, _, row = row.partition(" ")
        name += end
    name = name.rstrip(" \t:")
    before = name.rstrip(DIGITS)  # the row's number, after its name
    if before[-1:] in ("", " ", "\t", ":"):
        name = before
    return name.strip(" \t:'\""), row.strip()


def _left_alone(rows: list[str]) -> tuple[list[str], bool]:
    """The left of two drawings, which a bar or wide gaps separate; and whether there were two."""
    if any(row.endswith("|") for row in rows):
        return [row.rstrip("|") for row in rows], True
    parts = [GAP.split(row) if "   " in row or "\t" in row else [row] for row in rows]
    sizes = {tuple(len(part.replace(" ", "")) for part in row) for row in parts}
    if len(sizes) == 1 and len(size := sizes.pop()) > 1 and len(set(size)) == 1 and size[0] > 1:
        return [row[0] for row in parts], True
    return rows, False
