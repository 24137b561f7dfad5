"""All heads on paper: their maps in one grid, a row of them per layer, with its numbers at the sides."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Bbox

from tfm_ui.pictures.paper_axes import LETTERS
from tfm_ui.pictures.paper_keys import MASK_FACE, Key
from tfm_ui.pictures.still import array, leave_out_names, rest_within

BETWEEN = 0.14  # of a map: from one to the next
FINE, MANY = 40, 48  # pixels: the width of a map at least; of fewer maps than so many, five times that
EDGE = (0.5, 0.5, 0.5, 1.0)  # around each map


class PaperGrid:
    """The grid, drawn as a single image: some models have hundreds of heads.

    Attributes:
        size: of the whole figure, in pixels.
    """

    def __init__(self, whole: Figure, figure: Mapping[str, Any], header: Mapping[str, Any]) -> None:
        self.size = whole.get_size_inches() * 100
        self._whole, self._header, self._layout = whole, header, figure["layout"]
        self._traces = [trace for trace in figure["data"] if trace["type"] == "heatmap"]
        self._axes = whole.add_axes((0, 0, 1, 1))
        self._draw()

    def arrange(self, _room: float, _most: float) -> float:
        """The height that its numbers take, 0: it prints none."""
        return 0.0

    def keys(self) -> Iterator[Key]:
        """What the signs mean."""
        scale = self._layout.get("coloraxis") or self._traces[0]
        text = f"0 … {self._layout['coloraxis']['cmax']:.2g} (weight)" if "coloraxis" in self._layout else "weight"
        each = "" if "coloraxis" in self._layout else ": of each head from 0 to its largest"
        yield Key("scale", text + each, tuple(tuple(stop) for stop in scale["colorscale"]))
        if self._header.get("masked"):
            yield Key("masked", "masked")
        if self._header.get("picked"):
            yield Key("ring", "what the page rings")

    def fit(self, area: Bbox) -> None:
        """Place the grid in an area, in pixels from the lower left corner."""
        rest_within(self._axes, area, self.size)

    def needed(self) -> float:
        """The height in pixels that it takes."""
        self._axes.apply_aspect()
        box = self._axes.get_tightbbox()
        return float(box.height) if box else 0.0

    def finish(self) -> None:
        """Draw the outline of the head that the page rings."""
        if picked := self._header.get("picked"):
            layer, head = picked
            look: dict[str, Any] = {"fill": False, "edgecolor": "black", "linewidth": 2, "clip_on": False, "zorder": 5}
            high, wide = self._pitch
            apart = BETWEEN * max(high, wide)
            corner = wide * head - apart / 2, high * layer - apart / 2
            self._axes.add_patch(Rectangle(corner, wide, high, **look))
        leave_out_names(self._axes)
        boxes = [name.get_window_extent() for name in self._axes.get_xticklabels()]
        if len(boxes) > 1 and any(box.x1 + 2 > after.x0 for box, after in pairwise(boxes)):
            self._axes.set_xticks(
                self._axes.get_xticks()[::2], [text.get_text() for text in self._axes.get_xticklabels()[::2]]
            )

    def _draw(self) -> None:
        heads, layers, axes = self._header["heads"], self._header["layers"], self._axes
        rows, columns = array(self._traces[0]["z"]).shape
        fine = FINE if heads * layers > MANY else 5 * FINE
        finer = max(1, -(-fine // max(rows, columns)))  # pixels of a cell, so that gaps between maps are narrow
        high, wide = rows * finer, columns * finer
        apart = max(1, round(BETWEEN * max(high, wide)))
        image = np.ones((layers * (high + apart), heads * (wide + apart), 4), np.float32)
        for number, trace in enumerate(self._traces[: heads * layers]):
            layer, head = divmod(number, heads)
            scale = self._layout["coloraxis"] if "coloraxis" in trace else trace
            top = scale["cmax"] if "coloraxis" in trace else scale["zmax"]
            stops = [tuple(stop) for stop in scale["colorscale"]]
            shades = LinearSegmentedColormap.from_list("", stops, N=256).with_extremes(bad=MASK_FACE)
            colours = shades(np.ma.masked_invalid(array(trace["z"])) / (top or 1))
            framed = colours.repeat(finer, 0).repeat(finer, 1)
            framed[[0, -1]] = framed[:, [0, -1]] = EDGE
            down, over = layer * (high + apart), head * (wide + apart)
            image[down : down + high, over : over + wide] = framed
        self._pitch = high + apart, wide + apart
        axes.imshow(image, interpolation="nearest", aspect="equal")
        axes.set(xlim=(-apart / 2 - 0.5, heads * (wide + apart)), ylim=(layers * (high + apart), -apart / 2 - 0.5))
        axes.set_yticks([(layer + 0.5) * (high + apart) - apart / 2 for layer in range(layers)])
        axes.set_xticks([(head + 0.5) * (wide + apart) - apart / 2 for head in range(heads)])
        axes.set_yticklabels([f"layer {layer + 1}" if layers <= 6 else f"L{layer + 1}" for layer in range(layers)])
        axes.set_xticklabels([f"head {head + 1}" if heads <= 5 else f"h{head + 1}" for head in range(heads)])
        axes.tick_params(length=0, labelsize=LETTERS, pad=5)
        axes.xaxis.tick_top()
        axes.spines[:].set_visible(False)
        axes.set_anchor("NW")
