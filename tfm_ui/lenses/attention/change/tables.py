"""The numbers behind the pictures of the view "change", as tables."""

import numpy as np
import pandas as pd

from tfm_ui.lenses.attention.change.numbers import ChangeView


def weights_table(seen: ChangeView) -> pd.DataFrame:
    """A row for each pair that differs, the largest difference first."""
    difference = seen.compared.difference
    rows, columns = np.nonzero((difference != 0) & seen.compared.there.all(0))
    order = np.argsort(-np.abs(difference[rows, columns]), kind="stable")
    rows, columns = rows[order], columns[order]
    named = [
        [f"{number[i] + 1} {names[i]}" for i in at.tolist()]
        for number, names, at in (
            (seen.compared.queries, seen.queries, rows),
            (seen.compared.keys, seen.keys, columns),
        )
    ]
    a, b = seen.compared.weights[:, rows, columns]
    return pd.DataFrame(
        {"A": a, "B": b, "B − A": b - a}, index=pd.MultiIndex.from_arrays(named, names=["query", "key"])
    )


def stream_table(seen: ChangeView) -> pd.DataFrame:
    """A row per token, a column per place: ||x_B - x_A|| / ||x_A||."""
    rows = [f"{i + 1} {name}" for i, name in zip(seen.compared.queries, seen.queries, strict=True)]
    return pd.DataFrame(seen.compared.relative, index=pd.Index(rows, name="token"), columns=seen.compared.places)


def output_table(seen: ChangeView) -> pd.DataFrame:
    """The probabilities that moved most; the largest, if none moved."""
    names, (a, b) = seen.likely
    return pd.DataFrame({"A": a, "B": b, "B − A": b - a}, index=pd.Index(names, name="token"))
