"""What a scheme turns: pairs of dimensions as clocks, whose hands stand at the position of a query and of a key."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core.positional.maths import rotary_pairs
from tfm_core.positional.schemes import Positional
from tfm_core.study.position_laws import turned_to_each
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, SMALL, TEMPLATE, colour_of
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

MOST = 32  # clocks that are drawn
ACROSS, SIDE, TEXT, MARGINS = 8, 104, 44, 150  # clocks in a row; heights in pixels: a clock, its text, all around
REACH = 1.12  # from a clock's middle to its edge, where a hand is 1 long


def clocks_figure(header: Header, numbers: NDArray[Any]) -> go.Figure:
    """All clocks that are drawn, in rows."""
    hands, at = numbers.reshape(-1, 5), header["at"]
    rows = max(1, -(-len(hands) // ACROSS))
    traces: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"shapes": [], "annotations": []}
    for i, (hand, pair, wavelength) in enumerate(zip(hands, header["pairs"], header["wavelengths"], strict=True)):
        number = "" if i == 0 else str(i + 1)
        on = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        first, second = header["dimensions"][i] if "dimensions" in header else (pair, pair + header["count"])
        told = f"pair {pair}: dimensions {first} and {second}, a turn in {wavelength:.5g} positions"
        for which, hollow in (("key", True), ("query", False)):
            end = hand[:2] if which == "query" else hand[2:4]
            traces.append(_hand(which, end, hand[4], told, hollow=hollow) | on)
            traces[-1] |= {"name": f"{which} at {at[which]}", "legendgroup": which, "showlegend": i == 0}
        layout |= _axes(number, i, rows, last=i + ACROSS >= len(hands))
        layout["shapes"].append(_circle(number))
        layout["annotations"].append(_name(f"pair {pair}<br>λ {in_positions(wavelength)}", number))
    layout |= {"template": TEMPLATE, "height": MARGINS + rows * (SIDE + TEXT)}
    layout["legend"] = {"y": 0, "yref": "container", "yanchor": "bottom"}
    return go.Figure(data=traces, layout=layout)


def _hand(which: str, end: NDArray[Any], between: float, told: str, *, hollow: bool) -> dict[str, Any]:
    """A line from the middle. The key's ends in a hollow dot, so that hands differ without their colours."""
    colour = colour_of(which)
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": np.array([0, end[0]], np.float32),
        "y": np.array([0, end[1]], np.float32),
        "customdata": np.array([between, between], np.float32),
        "hovertemplate": f"{told}<br>cos %{{x:.4f}}, sin %{{y:.4f}}<br>between query and key: %{{customdata:.4f}} rad",
        "line": {"color": colour, "width": 2.5},
        "marker": {"color": colour, "size": [0, 9], "symbol": "circle-open" if hollow else "circle"},
    }


def _axes(number: str, i: int, rows: int, *, last: bool) -> dict[str, Any]:
    row, column = divmod(i, ACROSS)
    bottom = 1 - (row + 1) / rows
    plain = {"range": [-REACH, REACH], "showgrid": False, "showticklabels": False}
    across = plain | {"domain": [column / ACROSS, (column + 0.9) / ACROSS], "anchor": f"y{number}"}
    down = plain | {"domain": [bottom, bottom + SIDE / (SIDE + TEXT) / rows], "anchor": f"x{number}"}
    across |= {"title": {"text": "cos"}} if last else {}
    down |= {"title": {"text": "sin"}} if column == 0 else {}
    return {f"xaxis{number}": across, f"yaxis{number}": down | {"scaleanchor": f"x{number}"}}


def _circle(number: str) -> dict[str, Any]:
    corners = {"x0": -1, "x1": 1, "y0": -1, "y1": 1, "xref": f"x{number}", "yref": f"y{number}"}
    return {"type": "circle", **corners, "line": {"color": MUTED, "width": 1}}


def _name(text: str, number: str) -> dict[str, Any]:
    """A name above a clock."""
    place = {"xref": f"x{number} domain", "yref": f"y{number} domain", "x": 0.5, "y": 1, "yanchor": "bottom"}
    return {**place, "text": text, "showarrow": False, "font": {"size": SMALL}}


CLOCKS = Canvas(
    "lenses/positions/clocks",
    """
<div class="clocks" data-picture>
  <div class="drive">
    <label class="query"><span></span><input type="range" min="0"></label>
    <label class="key"><span></span><input type="range" min="0"></label>
    <button class="together" aria-pressed="false">Move both</button>
    <button class="play">Play</button>
    <span class="apart"></span>
  </div>
  <canvas tabindex="0" role="application"></canvas>
  <div class="tip" hidden></div>
  <span class="say" aria-live="polite"></span>
</div>
""",
    clocks_figure,
)


def pairs_of(scheme: Positional, width: int) -> Tensor:
    """Which dimensions turn together, int64 (pair, 2); what does not say it turns i and i + width / 2."""
    pairs = scheme.pairs(width)
    return rotary_pairs(width) if pairs is None else pairs


def turned_hands(scheme: Positional, query_position: int, key_position: int, width: int) -> tuple[Tensor, Tensor]:
    """A query and a key that both point to the right in each pair, turned to their positions: each (pair, 2)."""
    pairs = pairs_of(scheme, width)
    unit = torch.zeros(width)
    unit[pairs[:, 0]] = 1.0
    rows = turned_to_each(scheme, unit, max(query_position, key_position) + 1)[[query_position, key_position]]
    query, key = rows[:, pairs]  # cosine and sine
    return query, key


def spaced(length: int, most: int) -> Tensor:
    """`most` of the first `length` positions, evenly spaced, or all: the first and the last among them."""
    return torch.linspace(0, length - 1, min(length, most), dtype=torch.float64).round().long()


def in_positions(wavelength: float) -> str:
    """A wavelength in words."""
    return f"{wavelength:.3g}" if wavelength < 1000 else formats.count(round(wavelength))


def wave_chart(curves: Sequence[Line]) -> Chart:
    """These lines of wavelengths over the pairs of dimensions."""
    return Chart("pair i of dimensions", "wavelength in positions", curves, y_scale="log10")


@dataclass(frozen=True)
class Turns:
    """Two unit vectors per pair of dimensions, turned by one scheme to two positions.

    Attributes:
        scheme: what turns them.
        query: the query's position m.
        key: the key's position n.
        length: how many positions there are to choose from.
        width: of the vectors: that of a head.
    """

    scheme: Positional
    query: int
    key: int
    length: int
    width: int

    @cached_property
    def hands(self) -> tuple[Tensor, Tensor]:
        """The query and the key in each pair, each float32 (pair, 2): cosine and sine."""
        return turned_hands(self.scheme, self.query, self.key, self.width)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.hands[0])

    @property
    def dimensions(self) -> list[tuple[int, int]]:
        """Which two dimensions each pair is."""
        return [(int(first), int(second)) for first, second in pairs_of(self.scheme, self.width)]

    @property
    def in_halves(self) -> bool:
        """Whether they are i and i + width / 2."""
        return self.dimensions == [(i, i + self.pairs) for i in range(self.pairs)]

    @property
    def drawn(self) -> Tensor:
        """The pairs that are drawn, evenly chosen."""
        return spaced(self.pairs, MOST)

    @property
    def between(self) -> Tensor:
        """The angle between query and key, (m - n) theta_i, in radians, float64 (pair)."""
        return (self.query - self.key) * 2 * math.pi / self.wavelengths

    @property
    def wavelengths(self) -> Tensor:
        """The number of positions in which each pair turns once, float64 (pair)."""
        wavelengths = self.scheme.wavelengths(self.width)
        assert wavelengths is not None
        return wavelengths

    @property
    def dots(self) -> Tensor:
        """The dot product of query and key within each pair, (pair)."""
        query, key = self.hands
        return (query * key).sum(1)

    def content(self, prefix: str) -> Content:
        """What clocks.js draws.

        Args:
            prefix: stands before the names of what its sliders set: position, of the query, and key.
        """
        header = header_of(
            prefix,
            pairs=self.drawn.tolist(),
            count=self.pairs,
            wavelengths=self.wavelengths[self.drawn].tolist(),
            query=self.query,
            key=self.key,
            last=self.length - 1,
        )
        if not self.in_halves:
            header["dimensions"] = [self.dimensions[pair] for pair in self.drawn.tolist()]
        numbers = torch.cat([*self.hands, self.between[:, None].float()], 1)[self.drawn]
        return header, numbers.numpy()

    def sentence(self) -> str:
        """How far apart the two stand, in the fastest and in the slowest pair."""
        m, n, last = self.query, self.key, self.pairs - 1
        apart = str(m - n).replace("-", "−")
        first, slow = (formats.number(self.between[i].item() / (2 * math.pi)) for i in (0, last))
        angles = f"{first} turns in pair 0" + (f", {slow} in pair {last}" if last else "")
        return (
            f"Query at m = {m}, key at n = {n}, m − n = {apart}: between the two lie "
            f"{angles}. Equal vectors so turned have a dot product of {formats.number(self.dots.sum().item())} of "
            f"{self.pairs}; moving both by as much leaves it as it is."
        )


def header_of(prefix: str, *, query: int, key: int, **more: Any) -> Header:
    """The header for clocks.js, with what its sliders set, and where they stand."""
    asks = {"parameters": {"query": f"{prefix}position", "key": f"{prefix}key"}, "about": ""}
    return asks | more | {"at": {"query": query, "key": key}}
