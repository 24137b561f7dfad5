"""Pictures of one or more maps with the same rows and columns, side by side and read together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tfm_ui.live.tables import Part
from tfm_ui.pictures.canvas import Canvas, Content
from tfm_ui.pictures.cells import CELLS
from tfm_ui.pictures.map_scale import SHARES, Scale
from tfm_ui.pictures.maps_figure import maps_figure

MAPS = Canvas(
    "pictures/maps",
    f"""
<div class="maps" data-picture>
  <label class="edit" hidden><span></span><input type="range" min="0" max="1" step="0.01"><output></output></label>
  <div class="brush" hidden><button aria-pressed="false">Paint</button> <span></span></div>
  {CELLS}
</div>
""",
    maps_figure,
)
MASKED, ABSENT = np.float32(np.nan), np.float32(np.inf)  # a masked cell, and a cell that does not exist


@dataclass(frozen=True, kw_only=True)
class Map:
    """A map.

    Attributes:
        name: the text above the map.
        values: float32 (row, column); MASKED or ABSENT where there is no value.
        scale: which values the colours stand for.
        unit: what the values are; it stands beside the scale.
        whole: whether the values are whole numbers.
        ticks: whether the map shows a mask: 1 for visible, MASKED for hidden. Such a map has ticks in place of a scale;
            if it is the first map, the cells that it hides are masked in the other maps as well.
        words: the words for 0 and for 1, if these are the only values.
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
        """The map's part of the header for maps.js."""
        low, high = self.words or self.scale.texts(whole=self.whole)
        header = {"name": self.name, "unit": self.unit, "whole": self.whole, "ticks": self.ticks, "words": self.words}
        return header | vars(self.scale) | {"lowText": low, "highText": high}


@dataclass(frozen=True)
class Axis:
    """The rows or the columns of a map.

    Attributes:
        names: a name for each row or column.
        title: the title of the axis.
        noun: what a single row or column is called, such as "query".
        role: the colour role of the axis, such as "query".
        counted: whether the names are consecutive numbers; then only round numbers are printed.
    """

    names: Sequence[str]
    title: str
    noun: str
    role: str = "ink"
    counted: bool = False

    def header(self, other_names: Sequence[str] | None) -> dict[str, Any]:
        """The axis's part of the header for maps.js.

        Args:
            other_names: the numbers of the rows or columns, if the map is part of a larger table.
        """
        return {**vars(self), "counted": self.counted or list(self.names) == other_names}


@dataclass(frozen=True)
class Slider:
    """A weight that the reader can drag. The new value is written into a parameter of the link.

    Attributes:
        label: the weight in words.
        value: the weight, 0 to 1.
        parameter: the link's parameter.
        before: the parameter's text before the number.
        after: the parameter's text after the number.
    """

    label: str
    value: float
    parameter: str
    before: str
    after: str


@dataclass(frozen=True)
class Why:
    """The reasons why cells of the first map, which shows a mask, are hidden.

    Attributes:
        codes: float32 (row, column): 4 x (the sum of 2**i for each name i that hides the cell) + how the cell is
            painted (mask_paint).
        names: the names of the masks that hide cells.
    """

    codes: NDArray[np.float32]
    names: Sequence[str]


@dataclass(frozen=True)
class Painting:
    """Lets the reader paint cells of the first map, which shows a mask. It needs a `Why`.

    Attributes:
        parameter: the link's parameter that holds the painted cells.
        text: the parameter's current text; new strokes are appended to it.
    """

    parameter: str
    text: str


def nothing(about: str) -> Content:
    """The content where there is no map to draw.

    Args:
        about: why, in a sentence.
    """
    absent = Map(name="nothing", values=np.full((1, 1), ABSENT, np.float32), scale=SHARES)
    return content([absent], rows=Axis([""], "", "row"), columns=Axis([""], "", "column"), about=about)


def content(
    maps: Sequence[Map],
    *,
    rows: Axis,
    columns: Axis,
    about: str = "",
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
    """The content for maps.js.

    Args:
        maps: from left to right.
        rows: the rows, the same for all maps.
        columns: the columns, the same for all maps.
        about: the picture in words.
        picked: row and column of the locked cell, from 0.
        asks: the two parameters that a click on a cell sets.
        places: the values that the click sets, for each row and for each column; by default their numbers, from 1, or
            from `counted_from` in a larger table.
        whole_row: whether the ring is drawn around the whole row of the locked cell.
        crosses: (map, row, column) of cells that get a cross.
        slider: a weight that the reader can drag.
        read: how many of the rows are tokens, if padding follows them.
        square: whether the cells are square.
        part: which part of a larger table the maps show; the server pools it (tfm_ui/live/windows.py), and the names of
            rows and columns come from it.
        zooms: the parameter that holds this part; if it is given, zooming asks the server for another part.
        absent: the text for an ABSENT cell.
        crossed: the text for a cross.
        blank: the text for a cell without a value.
        marks: (column, number of a head colour, from 0), for columns that have this colour in another picture.
        why: the reasons why cells of the first map are hidden.
        painting: if given, the reader can paint cells of the first map.
        counted_from: the number of the first row and column of a larger table, if they have numbers for names.
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
