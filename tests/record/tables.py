"""What is recorded of a table: the names of its columns, its rows, and each column."""

from typing import Any

import numpy as np
import pandas as pd

from tests.record.statistics import describe, text

NUMERIC_COLUMNS = 12  # of a table, that are told apart
PRECISE = r"-?\d+\.\d{8,}"  # a number with all its digits, the last of which are another on another processor


def table_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Names, rows, and each column; of a wide table the numbers together."""
    frame = frame.reset_index() if frame.index.name or not isinstance(frame.index, pd.RangeIndex) else frame
    for number, dtype in enumerate(frame.dtypes):  # numbers with blanks between them come as texts
        if dtype.kind not in "biuf" and frame.iloc[:, number].astype(str).str.fullmatch(PRECISE).any():
            frame.isetitem(number, pd.to_numeric(frame.iloc[:, number], errors="coerce"))
    numeric = [number for number, dtype in enumerate(frame.dtypes) if dtype.kind in "biuf"]
    columns: dict[str, Any] = {}
    if len(numeric) > NUMERIC_COLUMNS:
        columns["all numbers"] = describe(frame.iloc[:, numeric].to_numpy(np.float64))
    for number, name in enumerate(frame.columns):
        if number not in numeric:
            columns[f"{name}"] = describe([str(value) for value in frame.iloc[:, number]])
        elif len(numeric) <= NUMERIC_COLUMNS:
            columns[f"{name}"] = describe(frame.iloc[:, number].to_numpy(np.float64))
    return {"names": text(" | ".join(map(str, frame.columns))), "rows": len(frame), "columns": columns}
