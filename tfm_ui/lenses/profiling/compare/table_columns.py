"""How the table of the view "compare" is drawn."""

from typing import Any

import pandas as pd
import streamlit as st

from tfm_core.profiling import files
from tfm_ui.lenses.profiling.comparison import Comparison

HELP = {
    "parameters": "By formula.",
    "MFLOP": "Of a forward pass, by formula: two for each multiplication with its addition.",
    "GFLOP/s": "MFLOP over the median.",
    "estimated MiB": "By formula, of a forward pass, beyond weights and input.",
    "allocated MiB": "Measured: the allocator’s peak in a forward pass.",
    "system MiB": "Measured: what the operating system saw.",
    "contended blocks": "Timings during which other programs used the processor.",
    "measured under load": "The time is of all rounds, as too few of them ran undisturbed.",
}
KIND = ("architecture", "causal", "norm", "activation", "positions", "vocabulary", "embedding and output")  # said above
NAMES = {"blocks": "timings", "contended blocks": "disturbed timings"}  # in the command's files they stay
BARS = ("parameters", "MFLOP", "forward ms", "forward + backward ms", "GFLOP/s")


def columns(table: pd.DataFrame, comparison: Comparison) -> dict[str, Any]:
    """How the table is drawn: bars where rows are to be compared at a glance, and nothing that is empty throughout."""
    report, rows = comparison.report, comparison.plan.rows
    hidden = {*KIND, "batch", *(files.provenance(report) if report else {})}
    hidden |= set() if any(row.size.d_ff for row in rows) else {"d_ff"}
    hidden |= set() if report else {"blocks", "contended blocks", "problem"}
    return {str(name): None if name in hidden else _column(str(name), table[name]) for name in table}


def _column(name: str, values: pd.Series) -> Any:
    if values.isna().all() or (values == "").all():
        return None
    if name in BARS and (top := float(values.max())) > 0:
        form = "localized" if name == "parameters" else "%.4g"
        return st.column_config.ProgressColumn(
            name, help=HELP.get(name), min_value=0, max_value=top, format=form, width=108
        )
    if name.startswith("share"):
        return st.column_config.NumberColumn(name, format="percent")
    if values.dtype.kind in "if":
        digits = "%.4g" if values.dtype.kind == "f" else "localized"
        return st.column_config.NumberColumn(NAMES.get(name, name), format=digits, help=HELP.get(name))
    return name
