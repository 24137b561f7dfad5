"""What is recorded of a table: its rows, and each of its columns in their order."""

import re
from typing import Any

import numpy as np
import pandas as pd

from tests.record.statistics import numbers, text, texts

NUMERIC_COLUMNS = 6  # of a table, that are told apart; if there are more, they are described together
# A number with all its digits, the last of which are another on another processor.
PRECISE = re.compile(r"-?\d+\.\d{8,}")


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Rows, and columns with their names; of a wide table the numbers together, after the names of all columns."""
    frame = frame.reset_index() if frame.index.name or not isinstance(frame.index, pd.RangeIndex) else frame
    for number, dtype in enumerate(frame.dtypes):  # numbers with blanks between them come as texts
        if dtype.kind not in "biuf" and any(PRECISE.fullmatch(str(value)) for value in frame.iloc[:, number]):
            frame.isetitem(number, pd.to_numeric(frame.iloc[:, number], errors="coerce"))
    numeric = [number for number, dtype in enumerate(frame.dtypes) if dtype.kind in "biuf"]
    is_wide = len(numeric) > NUMERIC_COLUMNS
    columns = [
        {"name": text(str(name)), **_column(frame.iloc[:, number], is_numeric=number in numeric)}
        for number, name in enumerate(frame.columns)
        if not (is_wide and number in numeric)
    ]
    described: dict[str, Any] = {"rows": len(frame), "columns": columns}
    if is_wide:
        described["names"] = texts(list(map(str, frame.columns)))
        described["all numbers"] = numbers(frame.iloc[:, numeric].to_numpy(np.float64))
    return described


def _column(column: pd.Series, *, is_numeric: bool) -> dict[str, Any]:
    if is_numeric:
        return {"numbers": numbers(column.to_numpy(np.float64))}
    return {"texts": texts([str(value) for value in column])}
