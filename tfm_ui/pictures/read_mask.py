"""A mask as it was read: on the left as it came, on the right what it means, True = may attend."""

import numpy as np

from tfm_core.clinic.reading import Reading
from tfm_ui.live.tables import Part, matrix
from tfm_ui.live.windows import pooled
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import SHARES, holding
from tfm_ui.pictures.maps import Axis, Map
from tfm_ui.text.token_labels import numbered_where_alike

MEANS = {
    "attend": "True or 1 = may attend",
    "ignore": "True or 1 = hidden",
    "added": "added to the scores: 0 = may attend, −∞ = hidden",
    "weights": "attention weights, not a mask",
    "token ids": "token ids, not a mask",
}


def names(reading: Reading, at: int) -> tuple[list[str], list[str]]:
    """Names of a table's rows and columns: the tokens, where there are as many, else numbers from 1."""
    labels = numbered_where_alike(reading.labels)
    rows, columns = (
        labels if len(labels) == size else [str(i + 1) for i in range(size)] for size in reading.tables[at].shape
    )
    return rows, columns


def sentence(reading: Reading, at: int) -> str:
    """What it was read as, and which table of several is shown; `at` counts from 0."""
    said = [f"Read as: {MEANS[reading.meaning]}."]
    if reading.names:
        said.append(f"Of {len(reading.tables)} tables, this is {reading.names[at]}.")
    return " ".join([*said, *reading.notes])


def content(reading: Reading, at: int, part: Part, *, zooms: str) -> Content:
    """One table of the reading, and the mask that it means, if it is one.

    Args:
        reading: what was read.
        at: the number of the table, from 0.
        part: the part of it that is shown.
        zooms: the parameter that holds this part.
    """
    values, mask = reading.tables[at], reading.visible[at] if reading.visible else None
    cells = np.clip(values, -3e38, 3e38)
    if mask is not None and reading.meaning == "added":
        cells = np.where(mask, cells, np.nan)
    cells = np.where(np.isneginf(values), np.nan, cells).astype(np.float32)
    finite = cells[np.isfinite(cells)]
    scale = holding(float(finite.min(initial=0)), float(finite.max(initial=0)))
    plain = bool(np.isin(cells, (0, 1)).all())
    said = ("False", "True") if reading.kind == "booleans" else ("0", "1")
    drawn = [Map(name="as it came", values=pooled(matrix(cells), part), scale=scale, words=said if plain else None)]
    if mask is not None:
        seen_as = pooled(matrix(mask), part)
        drawn.append(Map(name="as a mask", values=seen_as, scale=SHARES, unit="= may attend", words=("0", "1")))
    rows, columns = names(reading, at)
    return maps.content(
        drawn,
        rows=Axis(part.row_names(rows), "query (row)", "row", "query"),
        columns=Axis(part.column_names(columns), "key (column)", "column", "key"),
        blank="−∞ or as good",
        part=part,
        zooms=zooms,
        counted_from=1,  # as findings count, which name rows
    )
