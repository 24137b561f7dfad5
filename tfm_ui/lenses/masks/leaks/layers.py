"""What has moved after each layer, and how far information travels: how far away, and by how much."""

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.masks.composition import parse
from tfm_ui.lenses.masks.leaks.measured import LeaksPanel
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.maps import Map
from tfm_ui.text import formats

PLAIN = {"causal", "padding", "window"}  # masks that leave a window what it is


class LeaksLayers(LeaksPanel):
    """The same measurement after each layer."""

    title = "Layer by layer"
    how_to_read = "The same after each layer: information goes one step of the mask further in each."

    @property
    def shape(self) -> str:
        return f"{len(self.moved)} × token × output"

    @property
    def crosses(self) -> int:
        """How many leaks are marked after each layer, at most."""
        return self.most_marked // len(self.moves)

    def sentence(self) -> str:
        """How many pairs have moved after each layer."""
        moves, may_move = self.moves, self.allowed
        counts, allowed = ([formats.count(int(layer.sum())) for layer in layers] for layers in (moves, may_move))
        last, pairs = len(counts), self.leaking.size
        where = f"after layers 1 {'and' if last == 2 else 'to'} {last}" if last > 1 else "after the only layer"
        alike = (moves == may_move).all()
        kept = "exactly those that are allowed to" if alike else f"{_each(allowed)} are allowed to"
        many = self.leaking_behind.sum((1, 2)).max() > self.crosses
        crossed = f" Of the leaks after a layer {formats.count(self.crosses)} at most are crossed out." if many else ""
        said = f"Of {formats.count(pairs)} pair{'s' * (pairs != 1)} {_each(counts)} moved {where}; {kept}.{crossed}"
        return f"{self.of_part} {said}".strip()

    def picture(self) -> Content:
        """What has moved after each layer."""
        scale, layers = self.scale, range(len(self.moved))
        drawn = [
            Map(name=f"after layer {layer + 1}", values=self.cells(layer), scale=scale, unit="largest change")
            for layer in layers
        ]
        return self.maps(drawn, [(layer, *cell) for layer in layers for cell in self.crossed_out(layer, self.crosses)])


class LeaksDistance(LeaksPanel):
    """The same measurement, by layer and by distance. Distances are output - token: below 0 the token lies ahead."""

    title = "How far information travels"
    how_to_read = (
        "First, by layer, the farthest tokens that an output moved with, back and ahead of it; then by how much "
        "outputs moved, by distance. Padding is left out."
    )
    canvas = CHART

    @property
    def one_text(self) -> bool:
        """Whether tokens and outputs are of one text; of two, places are compared."""
        return self.setting.place != "cross"

    @property
    def read(self) -> int:
        """How many outputs are of no padding."""
        return len(self.setting.queries.pieces)

    @cached_property
    def real(self) -> int:
        """How many of the tokens that are changed are no padding."""
        return sum(place < len(self.setting.keys.pieces) for place in self.plan.places)

    @cached_property
    def distance(self) -> NDArray[np.intp]:
        """(token, output), without padding."""
        return np.asarray(np.arange(self.read) - np.array(self.plan.places[: self.real])[:, None])

    def farthest(self, there: NDArray[np.bool_], *, ahead: bool) -> list[int]:
        """How far a token acts at most, after each layer.

        Args:
            there: boolean (layer, token, output).
            ahead: on outputs before it, to which it lies ahead; or on those after it.
        """
        distance = -self.distance if ahead else self.distance
        return [int(np.where(layer, distance, 0).max(initial=0)) for layer in there[:, : self.real, : self.read]]

    @cached_property
    def reaches(self) -> dict[str, tuple[list[int], list[int]]]:
        """ "back" and "ahead" -> the farthest allowed and the farthest measured, by layer."""
        return {
            name: (self.farthest(self.allowed, ahead=ahead), self.farthest(self.moves, ahead=ahead))
            for name, ahead in (("back", False), ("ahead", True))
        }

    @cached_property
    def effects(self) -> dict[str, tuple[list[int], list[float]]]:
        """ "largest" and "median" -> distances, and the effect of those that moved, after the last layer."""
        moves = self.moves[-1, : self.real, : self.read]
        effect = self.moved[-1, : self.real, : self.read]
        by_distance = {int(d): effect[moves & (self.distance == d)] for d in np.unique(self.distance[moves])}
        return {
            name: (list(by_distance), [float(of(values)) for values in by_distance.values()])
            for name, of in (("largest", np.max), ("median", np.median))
        }

    def sentence(self) -> str:
        """How far, at the end."""
        layers = formats.plural(len(self.layers), "layer")
        (back, moved_back), (ahead, moved_ahead) = self.reaches["back"], self.reaches["ahead"]
        token = "token" if self.one_text else "source token"
        measured = f"up to {self._far(moved_back[-1])} back and {self._far(moved_ahead[-1])} ahead of it"
        allowed = f"allowed: {back[-1]} and {ahead[-1]}"
        said = f"Through {layers} an output moved with a {token} {measured}; {allowed}. {self._fading()}"
        return f"{self.of_part} {said}".strip()

    def _fading(self) -> str:
        distances, largest = self.effects["largest"]
        by = {abs(d): max(v for at, v in zip(distances, largest, strict=True) if abs(at) == abs(d)) for d in distances}
        near, far = min(by, default=0), max(by, default=0)
        if near == far:
            return ""
        return (
            f"At a distance of {self._far(near)} the largest change is {formats.number(by[near])}, "
            f"at {self._far(far)} {formats.number(by[far])}."
        )

    def _far(self, count: int) -> str:
        return formats.plural(count, "token" if self.one_text else "place")

    def laws(self) -> dict[str, bool]:
        """The reach of a window, if the mask is one."""
        setting = self.setting
        terms = parse(setting.composition)[0]
        windows = [term.numbers[0] for term in terms if term.name == "window"]
        pure = not setting.paint and {t.name for t in terms} <= PLAIN and all(t.how == "and" for t in terms)
        if len(windows) != 1 or not pure or not self.one_text:
            return {}
        width = windows[0]
        # Less far than the window reaches is no breach: far effects may be too faint to be measured.
        reached = zip(self.reaches["back"][1], self.layers, strict=True)
        return {
            f"a window of {width} reaches no further back than {width - 1} · l tokens after layer l": all(
                back <= (width - 1) * layer for back, layer in reached
            )
        }

    def picture(self) -> Content:
        """How far tokens act, layer by layer, and how much, by distance."""
        unit = "tokens" if self.one_text else "places"
        charts = [
            Chart(
                "layer",
                f"farthest {name}, {unit}",
                [
                    Line("allowed", self.layers, allowed, "muted", "dashed"),
                    Line("measured", self.layers, measured, "result"),
                ],
                reach=(0, 1),
            )
            for name, (allowed, measured) in self.reaches.items()
        ]
        colours = {"largest": "result", "median": "muted"}
        effects = [Line(name, *points, colours[name]) for name, points in self.effects.items()]
        charts.append(
            Chart(f"output − token, in {unit}; below 0 it lies ahead", "change of the output", effects, y_scale="log10")
        )
        return lines.content(charts)

    def table(self) -> pd.DataFrame:
        """A row per layer."""
        columns: dict[str, list[int]] = {}
        for name, (allowed, measured) in self.reaches.items():
            columns |= {f"farthest {name}, allowed": allowed, f"farthest {name}, measured": measured}
        counts = {
            "pairs moved": self.moves.sum((1, 2)).tolist(),
            "pairs allowed": self.allowed.sum((1, 2)).tolist(),
        }
        return pd.DataFrame(columns | counts, index=pd.Index(self.layers, name="layer"))


def _each(counts: list[str]) -> str:
    """All of them, or the one that they are if they are alike."""
    return formats.listed(counts if len(set(counts)) > 1 else counts[:1])
