"""One or more maps of the same rows and columns, beside each other and read together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_ui.live.windows import Part
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.map_scale import Scale

MAPS = Canvas(
    "pictures/maps",
    f"""
<div class="maps" data-picture>
  <label class="edit" hidden><span></span><input type="range" min="0" max="1" step="0.01"><output></output></label>
  <div class="brush" hidden><button aria-pressed="false">Paint</button> <span></span></div>
  {CELLS}
</div>
""",
)
MASKED, ABSENT = np.float32(np.nan), np.float32(np.inf)  # stand where no value may be, and where there is no such cell


@dataclass(frozen=True, kw_only=True)
class Map:
    """One of the maps.

    Attributes:
        name: stands above it.
        values: float32 (row, column); MASKED or ABSENT where there is none.
        scale: which values its colours stand for.
        unit: what the values are, beside the scale.
        whole: whether the values are whole numbers.
        ticks: whether it says where something may be, 1, and where not, MASKED: then it has ticks and no scale, and if
            it is the first, what it hides is masked in the others, too.
        words: what stands for 0 and for 1, where these are the only values.
    """

    name: str
    values: NDArray[np.float32]
    scale: Scale
    unit: str = ""
    whole: bool = False
    ticks: bool = False
    words: tuple[str, str] | None = None

    @property
    def header(self) -> dict[str, Any]:
        """What maps.js gets of it beside its values."""
        low, high = self.words or self.scale.texts(whole=self.whole)
        told = {"name": self.name, "unit": self.unit, "whole": self.whole, "ticks": self.ticks, "words": self.words}
        return told | vars(self.scale) | {"lowText": low, "highText": high}


@dataclass(frozen=True)
class Axis:
    """Rows or columns.

    Attributes:
        names: of each of them.
        title: of the axis.
        noun: of one of them, when it is read: "query".
        role: a colour of the visual language.
        counted: whether the names are numbers one after the other, of which round ones suffice.
    """

    names: Sequence[str]
    title: str
    noun: str
    role: str = "ink"
    counted: bool = False

    def header(self, other_names: Sequence[str] | None) -> dict[str, Any]:
        """What maps.js gets of it; other_names: the numbers of the part's rows or columns, if there is one."""
        return {**vars(self), "counted": self.counted or list(self.names) == other_names}


@dataclass(frozen=True)
class Slider:
    """A weight that can be dragged: what it is called, its value, and the parameter that it is written into.

    Attributes:
        label: in words.
        value: 0 to 1.
        parameter: of the link.
        before: what the parameter holds before the number.
        after: what behind it.
    """

    label: str
    value: float
    parameter: str
    before: str
    after: str


@dataclass(frozen=True)
class Why:
    """Why cells of a first map of ticks are hidden.

    Attributes:
        codes: float32 (row, column): 4 x (the sum of 2**i of all names that hide it) + how it is painted (mask_paint).
        names: of what hides.
    """

    codes: NDArray[np.float32]
    names: Sequence[str]


@dataclass(frozen=True)
class Painting:
    """Cells of a first map of ticks can be painted; needs a `Why`.

    Attributes:
        parameter: of the link, that holds what is painted.
        text: what it holds; strokes are written behind it.
    """

    parameter: str
    text: str


def content(
    maps: Sequence[Map],
    *,
    rows: Axis,
    columns: Axis,
    about: str,
    picked: tuple[int, int] | None = None,
    asks: tuple[str, str] | None = None,
    places: tuple[Sequence[Any], Sequence[Any]] | None = None,
    whole_row: bool = False,
    crosses: Sequence[tuple[int, int, int]] = (),
    slider: Slider | None = None,
    read: int | None = None,
    square: bool = True,
    part: Part | None = None,
    zooms: str = "",
    absent: str = "no such token",
    crossed: str = "leak: the mask forbids it",
    blank: str = "masked",
    marks: Sequence[tuple[int, int]] = (),
    why: Why | None = None,
    painting: Painting | None = None,
    counted_from: int = 0,
) -> Content:
    """What maps.js draws.

    Args:
        maps: from left to right.
        rows: what they share.
        columns: likewise.
        about: the picture in words.
        picked: the cell that is locked, from 0.
        asks: the two parameters that a click on a cell sets.
        places: what the click sets them to, for each row and column; their numbers, by default, from 1, or from 0 in
            a larger table.
        whole_row: whether the ring is around the locked cell's row.
        crosses: (map, row, column) of cells that leak.
        slider: a weight to be dragged.
        read: how many of the rows are tokens, if padding follows them.
        square: whether cells are.
        part: what the maps are of a larger table, which the server pools (tfm_ui/live/windows.py): rows and columns are
            named as it says.
        zooms: the parameter that holds this part; with it, a zoom asks the server.
        absent: what an ABSENT one is called.
        crossed: what a cross stands for.
        blank: what a cell without a value is called.
        marks: columns, each with a colour of heads, from 0, that stands for it in another picture.
        why: what hides the cells of the first map.
        painting: how its cells are painted by hand; None if they cannot be.
        counted_from: the number of the first row and column of a larger table, where they are told by numbers.
    """
    header: dict[str, Any] = {
        "rows": rows.header(part.row_names() if part else None),
        "columns": columns.header(part.column_names() if part else None),
        "maps": [drawn.header for drawn in maps],
        "picked": picked,
        "asks": asks,
        "places": places or _places(part, len(rows.names), len(columns.names), counted_from),
        "wholeRow": whole_row,
        "crosses": crosses,
        "slider": vars(slider) if slider else None,
        "absent": absent,
        "crossed": crossed,
        "read": len(rows.names) if read is None else read,
        "square": square,
        "part": {**vars(part), "block": part.block, "parameter": zooms, "first": counted_from} if part else None,
        "blank": blank,
        "marks": [{"column": column, "colour": colour} for column, colour in marks],
        "why": list(why.names) if why else None,
        "painting": vars(painting) if painting and why else None,
        "about": about,
    }
    return header, np.stack([*(drawn.values for drawn in maps), *([why.codes] if why else [])]).astype(np.float32)


def _places(part: Part | None, rows: int, columns: int, first: int) -> tuple[list[int], list[int]]:
    if not part:
        return list(range(1, rows + 1)), list(range(1, columns + 1))
    down, over = part.block
    return (
        list(range(first + part.top, first + part.top + part.rows, down)),
        list(range(first + part.left, first + part.left + part.columns, over)),
    )
