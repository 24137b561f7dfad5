"""Tables as CSV that a spreadsheet shows and does not execute. Pure.

A spreadsheet takes a cell that begins with = + - @ for a formula, which may ask the network or start a program, and
tokens can be any text. So a text cell that begins with one of MARKS, names of rows and columns included, has an
apostrophe put before it; numbers are left alone, -0.5 too. Read back, the first apostrophe of a cell that begins with
one is dropped: an apostrophe is one of MARKS, so that nothing else begins with one.
"""

from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

MARKS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "'")


def csv_of(table: pd.DataFrame) -> str:
    """The table with its row and column names, comma-separated."""
    safe = table.copy(deep=False)
    safe.columns = pd.RangeIndex(table.shape[1])  # of two columns with one name each is a column of its own
    for column in safe.columns:
        if not is_numeric_dtype(safe[column].dtype):
            safe[column] = safe[column].map(_as_text)
    safe.columns, safe.index = _names(table.columns), _names(table.index)
    return safe.to_csv(lineterminator="\r\n")  # of RFC 4180: then a \r within a cell is quoted and begins no row


def _as_text(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(MARKS) else cell


def _names(index: "pd.Index[Any]") -> "pd.Index[Any]":
    names = [_as_text(name) for name in index.names]
    if isinstance(index, pd.MultiIndex):
        return pd.MultiIndex.from_arrays(
            [_names(index.get_level_values(level)) for level in range(index.nlevels)], names=names
        )
    return (index if is_numeric_dtype(index.dtype) else index.map(_as_text)).set_names(names)
