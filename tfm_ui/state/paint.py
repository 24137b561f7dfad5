"""A hand-painted mask as a short text in the link. Pure.

A painted cell lets see or hides, whatever the masks below it say. The text is "4x10.T…": rows, columns, how the cells
are packed, and these in base64. Behind it a picture may write strokes, each cell as row.column from 1, which `Paint`
packs: "4x10.T…~s2.3_2.4~h1.1", where s lets see, h hides and u takes the paint off.
"""

import base64
import binascii
import re
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.uint8]  # (row, column)
BARE, SEE, HIDE = 0, 1, 2
BRUSHES = {"u": BARE, "s": SEE, "h": HIDE}
SIDE = 64  # rows and columns that can be painted
_AT = r"\d{1,2}\.\d{1,2}"
FORM = re.compile(rf"(?:([1-9]\d?)x([1-9]\d?)\.([TtBb])([A-Za-z0-9_-]+))?((?:~[shu]{_AT}(?:_{_AT})*)*)", re.ASCII)
EXPECTED = "it cannot be read; what was painted is left out"


def unpacked(text: str) -> Cells:
    """The cells of a text as `packed` writes it, (0, 0) of ""; with strokes after it SIDE x SIDE.

    Raises:
        ValueError: for any other text.
    """
    match = FORM.fullmatch(text)
    if not match:
        raise ValueError(f"expected a painted mask, got {text[:40]!r}")
    rows, columns, how, data, strokes = match.groups()
    cells = _cells(int(rows), int(columns), how, data) if rows else np.zeros((0, 0), np.uint8)
    if strokes:
        cells = resized(cells, SIDE, SIDE)
    for stroke in filter(None, strokes.split("~")):
        for at in stroke[1:].split("_"):
            row, column = (int(number) - 1 for number in at.split("."))
            if not (0 <= row < SIDE and 0 <= column < SIDE):
                raise ValueError(f"expected rows and columns from 1 to {SIDE}, got {at}")
            cells[row, column] = BRUSHES[stroke[0]]
    return cells


def _cells(rows: int, columns: int, how: str, data: str) -> Cells:
    try:
        raw = base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))
        if how.islower():
            raw = zlib.decompressobj(-15).decompress(raw, SIDE * SIDE)
    except (binascii.Error, zlib.error):
        raise ValueError(f"expected a painted mask, got {data[:40]!r}") from None
    taken = np.frombuffer(raw, np.uint8)
    cells = np.unpackbits(taken) + SEE if how in "Bb" else (taken[:, None] // 3 ** np.arange(5) % 3).ravel()
    needed = -(-rows * columns // (8 if how in "Bb" else 5))
    if len(taken) != needed or max(rows, columns) > SIDE:
        raise ValueError(f"expected {rows} x {columns} cells of at most {SIDE} x {SIDE}, got {len(cells)}")
    return cells[: rows * columns].reshape(rows, columns).astype(np.uint8)


def packed(cells: Cells) -> str:
    """The shortest text that stands for these cells; bare rows and columns at the end are left out."""
    rows, columns = np.flatnonzero(cells.any(1)), np.flatnonzero(cells.any(0))
    if not len(rows):
        return ""
    cells = cells[: rows[-1] + 1, : columns[-1] + 1]
    trits = np.append(cells.ravel(), np.zeros(-cells.size % 5, np.uint8)).reshape(-1, 5)
    ways = {"T": (trits * 3 ** np.arange(5)).sum(1).astype(np.uint8).tobytes()}
    if cells.all():  # each cell is painted: a bit is enough
        ways["B"] = np.packbits(cells.ravel() - SEE).tobytes()
    ways |= {how.lower(): zlib.compress(raw, 9, -15) for how, raw in ways.items()}
    how, raw = min(ways.items(), key=lambda way: len(way[1]))
    return f"{cells.shape[0]}x{cells.shape[1]}.{how}{base64.urlsafe_b64encode(raw).decode().rstrip('=')}"


def resized(cells: Cells, rows: int, columns: int) -> Cells:
    """A copy of these cells with this many rows and columns; what is new is bare."""
    larger_or_smaller = np.zeros((rows, columns), np.uint8)
    larger_or_smaller[: cells.shape[0], : cells.shape[1]] = cells[:rows, :columns]
    return larger_or_smaller


def painted(mask: NDArray[np.bool_], cells: Cells) -> NDArray[np.bool_]:
    """The mask, (query, key), below the paint."""
    cells = resized(cells, *mask.shape)
    return np.where(cells == BARE, mask, cells == SEE)


def whole(mask: NDArray[np.bool_]) -> str:
    """The text of a mask that is painted all over, (query, key), of at most SIDE rows and columns."""
    return packed(np.where(mask, SEE, HIDE).astype(np.uint8))


@dataclass(frozen=True)
class Paint:
    """A control that holds painted cells: the text that stands for them."""

    label: str

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The cells, packed as tightly as can be."""
        try:
            return packed(unpacked(raw)), ""
        except ValueError:
            return default, EXPECTED
