"""Masks as people have them, read: a file or a text becomes tables, and the meanings that they may have."""

from dataclasses import replace

import numpy as np

from tfm_core.clinic.facts import Mask
from tfm_core.clinic.files import read_file
from tfm_core.clinic.meaning import guess, mask_of, odd_values, warning
from tfm_core.clinic.reading import Meaning, Reading
from tfm_core.clinic.table import Table, Values
from tfm_core.clinic.text import read_text


def read(data: bytes | str, *, name: str = "") -> Reading:
    """What a file or a text holds, and what it may mean as a mask.

    Args:
        data: a file's bytes, or text: printed arrays, lists, tables, drawings, or code that makes a mask.
        name: the file's name, whose ending counts only where the bytes do not tell what they are.

    Raises:
        ValueError: with a sentence that says what cannot be read, and where.
    """
    return reading_of(read_table(data, name=name))


def read_table(data: bytes | str, *, name: str = "") -> Table:
    """The numbers of a file or a text, before they mean something.

    Args:
        data: a file's bytes, or text.
        name: the file's name.

    Raises:
        ValueError: with a sentence that says what cannot be read, and where.
    """
    return read_text(data) if isinstance(data, str) else read_file(data, name)


def reading_of(table: Table) -> Reading:
    """What a table may mean as a mask."""
    reasons = {meaning: _sentence(reason) for meaning, reason in guess(table).items()}
    alternatives = tuple(reasons)
    reading = Reading(
        meaning=alternatives[0],
        alternatives=alternatives,
        tables=list(table.tables),
        visible=[],
        labels=table.labels,
        reasons=reasons,
        names=table.names,
        notes=table.notes,
        kind=table.kind,
        precision=table.precision,
        findings=table.findings,
    )
    return _meaning(reading, alternatives[0])


def reading_as(reading: Reading, meaning: Meaning) -> Reading:
    """The same tables under another meaning, which the reader has chosen."""
    gone = _remarks(reading, reading.meaning)
    return _meaning(replace(reading, notes=tuple(note for note in reading.notes if note not in gone)), meaning)


def _meaning(reading: Reading, meaning: Meaning) -> Reading:
    warned = warning(np.stack(reading.tables), reading.kind, meaning)
    why = reading.reasons.get(meaning, "It is read so as you chose.")
    return replace(
        reading,
        meaning=meaning,
        visible=_visible(reading.tables, meaning, reading.precision),
        why=f"{warned} {why}".strip(),
        notes=(*reading.notes, *_remarks(reading, meaning)),
    )


def _visible(tables: list[Values], meaning: Meaning, precision: str) -> list[Mask]:
    if meaning in ("weights", "token ids"):
        return []
    return [mask_of(values, meaning, precision) for values in tables]


def _remarks(reading: Reading, meaning: Meaning) -> tuple[str, ...]:
    """Notes that hold under a meaning alone."""
    odd = odd_values(np.stack(reading.tables), reading.precision, meaning)
    return (odd,) if odd else ()


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."
