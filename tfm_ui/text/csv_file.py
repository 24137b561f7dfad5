"""Tables as CSV files that are safe to open in a spreadsheet. Pure.

A spreadsheet executes a cell that begins with = + - @ as a formula, which may use the network or start a program, and
tokens can be any text. So an apostrophe is put before each text cell that begins with one of MARKS, names of rows and
columns included. Numbers stay as they are, also -0.5. To read the file back, drop the first character of each cell that
begins with an apostrophe: that is safe because the apostrophe itself is one of MARKS.
"""

from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

MARKS = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n", "'")


def csv_of(table: pd.DataFrame) -> str:
    """The table with its row and column names, comma-separated."""
    safe = table.copy(deep=False)
    safe.columns = pd.RangeIndex(table.shape[1])  # unique names: two columns of the table may have the same name
    for column in safe.columns:
        if not is_numeric_dtype(safe[column].dtype):
            safe[column] = safe[column].map(_as_text)
    columns = table.columns
    if isinstance(columns, pd.MultiIndex):  # one row of names for all
        columns = pd.Index([", ".join(map(str, name)) for name in columns])
    safe.columns, safe.index = _names(columns), _names(table.index)
    counts = table.index.name is None and table.index.equals(pd.RangeIndex(len(table)))  # rows without names
    return safe.to_csv(index=not counts, lineterminator="\r\n")  # as in RFC 4180: a \r within a cell is then quoted


def _as_text(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(MARKS) else cell


def _names(index: "pd.Index[Any]") -> "pd.Index[Any]":
    names = [_as_text(name) for name in index.names]
    if isinstance(index, pd.MultiIndex):
        return pd.MultiIndex.from_arrays(
            [_names(index.get_level_values(level)) for level in range(index.nlevels)], names=names
        )
    return (index if is_numeric_dtype(index.dtype) else index.map(_as_text)).set_names(names)
