"""The cells of maps on paper: what is printed in each, how large they are, and which maps stand beside each other.

Whoever works on paper has no pointer to read a number with. So a map of up to 12 rows and columns gets cells that have
room for their numbers: if need be, the letters are smaller, or maps stand below each other.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from tfm_ui.pictures.figures import PAPER
from tfm_ui.pictures.heatmaps import PRINTED, in_cell
from tfm_ui.pictures.paper_axes import LETTERS, width_of
from tfm_ui.pictures.still import array, leave_out_names, turn_names

SIZES = LETTERS, 7.25, 6.5  # points: letters within cells, the largest that have room
FAINT = 0.04  # of the scale: nearer to 0 nothing is hatched
TICK = "✓"
SHORT_FROM = 8  # columns: in a map of more, "<0.01" is "<.01", which is as narrow as other numbers
LINE = 1.39  # pixels of a point, at 100 pixels to an inch
ASIDE, NAME, TITLE, SPACE = 14, 17, 15, 14  # pixels: between maps, of a name above one, of an axis's title, below
WIDEST, TALLEST, ALL = 64, 27, 150  # pixels: a cell at most, and all rows of a map if that is enough for letters
NUMBERED = 6  # columns: of so many, long names that the rows have, too, are their numbers alone
LARGE = 6, 260, 4, 120  # pixels: a column of a map without numbers, all of them at most; a row, all of them


@dataclass(eq=False)
class Map:
    """A map that was drawn.

    Attributes:
        axes: where.
        cells: its numbers, NaN for a gap.
        shades: number -> the colour of a cell.
        ends: the numbers at both ends of its scale.
        texts: what is printed in each cell, if there is room; nothing if numbers are not printed.
        names: of its rows and of its columns.
        titles: of these two sides.
    """

    axes: Axes
    cells: NDArray[Any]
    shades: LinearSegmentedColormap
    ends: tuple[float, float]
    texts: Sequence[Sequence[str]] = ()
    names: tuple[Sequence[str], Sequence[str]] = ((), ())
    titles: tuple[str, str] = ("", "")

    def shades_of(self, cells: Any) -> NDArray[Any]:
        """The colours of numbers."""
        low, high = self.ends
        return np.asarray(self.shades((np.asarray(cells) - low) / ((high - low) or 1)))

    @property
    def is_signed(self) -> bool:
        """Whether some of its numbers are below 0, and are shown so."""
        return bool(self.ends[0] < 0 and (self.cells < FAINT * self.ends[0]).any())


def texts_of(trace: Mapping[str, Any], scale: Mapping[str, Any], cells: NDArray[Any]) -> list[list[str]]:
    """What is printed in each cell of a heatmap; nothing in a map that is too large, or of two words.

    Args:
        trace: Plotly's.
        scale: the trace itself, or the layout's axis of colours that several share.
        cells: its numbers, NaN for a gap.
    """
    bar = scale.get("colorbar", {})
    if max(cells.shape) > PRINTED or (list(bar.get("tickvals", ())) == [0, 1] and bar["ticktext"][0] != "0"):
        return []
    if all(colour == PAPER for _, colour in scale["colorscale"]):  # a mask: a cell has a value, or none
        return [[TICK if np.isfinite(value) else "" for value in row] for row in cells]
    raw = trace.get("customdata") if "texttemplate" not in trace else None
    if raw is not None and array(raw).shape == cells.shape:  # colours go by the logarithm of these
        return [[f"{value:.2g}" if np.isfinite(value) else "" for value in row] for row in array(raw).astype(float)]
    known = cells[np.isfinite(cells)]
    if "texttemplate" not in trace and (known == known.round()).all():
        return [[f"{value:.0f}".replace("-", "−") if np.isfinite(value) else "" for value in row] for row in cells]
    low, high = (scale.get(end, scale.get(other)) for end, other in (("cmin", "zmin"), ("cmax", "zmax")))
    share = (low or 0) >= 0 or high == 1
    texts = [[in_cell(float(value), share, unsigned=False) for value in row] for row in cells]
    if cells.shape[1] <= SHORT_FROM:
        return texts
    return [[text.replace("0.", ".") if text[:1] in "<>" else text for text in row] for row in texts]


def widest(whole: Figure, texts: Iterable[str]) -> float:
    """The width in pixels of the widest of these texts, in letters of usual size. All digits are equally wide."""
    shapes = {re.sub(r"\d", "0", text) for text in texts}
    return max((width_of(whole, shape, size=LETTERS) for shape in shapes if shape), default=0.0)


@dataclass(frozen=True)
class Place:
    """Where a map stands, in pixels from the upper left corner of the room that its picture has."""

    map: Map
    left: float
    top: float
    wide: float
    tall: float
    rows_named: bool
    columns: Sequence[str]
    columns_named: bool
    rotated: bool


@dataclass(frozen=True)
class Arrangement:
    """Maps whose cells have room for their numbers.

    Attributes:
        places: of the maps.
        height: of all of it, in pixels.
        letters: the size of letters within cells, in points.
    """

    places: Sequence[Place]
    height: float
    letters: float

    def apply(self, area: Bbox, size: NDArray[Any]) -> None:
        """Place the maps at the top of an area, in pixels of a figure of this size."""
        for place in self.places:
            axes, each = place.map.axes, place.map
            bottom = area.y1 - place.top - place.tall
            box = Bbox.from_bounds(area.x0 + place.left, bottom, place.wide, place.tall)
            axes.set_aspect("auto")
            axes.set_position(Bbox(box.get_points() / size))
            for axis, names, title, shown in (
                (axes.yaxis, each.names[0], each.titles[0], place.rows_named),
                (axes.xaxis, place.columns, each.titles[1], place.columns_named),
            ):
                axis.set_ticks(range(len(names)) if shown else [], names if shown else [], parse_math=False)
                axis.label.set_text(title if shown else "")
            axes.tick_params("x", labelrotation=90 if place.rotated else 0)
            if max(each.cells.shape) > PRINTED:
                turn_names(axes)
                leave_out_names(axes)
            for axis, room in ((axes.yaxis, place.tall), (axes.xaxis, place.wide + ASIDE)):
                box = axis.label.get_window_extent()
                if axis.label.get_text() and (box.height if axis is axes.yaxis else box.width) > room:
                    axis.label.set_text(axis.label.get_text().partition(" (")[0])


def arranged(whole: Figure, maps: Sequence[Map], above: Sequence[str], room: float, most: float) -> Arrangement | None:
    """The arrangement of maps with their numbers; None where there is no room for them, or nothing to print.

    The fewer rows of maps the better; then, the larger the cells.

    Args:
        whole: the figure, to measure texts in.
        maps: in the order of reading.
        above: the name of each.
        room: the width in pixels.
        most: the height at most.
    """
    printed = [text for each in maps for row in each.texts for text in row]
    if not any(printed):
        return None
    measured = _Measured(whole, maps, above)
    longest = widest(whole, printed)
    fitting = [
        made
        for letters, wide in _widths(longest, max(measured.columns))
        if (made := _packed(measured, letters, wide, room, most))
    ]
    return min(fitting, key=lambda made: (len({place.top for place in made.places}), -made.letters), default=None)


def _widths(longest: float, name: float) -> Iterator[tuple[float, float]]:
    """Sizes of letters and the width of a cell that has room for them, from the best one on."""
    usual = max(longest + 12, 40)
    for names in (name + 8, name + 4):  # then names of columns need not stand on end
        if usual < names <= WIDEST:
            yield LETTERS, names
    yield LETTERS, usual
    for letters in SIZES:
        yield letters, longest * letters / LETTERS + 3.5


class _Measured:
    """The widths of what stands around maps, in pixels."""

    def __init__(self, whole: Figure, maps: Sequence[Map], above: Sequence[str]) -> None:
        self._whole = whole
        self.maps = maps
        self.rows = [self.longest(each.names[0]) for each in maps]
        self.columns = [self.longest(each.names[1]) for each in maps]
        self.numbers = [_numbers(each) for each in maps]
        self.above = [self.width(name, LETTERS) if name else 0.0 for name in above]

    def longest(self, names: Sequence[str]) -> float:
        """The width of the longest name."""
        return max((self.width(name, LETTERS) for name in names), default=0.0)

    def width(self, text: str, size: float) -> float:
        """The width of a text."""
        return width_of(self._whole, text, size=size)


def _packed(measured: _Measured, letters: float, wide: float, room: float, most: float) -> Arrangement | None:
    """The maps in rows, with cells so wide; None if one is wider than the room, or all are too tall."""
    lines: list[list[tuple[int, float, bool]]] = []  # number of a map, where it begins, whether its rows are named
    end = room + 1.0
    for number, each in enumerate(measured.maps):
        before = measured.maps[number - 1] if number else None
        is_same = before is not None and (each.names[0], each.titles[0]) == (before.names[0], before.titles[0])
        across = max(_across(each, wide), measured.above[number])
        titled = TITLE if each.titles[0] else 0
        beside = 4.0 if is_same else measured.rows[number] + titled + 8
        if end + beside + across > room:
            beside, end, is_same = measured.rows[number] + titled + 8, 0.0, False
            if beside + across > room:
                return None
            lines.append([])
        lines[-1].append((number, end + beside, not is_same))
        end += beside + across + ASIDE
    least = letters * LINE + 3.5
    rows = max(each.cells.shape[0] for each in measured.maps if each.texts)
    for tall in (max(least, min(TALLEST, 0.55 * wide, ALL / rows)), least):
        made = _stacked(measured, lines, letters, wide, tall)
        if made.height <= most:
            return made
    return None


def _stacked(
    measured: _Measured, lines: Sequence[Sequence[tuple[int, float, bool]]], letters: float, wide: float, tall: float
) -> Arrangement:
    """Rows of maps below each other."""
    places = []
    top = 0.0
    for line, after in zip(lines, [*lines[1:], []], strict=True):
        top += NAME if any(measured.above[number] for number, _, _ in line) else 2
        below = 0.0
        for number, left, named in line:
            each = measured.maps[number]
            down, across = _down(each, tall), _across(each, wide)
            is_large = max(each.cells.shape) > PRINTED
            columns, names = each.cells.shape[1], each.names[1]
            rotated = measured.columns[number] > across / columns - 3
            if rotated and columns >= NUMBERED and measured.numbers[number]:
                names, rotated = measured.numbers[number], False
            below_it = measured.maps[after[0][0]] if len(line) == len(after) == 1 else None
            is_told_below = below_it is not None and (below_it.names, below_it.titles) == (each.names, each.titles)
            places.append(
                Place(each, left, top, across, down, named, names, not is_told_below, rotated and not is_large)
            )
            under = (measured.columns[number] if rotated else LETTERS * LINE + 3) + 6
            under += TITLE if each.titles[1] else 0
            below = max(below, down + (0 if is_told_below else under))
        top += below + (SPACE if line is not lines[-1] else 0)
    return Arrangement(places, top, letters)


def _numbers(each: Map) -> list[str]:
    """The numbers of columns that are called as the rows are: the names stand there already. Else nothing."""
    numbers = [name.partition(" ")[0].rstrip(":") for name in each.names[1]]
    is_same = [*each.names[0]] == [*each.names[1]]
    return numbers if is_same and numbers == [str(at) for at in range(1, len(numbers) + 1)] else []


def _across(each: Map, wide: float) -> float:
    columns = int(each.cells.shape[1])
    return wide * columns if each.texts else min(LARGE[0] * columns, LARGE[1]) if columns > PRINTED else wide * columns


def _down(each: Map, tall: float) -> float:
    rows = int(each.cells.shape[0])
    return tall * rows if rows <= PRINTED else min(LARGE[2] * rows, LARGE[3])
