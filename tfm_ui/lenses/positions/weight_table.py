"""One head's weights under several schemes beside each other, as a table."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tfm_ui.lenses.positions.readings import HeadReading


def weight_table(heads: Mapping[str, HeadReading], names: Sequence[str]) -> pd.DataFrame:
    """A row per pair of tokens that may look, a column per map of weights; of half a million pairs, too.

    Args:
        heads: name -> its weights. All have one mask.
        names: of the tokens; what lies beyond them is padding.
    """
    visible = next(iter(heads.values())).visible
    queries, keys = np.nonzero(visible[: len(names), : len(names)])
    dtype = pd.CategoricalDtype(list(names))
    tokens = {what: pd.Categorical.from_codes(at, dtype=dtype) for what, at in (("query", queries), ("key", keys))}
    return pd.DataFrame({**tokens, **{f"weight, {name}": head.weights[queries, keys] for name, head in heads.items()}})
