"""What turns: pairs of dimensions as clocks, whose hands sliders move along the positions, and their wavelengths."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Positional
from tfm_core.positional.maths import rotary_pairs
from tfm_core.study.position_laws import turned_to_each
from tfm_ui.lenses.positions.panel import EPSILON, OneSide, WavesPanel, in_positions
from tfm_ui.lenses.positions.schemes import lone_scheme, spaced
from tfm_ui.lenses.positions.state import PREFIX
from tfm_ui.live.script import script
from tfm_ui.pictures.canvas import Canvas, Content, Header
from tfm_ui.pictures.figures import MUTED, SMALL, TEMPLATE, colour_of
from tfm_ui.pictures.panel import Source
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


def pairs_of(scheme: Positional) -> Tensor:
    """Which dimensions turn together, int64 (pair, 2); what does not say it turns i and i + width / 2."""
    pairs = scheme.pairs(scheme.d_model)
    return rotary_pairs(scheme.d_model) if pairs is None else pairs


def turned_hands(scheme: Positional, query_position: int, key_position: int) -> tuple[Tensor, Tensor]:
    """A query and a key that both point to the right in each pair, turned to their positions: each (pair, 2)."""
    pairs = pairs_of(scheme)
    unit = torch.zeros(scheme.d_model)
    unit[pairs[:, 0]] = 1.0
    rows = turned_to_each(scheme, unit, max(query_position, key_position) + 1)[[query_position, key_position]]
    query, key = rows[:, pairs]  # cosine and sine
    return query, key


def hands_of_pairs(*, spec: Mapping[str, Any], query_position: int, key_position: int) -> tuple[Tensor, Tensor]:
    """The hands of the query and of the key, each (pair, 2): cosine and sine."""
    query, key = turned_hands(lone_scheme(**spec), query_position, key_position)
    return query, key


class Clocks(OneSide):
    """Two unit vectors per pair of dimensions, turned by one scheme to two positions."""

    places = ("rotate",)
    canvas = CLOCKS

    @property
    def sources(self) -> Sequence[Source]:
        return [*super().sources, type(self.scheme.module).wavelengths]

    @property
    def title(self) -> str:
        return f"{self.scheme.title}, a turn per pair"

    @property
    def how_to_read(self) -> str:
        few = len(self.drawn) < self.pairs
        which_dimensions = "i, i + d/2" if self.in_halves else "2i, 2i + 1"
        which = f" {len(self.drawn)} of the {self.pairs} pairs, evenly chosen." if few else ""
        return (
            f"A circle per pair of dimensions ({which_dimensions}): a query and a key that both pointed right, "
            f"turned by their positions. λ: positions for a full turn.{which}"
        )

    @property
    def shape(self) -> str:
        return formats.plural(self.pairs, "pair")

    @property
    def at(self) -> int:
        """The query's position m."""
        return min(self.state.position, self.state.length - 1)

    @property
    def key_at(self) -> int:
        """The key's position n."""
        return min(self.state.key, self.state.length - 1)

    @cached_property
    def hands(self) -> tuple[Tensor, Tensor]:
        """The query and the key in each pair, each float32 (pair, 2): cosine and sine."""
        return turned_hands(self.scheme.module, self.at, self.key_at)

    @property
    def pairs(self) -> int:
        """How many pairs there are."""
        return len(self.hands[0])

    @property
    def dimensions(self) -> list[tuple[int, int]]:
        """Which two dimensions each pair is."""
        return [(int(first), int(second)) for first, second in pairs_of(self.scheme.module)]

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
        return (self.at - self.key_at) * 2 * math.pi / self.wavelengths

    @property
    def wavelengths(self) -> Tensor:
        """The number of positions in which each pair turns once, float64 (pair)."""
        wavelengths = self.scheme.module.wavelengths(self.scheme.width)
        assert wavelengths is not None
        return wavelengths

    @property
    def dots(self) -> Tensor:
        """The dot product of query and key within each pair, (pair)."""
        query, key = self.hands
        return (query * key).sum(1)

    @classmethod
    def empty(cls) -> Content:
        return _header(pairs=[], count=0, wavelengths=[], query=0, key=0, last=0), np.zeros(0, np.float32)

    def picture(self) -> Content:
        header = _header(
            pairs=self.drawn.tolist(),
            count=self.pairs,
            wavelengths=self.wavelengths[self.drawn].tolist(),
            query=self.at,
            key=self.key_at,
            last=self.state.length - 1,
        )
        if not self.in_halves:
            header["dimensions"] = [self.dimensions[pair] for pair in self.drawn.tolist()]
        numbers = torch.cat([*self.hands, self.between[:, None].float()], 1)[self.drawn]
        return header, numbers.numpy()

    def sentence(self) -> str:
        """How far apart the two stand, in the fastest and in the slowest pair."""
        m, n, last = self.at, self.key_at, self.pairs - 1
        apart = str(m - n).replace("-", "−")
        first, slow = (formats.number(self.between[i].item() / (2 * math.pi)) for i in (0, last))
        angles = f"{first} turns in pair 0" + (f", {slow} in pair {last}" if last else "")
        return (
            f"Query at m = {m}, key at n = {n}, m − n = {apart}: between the two lie "
            f"{angles}. Equal vectors so turned have a dot product of {formats.number(self.dots.sum().item())} of "
            f"{self.pairs}; moving both by as much leaves it as it is."
        )

    def laws(self) -> dict[str, bool]:
        """What holds of rotations. Angles are as large as the positions, and so is their rounding error."""
        rounding = (16 + self.state.length) * EPSILON
        sizes = torch.stack(self.hands).norm(dim=-1)
        return {
            "q·k = cos((m − n) θ) in every pair": (self.dots - self.between.cos()).abs().max().item() <= rounding,
            "turning keeps every length": (sizes - 1).abs().max().item() <= 16 * EPSILON,
        }

    def table(self) -> pd.DataFrame:
        """A row per pair."""
        query, key = self.hands
        columns = {
            "dimensions": [f"{first}, {second}" for first, second in self.dimensions],
            "wavelength": self.wavelengths.tolist(),
            f"cos {self.at}θ": query[:, 0].tolist(),
            f"sin {self.at}θ": query[:, 1].tolist(),
            f"cos {self.key_at}θ (key)": key[:, 0].tolist(),
            f"sin {self.key_at}θ (key)": key[:, 1].tolist(),
            "(m − n)θ in rad": self.between.tolist(),
        }
        return pd.DataFrame(columns).rename_axis("pair")

    def recipe(self) -> str:
        """A script that leaves both in `query` and `key`, (pair, 2)."""
        places = {"query_position": self.at, "key_position": self.key_at}
        return script(hands_of_pairs, spec=self.scheme.spec.arguments, **places)


class ClocksA(Clocks, side="A"):
    """The clocks of A."""


class ClocksB(Clocks, side="B"):
    """The clocks of B."""


def _header(*, query: int, key: int, **more: Any) -> dict[str, Any]:
    asks = {"parameters": {"query": f"{PREFIX}position", "key": f"{PREFIX}key"}, "about": ""}
    return asks | more | {"at": {"query": query, "key": key}}


class Wavelengths(WavesPanel):
    """The wavelengths beside the length of the sequence. From its first position to its last are `length` - 1 steps."""

    title = "Wavelengths"
    how_to_read = (
        "After how many positions each pair of dimensions has turned once; the scale is logarithmic. "
        "Below the thin line, waves that are shorter than the sequence. A solid, B dashed."
    )
    key = "position_waves"
    shape = "2π · base^(2i / d)"

    @property
    def sources(self) -> Sequence[Source]:
        return [type(scheme.module).wavelengths for scheme in self.shown]

    def turned(self, lengths: Tensor) -> int:
        """How many of these waves complete a turn within the positions that are shown."""
        return int((lengths <= self.state.length - 1).sum())

    def picture(self) -> Content:
        return self.chart([self.across("length", self.state.length), *self.curves])

    def sentence(self) -> str:
        """How long the waves are, and how many turn at least once."""
        sentences = []
        same = [scheme.side for scheme in self.shown] == ["A", "B"] and torch.equal(*(waves for _, waves in self.sides))
        for scheme, lengths in self.sides[:1] if same else self.sides:
            first, last = (in_positions(length.item()) for length in (lengths[0], lengths[-1]))
            span = first if len(lengths) == 1 else f"{first} to {last}"
            who, turned = "A and B have the same waves" if same else scheme.title, self.turned(lengths)
            sentences.append(
                f"{who}: {formats.plural(len(lengths), 'wave')} of "
                f"{span} positions; from position 0 to {self.state.length - 1}, {formats.count(turned)} "
                f"{'completes' if turned == 1 else 'complete'} a turn."
            )
        others = [scheme for scheme in self.schemes if scheme not in self.shown and scheme.module.enters()]
        return " ".join([*sentences, *(f"{scheme.title} is not made of waves." for scheme in others)])

    def table(self) -> pd.DataFrame:
        """A row per pair of dimensions."""
        columns = {f"wavelength of {scheme.title}": pd.Series(lengths.numpy()) for scheme, lengths in self.sides}
        return pd.DataFrame(columns).rename_axis("pair i")
