"""The picture of one head, large: exact weights, with the names of rows and columns."""

import numpy as np

from tfm_ui.lenses.heads.numbers import LargeHead
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.cells import CELLS
from tfm_ui.text import formats

MAP = Canvas("lenses/heads/head_map", f'<div class="map" data-picture>{CELLS}</div>')
MASKED = -1.0  # in place of the weight of a masked cell


def content(head: LargeHead, *, top: float, about: str) -> Content:
    """The content for head_map.js.

    Args:
        head: the exact weights, and the names of rows and columns.
        top: the weight at the dark end of the scale, which begins at 0.
        about: the picture in words.
    """
    header = {
        "queries": head.queries,
        "keys": head.keys,
        "read": head.read,
        "top": top,
        "topText": formats.end_of_scale(top, head.weights.max()),
        "formula": head.formula,
        "about": about,
    }
    return header, np.where(head.visible, head.weights, np.float32(MASKED))
