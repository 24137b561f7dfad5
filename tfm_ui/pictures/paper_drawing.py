"""A Plotly figure on Matplotlib's axes, for paper: hatches, dashes, markers and outlines in place of colours alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from tfm_ui.pictures.heatmaps import MASKED
from tfm_ui.pictures.paper_axes import LETTERS, make_room, thin_ticks, wrap_title
from tfm_ui.pictures.paper_cells import FAINT, SIZES, Arrangement, Map, arranged, texts_of, widest
from tfm_ui.pictures.paper_keys import (
    MASK_FACE,
    MASK_HATCH,
    MASK_LINES,
    NEGATIVE,
    Key,
    luminance,
)
from tfm_ui.pictures.still import Drawing, array, plain_text
from tfm_ui.text import colours

MOST_NAMED = 12  # lines, points and bars whose signs are told
ROW_APART = 14  # pixels: what names between rows of maps need more when rows come closer
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo", "++")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (8, 2, 2, 2)), (0, (1, 1)), (0, (4, 1, 1, 1, 1, 1)))
MARKERS, SYMBOLS = "osD^vPX*", ("circle", "square", "triangle-up", "diamond", "cross", "star")
RING: dict[str, Any] = {"fill": False, "zorder": 5, "clip_on": False}


class PaperDrawing(Drawing):
    """A Plotly figure on Matplotlib's axes, for paper.

    Args:
        whole: the figure of Matplotlib's.
        figure: Plotly's, as JSON.
        header: what the browser draws it from: it tells what is chosen.
    """

    TITLES, NAMES, LEGEND, NOTES = 8.0, 8.0, 8.0, 8.0
    NARROWS = False

    def __init__(self, whole: Figure, figure: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        self.maps: list[Map] = []
        self._bar_colours: list[Any] = []
        self._bar_ends: dict[Axes, list[Any]] = {}  # axes -> its bars, where they lie
        self._line_names: list[str] = []
        self._lines: set[tuple[Axes, str]] = set()
        self._names: dict[Axes, Any] = {}  # axes -> the name above them
        self._scales: dict[Axes, str] = {}  # axes -> the ends of the scale that they alone have
        self._arranged: Arrangement | None = None
        self._header = header
        super().__init__(whole, figure)
        for axes, ends in self._scales.items():
            if axes not in self._names:
                axes.set_xlabel("\n".join(filter(None, [axes.get_xlabel(), f"colours: {ends}"])), parse_math=False)

    def keys(self) -> Iterator[Key]:
        """What the signs of this picture mean."""
        axis = self.layout.get("coloraxis")
        if axis and self.maps:
            bar = axis.get("colorbar", {})
            unit = bar.get("title", {}).get("text", "")
            ends = " … ".join(map(str, bar.get("ticktext", ())))
            stops = tuple(tuple(stop) for stop in axis["colorscale"])
            yield Key("scale", plain_text(ends + (f" ({unit})" if unit else "")), stops)
        if any(each.is_signed and not (self._arranged and each.texts) for each in self.maps):
            yield Key("negative", "hatched: below 0")
        if self.layout.get("plot_bgcolor") == MASKED and any(np.isnan(each.cells).any() for each in self.maps):
            yield Key("masked", self._gaps())
        if self.maps and (self._header.get("picked") or self._header.get("lit")):
            yield Key("ring", "what the page rings")
        if self.maps and not self._arranged and any(each.ends[0] < each.ends[1] for each in self.maps):
            yield Key("words", "more cells than numbers have room: read them from the shades")
        for name, drawn in [*self.named.items()][:MOST_NAMED]:
            yield Key("drawn", name, (drawn,))

    def arrange(self, room: float, most: float) -> float:
        """Give cells room for their numbers, and tell the height in pixels that this takes; 0 if nothing is printed.

        Args:
            room: the width in pixels.
            most: the height at most.
        """
        drawn = list(dict.fromkeys(each.axes for each in self.maps))
        if len(drawn) == len(self.axes) == len(self.maps):
            above = [self._names[each.axes].get_text() if each.axes in self._names else "" for each in self.maps]
            self._tell_titles()
            self._arranged = arranged(self.whole, self.maps, above, room, most)
        return self._arranged.height if self._arranged else 0.0

    def _tell_titles(self) -> None:
        """Give maps the titles of their sides that only one of several with the same rows or columns has."""
        for side in (0, 1):
            known = {tuple(each.names[side]): each.titles[side] for each in self.maps if each.titles[side]}
            for each in self.maps:
                titles = [*each.titles]
                titles[side] = titles[side] or known.get(tuple(each.names[side]), "")
                each.titles = titles[0], titles[1]

    def fit(self, area: Bbox) -> None:
        """Place all axes in an area, in pixels from the lower left corner, so that their names have room in it."""
        if self._arranged:
            self._arranged.apply(area, self.size)
            return
        super().fit(area)
        too_long = [axes for axes in self.axes.values() if wrap_title(axes)]
        if too_long:
            super().fit(area)
        for axes in self.axes.values():
            thin_ticks(axes)

    def needed(self) -> float:
        """The height in pixels that it takes: less than it was given, where cells are squares."""
        if self._arranged:
            return self._arranged.height
        if not self.maps or len({id(each.axes) for each in self.maps}) < len(self.axes) or not self.is_of_squares:
            return float("inf")
        rows: dict[float, list[tuple[float, float]]] = {}  # top -> the height that each map was given, and takes
        for axes in self.axes.values():
            axes.apply_aspect()
            given, taken = axes.get_position(original=True), axes.get_position()
            rows.setdefault(round(given.y1, 3), []).append((given.height, taken.height))
        boxes = [box for axes in self.axes.values() if (box := axes.get_tightbbox())]
        upper = sorted(rows, reverse=True)[:-1]  # below the lowest row there is room for all
        spared = sum(min(given - taken for given, taken in rows[top]) for top in upper)
        return float(Bbox.union(boxes).height - spared * self.size[1] + ROW_APART * len(upper))

    def finish(self) -> None:
        """Draw what depends on the room that everything has: numbers and hatches in cells, outlines."""
        self._clear()
        for each in self.maps:
            each.axes.spines[:].set(visible=True, linewidth=0.5, color="#777777")
            printed = self._print_numbers(each)
            if each.is_signed and not printed:
                self._hatch(each)
        self._ring()
        for axes, bars in self._bar_ends.items():
            if not axes.texts and len(bars) <= MOST_NAMED:  # else their lengths are told already
                _tell_lengths(axes, bars)

    def _gaps(self) -> str:
        """What a gap is, which the figure's second line tells."""
        told = str(self.layout.get("title", {}).get("subtitle", {}).get("text", ""))
        _, grey, rest = told.partition("Grey: ")
        return plain_text(rest.partition(".")[0].replace("<br>", " ")) if grey else "masked"

    def _heatmap(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        alone = "coloraxis" not in trace
        scale = trace if alone else self.layout[trace["coloraxis"]]
        stops = [tuple(stop) for stop in scale["colorscale"]]
        if all(colour == MASKED for _, colour in stops):
            return  # numbers that gaps hold: the hatch of what is masked stands there already
        super()._heatmap(axes, trace)
        if self.layout.get("plot_bgcolor") == MASKED:
            axes.patch.set(facecolor=MASK_FACE, edgecolor=MASK_LINES, hatch=MASK_HATCH, linewidth=0)
        cells = array(trace["z"]).astype(float)
        known = cells[np.isfinite(cells)]
        given = [scale.get(name) for name in (("zmin", "zmax") if alone else ("cmin", "cmax"))]
        low, high = (
            float(end if end is not None else of(known) if known.size else 0.0)
            for end, of in zip(given, (np.min, np.max), strict=True)
        )
        shades = LinearSegmentedColormap.from_list("", stops, N=1024)
        sides = [self._side(trace.get(f"{side}axis", side)) for side in "yx"]
        titles = [plain_text(side.get("title", {}).get("text", "")) for side in sides]
        names = [[plain_text(str(name)) for name in array(trace[side])] for side in "yx"]
        texts = texts_of(trace, scale, cells)
        self.maps.append(Map(axes, cells, shades, (low, high), texts, (names[0], names[1]), (titles[0], titles[1])))
        if alone and len({colour for _, colour in stops}) > 1:
            ends = f"±{high:.3g}" if low == -high else f"{low:.3g} … {high:.3g}".replace("-", "−")
            self._scales[axes] = ends

    def _look(self, axes: Axes, x: Mapping[str, Any], y: Mapping[str, Any]) -> None:
        super()._look(axes, x, y)
        for name, axis, side in (("x", axes.xaxis, x), ("y", axes.yaxis, y)):
            axis.label.set_color("black")
            axis.set_tick_params(labelcolor="black")
            if side.get("type") == "log" and "tickvals" not in side:
                low, high = axes.get_xlim() if name == "x" else axes.get_ylim()
                if high / max(low, 1e-300) <= 3000 and low >= 0.001:
                    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low <= 100 else (1,)))
                    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
                axis.set_minor_formatter(NullFormatter())

    def _print_numbers(self, each: Map) -> bool:
        """Print the numbers of a map in its cells, if all have room, and tell whether they have."""
        needed = widest(self.whole, (text for row in each.texts for text in row))
        if not needed:
            return False
        box = each.axes.get_window_extent()
        rows, columns = each.cells.shape
        wide, tall = box.width / columns - 2, (box.height / rows - 2) * 0.72  # in pixels, and in points
        most = self._arranged.letters if self._arranged else LETTERS
        letters = next((size for size in SIZES if size <= min(most, tall) and needed * size / LETTERS <= wide), 0.0)
        if not letters:
            return False
        for row, texts in enumerate(each.texts):
            for column, text in enumerate(texts):
                if text and np.isfinite(value := each.cells[row, column]):
                    colour = "white" if luminance(each.shades_of(value)[:3]) < 0.5 else "black"
                    look: dict[str, Any] = {
                        "size": letters,
                        "color": colour,
                        "ha": "center",
                        "va": "center",
                        "parse_math": False,
                    }
                    each.axes.text(column, row, plain_text(str(text)), **look)
        return True

    def _hatch(self, each: Map) -> None:
        """Hatch the negative cells: white on dark ones, dark on light ones. What is nearly 0 is nearly white, too."""
        far = np.nan_to_num(each.cells) < FAINT * each.ends[0]
        is_dark = each.shades_of(each.cells)[..., :3] @ np.array([0.299, 0.587, 0.114]) < 0.5
        for where, colour in ((far & is_dark, "white"), (far & ~is_dark, "#222222")):
            if where.any():
                look: dict[str, Any] = {
                    "facecolor": "none",
                    "edgecolor": colour,
                    "linewidth": 0,
                    "hatch": NEGATIVE,
                    "zorder": 0.5,
                }
                each.axes.add_patch(PathPatch(_outline(where), **look))

    def _ring(self) -> None:
        """Outline what the page rings: a cell, or its whole row; of matrices also what it was computed from."""
        picked, lit = self._header.get("picked"), self._header.get("lit") or {}
        if picked:
            for each in self.maps:
                self._outline(each, (picked[0], None if self._header.get("wholeRow") else picked[1]), 2.0)
        for each, name in zip(self.maps, self._header.get("matrices", ()), strict=False):
            for place, steps in lit.get(name, ()):
                self._outline(each, place, 2.4 if steps == 0 else 1.0)

    def _outline(self, each: Map, place: tuple[int | None, int | None], width: float) -> None:
        """Outline a cell, a row or a column of a map: black on white, which is seen on any colour."""
        row, column = place
        rows, columns = each.cells.shape
        if (row or 0) >= rows or (column or 0) >= columns:
            return
        corner = (-0.5 if column is None else column - 0.5), (-0.5 if row is None else row - 0.5)
        size = (columns if column is None else 1), (rows if row is None else 1)
        for line, colour in ((width + 1.8, "white"), (width, "black")):
            each.axes.add_patch(Rectangle(corner, *size, linewidth=line, edgecolor=colour, **RING))

    def _bars(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        before = len(axes.patches)
        super()._bars(axes, trace)
        for patch in axes.patches[before:]:
            colour = patch.get_facecolor()
            if colour not in self._bar_colours:
                self._bar_colours.append(colour)
            hatch = HATCHES[self._bar_colours.index(colour) % len(HATCHES)]
            patch.set(hatch=hatch, edgecolor="white" if luminance(colour[:3]) < 0.55 else "black", linewidth=0)
        if trace.get("orientation") == "h" and len(axes.patches) - before <= MOST_NAMED:
            self._bar_ends[axes] = [*self._bar_ends.get(axes, ()), *axes.patches[before:]]

    def _scatter(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        line, marker = dict(trace.get("line", {})), dict(trace.get("marker", {}))
        for part in (line, marker):
            if "color" in part:
                part["color"] = _printed(part["color"])
        mode, name = trace.get("mode", ""), str(trace.get("name") or "")
        is_line = "lines" in mode and bool(name) and (axes, name) not in self._lines
        is_line = is_line and (trace.get("showlegend", True) or name in self._line_names)
        if is_line and name not in self._line_names:
            self._line_names.append(name)
        self._lines.add((axes, name))
        number = self._line_names.index(name) if is_line else 0
        if is_line and marker.get("symbol", "circle") == "circle":
            marker["symbol"] = SYMBOLS[number % len(SYMBOLS)]
        before = len(axes.lines)
        super()._scatter(axes, {**trace, "line": line, "marker": marker})
        if is_line and len(axes.lines) > before:
            self._tell_apart(axes.lines[before], number, trace)

    def _tell_apart(self, drawn: Any, number: int, trace: Mapping[str, Any]) -> None:
        """Give a line dashes and markers of its own, by the number of its name."""
        x = array(trace["x"])
        drawn.set_linestyle(DASHES[number % len(DASHES)])
        if "markers" not in trace.get("mode", "") and len(x) > 2:
            every = max(1, len(x) // 7)
            drawn.set(marker=MARKERS[number % len(MARKERS)], markersize=4, markevery=(number * every // 4, every))

    def _shape(self, shape: Mapping[str, Any]) -> None:
        line = dict(shape.get("line", {}))
        if "color" in line:
            line["color"] = _printed(line["color"])
        super()._shape({**shape, "line": line})

    def _note(self, note: Mapping[str, Any]) -> None:
        text = note["text"]
        axes, _ = self._place(note)
        is_name = note.get("yanchor") == "bottom" and str(note.get("yref", "")).endswith("domain") and note["y"] == 1
        is_name = is_name and any(each.axes is axes for each in self.maps)
        if is_name and axes in self._scales:
            text = f"{text}  ({self._scales[axes]})"
        super()._note({**note, "text": text, "font": {**note.get("font", {}), "color": "black"}})
        if is_name:
            self._names[axes] = axes.texts[-1]

    def _clear(self) -> None:
        """Take away what would lie over something else: names of axes over each other, or over a map beside them."""
        for axes in self.axes.values():
            box = axes.get_window_extent()
            for other in self.axes.values():
                beside = other.get_window_extent()
                if other is axes or beside.x0 < box.x1 or beside.y0 > box.y1 or beside.y1 < box.y0:
                    continue
                make_room(axes, other)
        for below in {round(axes.get_position().y0, 3) for axes in self.axes.values()}:
            row = [axes for axes in self.axes.values() if round(axes.get_position().y0, 3) == below]
            end = float("-inf")
            for axes in sorted(row, key=lambda each: float(each.get_position().x0)):
                box = axes.xaxis.label.get_window_extent()
                if axes.get_xlabel() and box.x0 < end + 2:
                    axes.set_xlabel("")
                elif axes.get_xlabel():
                    end = box.x1
        names = [text.get_window_extent() for text in self._names.values()]
        for axes in self.axes.values():
            box = axes.xaxis.label.get_window_extent()
            if axes.get_xlabel() and any(box.overlaps(name) for name in names):
                axes.set_xlabel("")
        starts = sorted((text.get_window_extent().x0, text.get_window_extent().y0) for text in self._names.values())
        for text in self._names.values():
            box = text.get_window_extent()
            next_ones = [x for x, y in starts if x > box.x0 + 1 and abs(y - box.y0) < 8]
            room = min(next_ones, default=self.size[0]) - 4
            if text.get_window_extent().x1 > room:
                text.set_text(text.get_text().partition("  (")[0])
            while len(text.get_text()) > 3 and text.get_window_extent().x1 > room:
                text.set_text(f"{text.get_text()[:-2].rstrip(' …(')}…")


def _tell_lengths(axes: Axes, bars: Sequence[Any]) -> None:
    """Write the length of each bar at its end, or within it if it ends at the end of the axis."""
    low, high = axes.get_xlim()
    for bar in bars:
        end, middle = bar.get_x() + bar.get_width(), bar.get_y() + bar.get_height() / 2
        is_within = end - low > 0.85 * (high - low)
        text = axes.annotate(f"{bar.get_width():.3g}".replace("-", "−"), (end, middle), parse_math=False)
        text.set(size=LETTERS, va="center", ha="right" if is_within else "left", position=(-4 if is_within else 4, 0))
        text.anncoords = "offset points"
        if is_within:
            text.set_bbox({"facecolor": "white", "linewidth": 0, "pad": 1})


def _printed(colour: Any) -> Any:
    """A colour on paper: amber, which is lost in grey, is black."""
    return "black" if isinstance(colour, str) and colour.upper() == colours.RING else colour


def _outline(where: NDArray[np.bool_]) -> Path:
    """The outline of cells of a map; neighbours in a row are one."""
    padded = np.pad(where, ((0, 0), (1, 1))).astype(np.int8)
    rows, begins = np.nonzero(np.diff(padded, axis=1) == 1)
    _, ends = np.nonzero(np.diff(padded, axis=1) == -1)
    left, right, top = begins - 0.5, ends - 0.5, rows - 0.5
    corners = [(left, top), (right, top), (right, top + 1), (left, top + 1), (left, top)]
    points = np.stack([np.stack(corner, 1) for corner in corners], 1).reshape(-1, 2)
    return Path(points, [Path.MOVETO, *[Path.LINETO] * 3, Path.CLOSEPOLY] * len(rows))
