"""What the signs of a picture on paper mean: scales, hatches, outlines, lines, in rows below the picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle
from matplotlib.patches import Rectangle

from tfm_ui.pictures.paper_axes import LETTERS, width_of
from tfm_ui.pictures.still import legible, plain_text

ROW = 20  # pixels: the height of a row
MASK_FACE, MASK_LINES, MASK_HATCH = "#EDEDED", "#8A8A8A", "\\\\\\\\"
NEGATIVE = "////"  # the hatch of what is below 0
HATCHED: dict[str, Any] = {"edgecolor": "white", "linewidth": 0, "hatch": NEGATIVE}


def luminance(colour: Any) -> float:
    """How light a colour is in grey, from 0 for black to 1 for white."""
    red, green, blue = to_rgb(colour)
    return 0.299 * red + 0.587 * green + 0.114 * blue


@dataclass(frozen=True)
class Key:
    """What a sign means.

    Attributes:
        kind: "scale", "masked", "negative", "ring", "drawn", or "words" for a text without a sign.
        text: what it means.
        stops: of a scale, its colours; of what is drawn, such as a line, that.
    """

    kind: str
    text: str
    stops: tuple[Any, ...] = ()

    @property
    def width(self) -> int:
        """The width of the sign in pixels."""
        return {"scale": 70, "words": -6}.get(self.kind, 30)


def shortened(whole: Figure, title: str, room: float, *, size: float) -> str:
    """The title, or as much of it as has room."""
    text = legible(title)
    while len(text) > 8 and width_of(whole, text, size=size, weight="bold") > room:
        text = f"{text[:-2].rstrip(' …')}…"
    return text


def rows_of(whole: Figure, keys: Sequence[Key], room: float) -> list[list[tuple[float, Key]]]:
    """What signs mean, in rows, each with the place at which it begins."""
    rows: list[list[tuple[float, Key]]] = []
    at = 0.0
    for key in keys:
        wide = key.width + 6 + width_of(whole, legible(plain_text(key.text)), size=LETTERS) + 18
        if at + wide > room + 18 or not rows:
            rows.append([])
            at = 2.0
        rows[-1].append((at, key))
        at += wide
    return rows


def draw(whole: Figure, row: Sequence[tuple[float, Key]], up: float) -> None:
    """Draw a row of what signs mean, its middle so many pixels from the bottom."""
    size = whole.get_size_inches() * 100
    for at, key in row:
        place = (at + key.width + 6) / size[0], up / size[1]
        whole.text(*place, legible(plain_text(key.text)), size=LETTERS, va="center_baseline", parse_math=False)
        if key.kind == "words":
            continue
        box = whole.add_axes((at / size[0], (up - 5) / size[1], key.width / size[0], 10 / size[1]))
        box.set(xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=())
        box.spines[:].set(linewidth=0.5, color="#555555")
        _draw_sign(box, key)


def _draw_sign(box: Axes, key: Key) -> None:
    match key.kind:
        case "scale":
            shades = LinearSegmentedColormap.from_list("", list(key.stops), N=256)
            box.imshow(np.linspace(0, 1, 64)[None], shades, extent=(0, 1, 0, 1), aspect="auto")
            if _is_signed(key):
                box.add_patch(Rectangle((0, 0), 0.45, 1, facecolor="none", **HATCHED))
        case "negative":
            box.add_patch(Rectangle((0, 0), 1, 1, facecolor="#8A8A8A", **HATCHED))
        case "masked":
            box.patch.set(facecolor=MASK_FACE, edgecolor=MASK_LINES, hatch=MASK_HATCH, linewidth=0)
        case "ring":
            box.spines[:].set(linewidth=2, color="black")
        case _:
            _draw_drawn(box, key.stops[0])


def _is_signed(key: Key) -> bool:
    """Whether a scale goes through 0: then it is light in its middle."""
    middle = min(key.stops, key=lambda stop: abs(stop[0] - 0.5))
    return luminance(key.stops[0][1]) < 0.5 < luminance(middle[1])


def _draw_drawn(box: Axes, drawn: Any) -> None:
    """Draw a line, a point or a bar as in the picture."""
    box.spines[:].set_visible(False)
    patches = getattr(drawn, "patches", None)
    if patches:
        first = patches[0]
        bar = Rectangle((0, 0), 1, 1, linewidth=0, facecolor=first.get_facecolor(), edgecolor=first.get_edgecolor())
        bar.set_hatch(first.get_hatch())
        box.add_patch(bar)
    elif hasattr(drawn, "get_linestyle") and hasattr(drawn, "get_marker"):
        (line,) = box.plot([0, 0.5, 1], [0.5] * 3)
        line.update_from(drawn)
        line.set(markevery=[1], transform=box.transData, clip_on=False)
    elif hasattr(drawn, "get_paths"):
        look = {"facecolors": drawn.get_facecolors(), "edgecolors": drawn.get_edgecolors()}
        box.scatter([0.5], [0.5], s=30, marker=MarkerStyle(drawn.get_paths()[0]), clip_on=False, **look)
