"""Pictures for paper: SVG, white, letters of 8 points and more, and nothing that colour alone tells.

Matplotlib draws them from the same Plotly figures as downloads and previews (tfm_ui/pictures/still.py). Whoever prints
in grey still sees which cells are negative (hatched, or printed with their sign), which are masked (another hatch),
which line is which (dashes, markers), which bar is which (hatches), and what is chosen: a black outline in place of the
amber ring. Rows below the picture say what these signs mean (tfm_ui/pictures/paper_keys.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from typing import Any

import matplotlib
import numpy as np
import plotly.graph_objects as go
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from tfm_ui.pictures import paper_keys
from tfm_ui.pictures.heatmaps import PRINTED
from tfm_ui.pictures.paper_axes import LETTERS
from tfm_ui.pictures.paper_drawing import PaperDrawing
from tfm_ui.pictures.paper_grid import PaperGrid
from tfm_ui.pictures.still import array

MM = 100 / 25.4  # pixels: 100 to an inch
WIDE, SMALL = 170, 100  # mm: a picture as wide as the page between its margins, and one beside an answer
TALLEST = {WIDE: 116, SMALL: 80}  # mm
WITH_NUMBERS = {WIDE: 150, SMALL: 125}  # mm: the height at most of maps whose cells print their numbers
SHARES = 0.62, 0.72  # of the width, for a map beside all heads whose numbers would have no room otherwise
LEAST = 38  # mm: the height of a picture at least
SCALE = 0.41  # of the height of a figure: two steps of most lessons stand on one page
USUAL = 428  # pixels: the height of a figure that says none
GAP, HEAD = 18, 22  # pixels: between two pictures, and for their titles
TITLE = 9.5  # points
SETTINGS: Any = {
    "svg.hashsalt": "attention-lab",
    "svg.fonttype": "path",
    "hatch.linewidth": 0.55,
    "font.size": LETTERS,
}
ABOUT: dict[str, Any] = {"Date": None, "Creator": None}


@dataclass(frozen=True, eq=False)
class OnPaper:
    """A picture to be drawn on paper.

    Attributes:
        title: stands above it.
        figure: the picture.
        header: what the browser draws it from: it tells what is chosen.
        share: how much of the width it takes, beside another.
    """

    title: str
    figure: go.Figure
    header: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0

    @property
    def is_grid(self) -> bool:
        """Whether it shows all heads, a row of them per layer."""
        return "heads" in self.header and "largest" in self.header

    @property
    def is_small(self) -> bool:
        """Whether it is a map whose cells print their numbers if they have room."""
        parts = self.figure.to_plotly_json()["data"]
        return not self.is_grid and all(
            part["type"] == "heatmap" and max(array(part["z"]).shape) <= PRINTED for part in parts
        )

    def drawing(self, whole: Figure) -> "PaperDrawing | PaperGrid":
        """Its drawing in a figure of Matplotlib's."""
        return (PaperGrid if self.is_grid else PaperDrawing)(whole, self.figure.to_plotly_json(), self.header)


def svg(pictures: Sequence[OnPaper], width: int = WIDE) -> bytes:
    """The pictures side by side, as an SVG; equal pictures are equal bytes.

    Args:
        pictures: one, or two.
        width: in mm, WIDE or SMALL.
    """
    with matplotlib.rc_context(SETTINGS):
        whole = _whole(pictures, width)
        data = BytesIO()
        whole.savefig(data, format="svg", metadata=ABOUT)
    return data.getvalue()


def _whole(pictures: Sequence[OnPaper], width: int) -> Figure:
    across = width * MM
    shares = np.array([each.share for each in pictures]) / sum(each.share for each in pictures)
    rooms: list[float] = list(shares * (across - GAP * (len(pictures) - 1)))
    whole = Figure((across / 100, 1), dpi=100, facecolor="white")
    drawings = [each.drawing(whole) for each in pictures]
    rooms, heights = _arranged(pictures, drawings, rooms, WITH_NUMBERS[width] * MM)
    tall = max(
        height or (0.0 if each.is_grid and any(heights) else _height(each, width))
        for each, height in zip(pictures, heights, strict=True)
    )
    keys = paper_keys.rows_of(
        whole, list(dict.fromkeys(chain.from_iterable(drawing.keys() for drawing in drawings))), across
    )
    below = paper_keys.ROW * len(keys) + (6 if keys else 0)
    for last in (False, True):  # what is of squares may need less height than it was given
        whole.set_size_inches(across / 100, (tall + HEAD + below) / 100)
        left = 0.0
        for drawing, room in zip(drawings, rooms, strict=True):
            drawing.size = whole.get_size_inches() * 100
            drawing.fit(Bbox([[left + 2, below + 4], [left + room - 4, below + tall]]))
            left += room + GAP
        needed = max(drawing.needed() for drawing in drawings)
        if last or needed > 0.93 * tall:
            break
        tall = max(needed * 1.02, 0.0 if any(heights) else LEAST * MM)
    left = 0.0
    for drawing, each, room in zip(drawings, pictures, rooms, strict=True):
        drawing.finish()
        title = paper_keys.shortened(whole, each.title, room, size=TITLE)
        place = left / across, 1 - 12 / drawing.size[1]
        whole.text(*place, title, size=TITLE, weight="bold", va="center", parse_math=False)
        left += room + GAP
    for number, row in enumerate(keys):
        paper_keys.draw(whole, row, paper_keys.ROW * (len(keys) - number) - paper_keys.ROW / 2)
    return whole


def _arranged(
    pictures: Sequence[OnPaper], drawings: Sequence["PaperDrawing | PaperGrid"], rooms: list[float], most: float
) -> tuple[list[float], list[float]]:
    """The width that each picture gets, and the height that it takes if its cells print numbers, else 0.

    A map beside all heads gets more of the width if its numbers have no room.
    """
    heights = [drawing.arrange(room - 6, most) for drawing, room in zip(drawings, rooms, strict=True)]
    if len(pictures) == 2 and pictures[0].is_grid and not heights[1]:
        both = sum(rooms)
        for share in SHARES:
            if height := drawings[1].arrange(share * both - 6, most):
                return [(1 - share) * both, share * both], [0.0, height]
    return rooms, heights


def _height(picture: OnPaper, width: int) -> float:
    """The height of a picture in pixels, without its title and the meaning of signs."""
    natural = picture.figure.layout.height or USUAL
    return float(min(max(SCALE * natural, LEAST * MM), TALLEST[width] * MM))
