"""The way of a token through a model, as rows of boxes, with marks where positional schemes enter."""

from typing import Any

import numpy as np

from tfm_ui.lenses.positions.model.entry import Diagram
from tfm_ui.pictures.canvas import Canvas, Content

ENTRY = Canvas("lenses/positions/entry", '<div class="entry" data-picture><canvas role="img"></canvas></div>')


def content(diagram: Diagram) -> Content:
    """What entry.js draws."""
    rows: list[dict[str, Any]] = [
        {"title": title, "steps": [{**vars(step), "marks": list(step.marks.items())} for step in steps]}
        for title, steps in diagram.rows.items()
    ]
    return {"rows": rows, "layers": diagram.layers, "about": diagram.about}, np.zeros(0, np.float32)
