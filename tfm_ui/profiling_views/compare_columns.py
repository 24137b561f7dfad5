"""How the table of the view "compare" is drawn."""

from typing import Any

import streamlit as st

from tfm_ui.profiling_lens.compare import Compared
from tfm_ui.profiling_lens.compare_table import table

BARS = ("parameters", "MFLOP", "forward, median, ms", "forward + backward, median, ms", "GFLOP/s")


def columns(seen: Compared) -> dict[str, Any]:
    """How the table is drawn: bars where rows are to be compared at a glance, and nothing that is empty throughout."""
    found = table(seen)
    names = [str(name) for name in found]
    config: dict[str, Any] = {name: None for name in names if name != "why not" and found[name].isna().all()}
    config |= {"why not": None} if not any(found["why not"]) else {}
    for name in BARS:
        if name not in config and (top := float(found[name].max())) > 0:
            form = "localized" if name == "parameters" else "%.4g"
            config[name] = st.column_config.ProgressColumn(name, min_value=0, max_value=top, format=form, width=108)
    for name in names:
        if found[name].dtype.kind == "f":
            config.setdefault(name, st.column_config.NumberColumn(name, format="%.4g"))
    return config
