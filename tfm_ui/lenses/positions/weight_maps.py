"""Maps of one head's weights beside each other."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tfm_ui.lenses.positions.readings import HeadReading
from tfm_ui.live import tables, windows
from tfm_ui.live.tables import Part
from tfm_ui.pictures import maps
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MASKED, Axis, Map


def content(
    heads: Mapping[str, HeadReading], names: Sequence[str], part: Part, *, read: int, about: str, zooms: str = ""
) -> Content:
    """Maps of weights of one text on one scale, pooled to a part of them.

    Args:
        heads: title -> its weights.
        names: of the tokens, padding included.
        part: of the maps, that is looked at.
        read: how many of the tokens are no padding.
        about: the picture in words.
        zooms: the parameter of the part, as in `maps.content`.
    """
    down, top = part.block[0], max(float(head.weights.max()) for head in heads.values())
    return maps.content(
        [
            Map(name=title, values=_pooled(head, part), scale=from_zero(top), unit="weight")
            for title, head in heads.items()
        ],
        rows=Axis(part.row_names(names), "query (row): looks", "query", "query"),
        columns=Axis(part.column_names(names), "key (column): is looked at", "key", "key"),
        read=-(-min(part.rows, max(0, read - part.top)) // down),  # rounded up
        about=about,
        part=part,
        zooms=zooms,
    )


def _pooled(head: HeadReading, part: Part) -> NDArray[np.float32]:
    """Weights as the screen can show them, masked where no pair of a cell may look."""
    weights = np.where(head.visible, head.weights, MASKED)
    return windows.pooled(tables.matrix(torch.from_numpy(weights)), part)
