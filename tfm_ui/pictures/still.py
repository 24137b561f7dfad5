"""A picture as a PNG that the server draws, for those who open a link without a browser: messengers and slides.

Matplotlib draws it from the same Plotly figure that a download holds, so its numbers are those of the page. It draws
what figures of this app have: heatmaps, bars, lines, points, shapes, names and legends; not what only a pointer shows.
"""

import base64
import html
import textwrap
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, Rectangle
from matplotlib.ticker import FixedLocator, MaxNLocator, PercentFormatter
from matplotlib.transforms import Bbox, Transform, blended_transform_factory
from numpy.typing import NDArray

from tfm_ui.pictures.figures import INK, MUTED, PAPER, RULE
from tfm_ui.pictures.figures import PREVIEW_HEIGHT as HEIGHT
from tfm_ui.pictures.figures import PREVIEW_WIDTH as WIDTH

EDGE, LINE = 40, 26  # pixels: around the picture, and from one line of its sentence to the next
NATURAL = 1000  # pixels: the width for which the height of a figure with several rows of maps was chosen
MOST_LINES, LONGEST_LINE = 2, 118  # of the sentence: lines, and characters of each
LONGEST_TITLE = 68  # characters
MOST_NAMES = 24  # of a side of a map: more could not be read
ROUND = [times * 10**power for power in range(9) for times in (1, 2, 5)]  # of so many names one is printed
MOST_IN_LEGEND = 8
DASHES = {"dash": (0, (5, 3)), "dot": (0, (1, 2))}
STROKES = {"x-thin": "x", "line-ns": "|"}  # symbols without an inside
SYMBOLS = {"square": "s", "triangle-up": "^", "diamond": "D", "cross": "P", "star": "*"} | STROKES
POINTS = 0.72  # of a pixel, at 100 pixels an inch


def png(figure: go.Figure | None, *, title: str, sentence: str, foot: str) -> bytes:
    """The figure as a PNG of 1200 x 630 pixels, in light colours, with words around it.

    Args:
        figure: of a picture of this app; None for words alone.
        title: the heading; as much of it as has room.
        sentence: stands below the heading; as much of it as has room.
        foot: stands at the bottom.
    """
    whole = Figure((WIDTH / 100, HEIGHT / 100), dpi=100, facecolor=PAPER)
    lines = textwrap.wrap(sentence, LONGEST_LINE, max_lines=MOST_LINES, placeholder=" …")
    heading = textwrap.shorten(title, LONGEST_TITLE, placeholder=" …")
    for down, words, size, colour in (
        (56, heading, 20.0, INK),
        *((92 + LINE * number, line, 12.5, INK) for number, line in enumerate(lines)),
        (HEIGHT - 22, foot, 10.5, MUTED),
    ):
        weight = "bold" if words is heading else "normal"
        look = {"size": size, "color": colour, "weight": weight, "parse_math": False}
        whole.text(EDGE / WIDTH, 1 - down / HEIGHT, legible(words), look)
    if figure:
        drawing = Drawing(whole, figure.to_plotly_json())
        bottom = 50 + (LINE if drawing.legend() else 0)
        drawing.fit(Bbox([[EDGE, bottom], [WIDTH - EDGE, HEIGHT - 88 - LINE * len(lines)]]))
    data = BytesIO()
    whole.savefig(data, format="png")
    return data.getvalue()


def has_numbers(figure: go.Figure) -> bool:
    """Whether anything is drawn in the figure: a cell, a bar, a line or a point."""
    parts = figure.to_plotly_json()["data"]
    return any(np.isfinite(array(part["z" if part["type"] == "heatmap" else "y"])).any() for part in parts)


def legible(text: str) -> str:
    """The text with a box for each character that the font lacks: Matplotlib would warn of it on the server."""
    return "".join(sign if ord(sign) in _known() or sign == "\n" else "□" for sign in text)


@cache
def _known() -> frozenset[int]:
    """The characters that the font has: to list them takes a millisecond, and pictures have thousands of names."""
    return frozenset(font_manager.get_font(font_manager.findfont("DejaVu Sans")).get_charmap())


def plain_text(text: str) -> str:
    """A text of Plotly's, which writes the end of a line as a tag, and signs of HTML by their names."""
    return legible(html.unescape(text.replace("<br>", "\n")))


def array(values: Any) -> NDArray[Any]:
    """Numbers as Plotly's JSON has them: as a list, or as the bytes of an array."""
    if not isinstance(values, Mapping):
        return np.asarray(values)
    shape = [int(size) for size in str(values.get("shape", "-1")).split(",")]
    return np.frombuffer(base64.b64decode(values["bdata"]), np.dtype(values["dtype"])).reshape(shape)


def _shorten_name(axes: Axes) -> None:
    """Leave out what explains the name of an axis, where the name is wider than the axis."""
    name = axes.xaxis.label
    if name.get_window_extent().width > axes.get_window_extent().width:
        name.set_text(name.get_text().partition(" (")[0])


def turn_names(axes: Axes) -> None:
    """Turn the names of columns upright where they would lie over each other."""
    boxes = [box for name in axes.get_xticklabels() if name.get_text() and (box := name.get_window_extent())]
    if any(right.x0 < left.x1 for left, right in pairwise(boxes)):
        axes.tick_params("x", labelrotation=90)


def leave_out_names(axes: Axes) -> None:
    """Leave only every second, third and so on of names that lie over each other."""
    for axis, side in ((axes.xaxis, 0), (axes.yaxis, 1)):
        if not isinstance(axis.get_major_locator(), FixedLocator):  # Matplotlib chooses round numbers by itself
            continue
        boxes = np.array([name.get_window_extent().get_points()[:, side] for name in axis.get_ticklabels()])
        if len(boxes) < 2:
            continue
        size, apart = (boxes[:, 1] - boxes[:, 0]).max(), np.abs(np.diff(boxes.mean(1))).min()
        every = max(1, int(np.ceil(0.8 * size / max(apart, 1))))  # a box has room for letters that go below the line
        names = [name.get_text() for name in axis.get_ticklabels()]
        axis.set_ticks(axis.get_ticklocs()[::every], names[::every], parse_math=False)


def rest_within(axes: Axes, area: Bbox, size: NDArray[Any]) -> None:
    """Place axes so that their names, too, lie in an area, in pixels of a figure of this size."""
    inner = area
    for _ in range(2):  # names take more room than their axes, and are placed by them
        axes.set_position(Bbox(inner.get_points() / size))
        axes.apply_aspect()
        taken = axes.get_tightbbox() or inner
        over = np.clip(np.subtract(area.min, taken.min), 0, None)
        under = np.clip(np.subtract(taken.max, area.max), 0, None)
        inner = Bbox(np.array([inner.min + over, inner.max - under]))


class Drawing:
    """A Plotly figure on Matplotlib's axes, one for each pair of Plotly's.

    Attributes:
        TITLES, NAMES, LEGEND: the sizes of letters, in points: of the names of axes, of what stands along them, and of
            the legend. Notes have at most `NOTES`.
        NARROWS: whether maps of several rows are placed closer than the area is wide.
    """

    TITLES, NAMES, LEGEND, NOTES = 10.0, 9.5, 10.5, 14 * POINTS
    NARROWS = True

    def __init__(self, whole: Figure, figure: Mapping[str, Any]) -> None:
        self.whole, self.layout = whole, figure["layout"]
        self.size = whole.get_size_inches() * 100  # in pixels
        self.named: dict[str, Any] = {}  # what stands in the legend -> what is drawn
        self.axes: dict[tuple[str, str], Axes] = {}
        draw = {"heatmap": self._heatmap, "bar": self._bars, "scatter": self._scatter}
        for trace in figure["data"]:
            draw[trace["type"]](self._axes_of(trace.get("xaxis", "x"), trace.get("yaxis", "y")), trace)
        for (x, y), axes in self.axes.items():
            self._look(axes, self._side(x), self._side(y))
        for shape in self.layout.get("shapes", ()):
            self._shape(shape)
        for note in self.layout.get("annotations", ()):
            self._note(note)

    def fit(self, area: Bbox) -> None:
        """Place all axes in an area, in pixels from the lower left corner, so that their names have room in it."""
        height = self.layout.get("height") or area.height
        # Else tall pictures would leave wide gaps between the maps.
        if self.NARROWS and self.is_of_squares and height > area.height:
            narrow = max(NATURAL * area.height / height, area.width / 3)
            width = min(narrow, area.width)
            area = Bbox.from_bounds(area.x0 + (area.width - width) / 2, area.y0, width, area.height)
        inner = area
        for again in range(3):  # names take more room than their axes, and are placed by them
            for (x, y), axes in self.axes.items():
                (left, right), (low, high) = (self._side(side).get("domain", (0, 1)) for side in (x, y))
                corners = np.array([[left, low], [right, high]]) * (inner.width, inner.height) + (inner.x0, inner.y0)
                axes.set_position(Bbox(corners / self.size))
                if again == 1:
                    _shorten_name(axes)
            taken = Bbox.union([box for axes in self.axes.values() if (box := axes.get_tightbbox())])
            if again == 0:
                for axes in self.axes.values():
                    turn_names(axes)
            over = np.clip(np.subtract(area.min, taken.min), 0, None)
            under = np.clip(np.subtract(taken.max, area.max), 0, None)
            inner = Bbox(np.array([inner.min + over, inner.max - under]))
        for axes in self.axes.values():
            leave_out_names(axes)

    def legend(self) -> bool:
        """Draw the legend, if something has a name in it, and tell whether something has."""
        names = list(self.named)[:MOST_IN_LEGEND]
        drawn = self.whole.legend(
            [self.named[name] for name in names],
            names,
            loc="lower left",
            bbox_to_anchor=(EDGE, 44) / self.size,
            ncols=MOST_IN_LEGEND,
            frameon=False,
            fontsize=self.LEGEND,
            borderpad=0,
            handlelength=1.4,
            columnspacing=1.2,
        )
        for text in drawn.get_texts():
            text.set_parse_math(False)
        return bool(names)

    @property
    def is_of_squares(self) -> bool:
        """Whether cells of its maps are squares."""
        return any("scaleanchor" in self._side(y) for _, y in self.axes)

    def _side(self, name: str) -> Mapping[str, Any]:
        """The axis of the layout that a trace calls "x", "y2" or alike."""
        side: Mapping[str, Any] = self.layout.get(f"{name[0]}axis{name[1:]}", {})
        return side

    def _axes_of(self, x: str, y: str) -> Axes:
        if (x, y) not in self.axes:
            self.axes[x, y] = self.whole.add_axes((0, 0, 1, 1), label=f"{x} {y}", facecolor=PAPER)
        return self.axes[x, y]

    def _name(self, trace: Mapping[str, Any], drawn: Any) -> None:
        if self.layout.get("showlegend", True) and trace.get("showlegend", True) and trace.get("name"):
            self.named.setdefault(plain_text(trace["name"]), drawn)

    def _heatmap(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        scale = self.layout[trace["coloraxis"]] if "coloraxis" in trace else trace
        stops = [tuple(stop) for stop in scale["colorscale"]]
        colours = LinearSegmentedColormap.from_list("", stops, N=1024).with_extremes(bad="none")  # the ground's
        low, high = (scale.get(name) for name in (("cmin", "cmax") if "coloraxis" in trace else ("zmin", "zmax")))
        cells = np.ma.masked_invalid(array(trace["z"]))
        axes.set_facecolor(self.layout.get("plot_bgcolor", PAPER))
        axes.imshow(cells, colours, vmin=low, vmax=high, interpolation="nearest", aspect="auto", zorder=0)
        for side, names in ((axes.xaxis, trace["x"]), (axes.yaxis, trace["y"])):
            known = array(names)
            every = next(step for step in ROUND if step * MOST_NAMES >= len(known))
            side.set_ticks(
                range(0, len(known), every), [plain_text(str(name)) for name in known[::every]], parse_math=False
            )

    def _bars(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        places, lengths = ("y", "x") if trace.get("orientation") == "h" else ("x", "y")
        draw = axes.barh if places == "y" else axes.bar
        marker = trace.get("marker", {})
        begin = array(trace.get("base", 0))
        edge = marker.get("line", {})
        drawn = draw(
            array(trace[places]),
            array(trace[lengths]),
            trace.get("width", 0.8),
            begin,
            color=marker.get("color", INK),
            alpha=marker.get("opacity"),
            edgecolor=edge.get("color"),
            linewidth=edge.get("width", 0),
        )
        self._name(trace, drawn)

    def _scatter(self, axes: Axes, trace: Mapping[str, Any]) -> None:
        x, y = (array(trace[side]) for side in "xy")
        mode, line, marker = (trace.get(part, {}) for part in ("mode", "line", "marker"))
        drawn: Any = None
        if "lines" in mode:
            look = {"linewidth": line.get("width", 2), "linestyle": DASHES.get(line.get("dash", ""), "-")}
            (drawn,) = axes.plot(x, y, color=line.get("color", INK), alpha=trace.get("opacity"), **look)
        if "markers" in mode:
            symbol = marker.get("symbol", "circle")  # or a list, of which the first stands for all
            symbol = symbol if isinstance(symbol, str) else symbol[0]
            colour = marker.get("color", line.get("color", INK))
            look = {"edgecolors": colour, "facecolors": "none" if symbol == "circle-open" else colour}
            if symbol in STROKES:
                look = {"color": colour}
            size = np.square(array(marker.get("size", 6)) * POINTS)
            drawn = axes.scatter(
                x, y, s=size, marker=SYMBOLS.get(symbol, "o"), alpha=marker.get("opacity"), zorder=3, **look
            )
        if "text" in mode:
            for across, up, text in zip(x, y, np.broadcast_to(array(trace["text"]), x.shape), strict=True):
                axes.annotate(plain_text(str(text)), (across, up), (5, 3), textcoords="offset points", parse_math=False)
        self._name(trace, drawn)

    def _look(self, axes: Axes, x: Mapping[str, Any], y: Mapping[str, Any]) -> None:
        """Ranges, names and grid of axes on which everything is drawn."""
        for name, axis, side in (("x", axes.xaxis, x), ("y", axes.yaxis, y)):
            title = side.get("title", {})
            colour = title.get("font", {}).get("color", MUTED)
            axis.set_label_text(plain_text(title.get("text", "")), size=self.TITLES, color=colour, parse_math=False)
            if side.get("type") == "log":
                (axes.set_xscale if name == "x" else axes.set_yscale)("log")
            if "tickvals" in side and len(side["ticktext"]) <= MOST_NAMES:
                names = [plain_text(str(text)) for text in side["ticktext"]]
                axis.set_ticks([float(place) for place in side["tickvals"]], names, parse_math=False)
            elif str(side.get("tickformat", "")).endswith("%"):
                axis.set_major_formatter(PercentFormatter(1))
            if side.get("showticklabels") is False:
                axis.set_ticks([])
            if side.get("type") != "log" and side.get("dtick") and float(side["dtick"]).is_integer():
                axis.set_major_locator(MaxNLocator("auto", integer=True))
            if "range" in side and side.get("type") != "category":
                ends = [10**end if side.get("type") == "log" else end for end in side["range"]]
                (axes.set_xlim if name == "x" else axes.set_ylim)(*ends)
            if side.get("showgrid", True):
                axis.grid(visible=True, color=RULE, linewidth=0.8)
            font = side.get("tickfont", {}).get("color", MUTED)
            axis.set_tick_params(length=0, labelsize=self.NAMES, labelcolor=font)
        if x.get("tickangle"):
            axes.tick_params("x", labelrotation=90)
        if "scaleanchor" in y:
            axes.set_aspect("equal", anchor="NW")
        axes.set_axisbelow(True)
        axes.spines[:].set_visible(False)

    def _place(self, part: Mapping[str, Any]) -> tuple[Axes, Transform]:
        """The axes of a shape or note, and what its coordinates mean: data, or shares of the axes or of the figure."""
        refs = [str(part.get(f"{side}ref", side)) for side in "xy"]
        names = ["" if ref == "paper" else ref.removesuffix(" domain") for ref in refs]
        fits = (all(name in ("", side) for name, side in zip(names, key, strict=True)) for key in self.axes)
        axes = next((axes for axes, fit in zip(self.axes.values(), fits, strict=True) if fit), None)
        axes = axes or self._axes_of(names[0] or "x", names[1] or "y")
        sides = [axes.transData if ref == name else axes.transAxes for ref, name in zip(refs, names, strict=True)]
        return axes, blended_transform_factory(*sides)

    def _shape(self, shape: Mapping[str, Any]) -> None:
        axes, place = self._place(shape)
        x, y, width, height = shape["x0"], shape["y0"], shape["x1"] - shape["x0"], shape["y1"] - shape["y0"]
        line = shape.get("line", {})
        colour = line.get("color", MUTED)
        look = {"linewidth": line.get("width", 1), "transform": place}
        filled = look | {"facecolor": shape.get("fillcolor", "none"), "edgecolor": colour, "zorder": 0}
        filled["alpha"] = shape.get("opacity")
        if shape["type"] == "line":
            dash = DASHES.get(line.get("dash", ""), "-")
            axes.plot((x, x + width), (y, y + height), color=colour, linestyle=dash, scalex=False, scaley=False, **look)
        elif shape["type"] == "circle":
            axes.add_patch(Ellipse((x + width / 2, y + height / 2), width, height, **filled))
        else:
            axes.add_patch(Rectangle((x, y), width, height, **filled))

    def _note(self, note: Mapping[str, Any]) -> None:
        axes, place = self._place(note)
        font = note.get("font", {})
        # On a logarithmic axis, the place of a note is a power of ten; that of a shape is the number itself.
        powers = [self._side(note.get(f"{side}ref", side)).get("type") == "log" for side in "xy"]
        axes.annotate(
            plain_text(note["text"]),
            tuple(10 ** note[side] if power else note[side] for side, power in zip("xy", powers, strict=True)),
            (note.get("xshift", 0) * POINTS, 3 if note.get("yanchor") == "bottom" else 0),
            xycoords=place,
            textcoords="offset points",
            ha=note.get("xanchor", "center"),
            va=note.get("yanchor", "center"),
            size=min(font.get("size", 13) * POINTS, self.NOTES),
            color=font.get("color", INK),
            parse_math=False,
            annotation_clip=False,
        )
