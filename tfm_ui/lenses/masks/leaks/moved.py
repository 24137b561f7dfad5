"""What moved when one token was changed: after the last layer, after each, and how far away."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_core import hops, leaks, reach_by_layer, reachability, route
from tfm_core.study.leak_test import streams
from tfm_core.study.leaks import Hop, influence_by_part, replacements
from tfm_ui.lenses.masks.composition import parse
from tfm_ui.lenses.masks.leaks.measured import LeaksPanel, all_of
from tfm_ui.lenses.masks.state import AS_COMPOSED, PREFIX
from tfm_ui.page import exact_bar
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.map_scale import from_zero
from tfm_ui.pictures.maps import MASKED, Map
from tfm_ui.text import formats
from tfm_ui.text.ties import one_of_ties

PLAIN = {"causal", "padding", "window"}  # masks that leave a window what it is


class Leaks(LeaksPanel):
    """What was measured after the last layer, beside what is allowed."""

    title = "Change one token: which outputs move?"
    how_to_read = (
        "Each row: the token that is changed into others. Columns: by how much each output, the residual stream after "
        "the last layer, changes at most, in powers of ten. So a key is a row here, and a query a column. Beside it, "
        "from which layer on the mask under “Allowed by” lets an output move."
    )
    sources = (influence_by_part, replacements, streams, reachability, reach_by_layer, hops, leaks, route)

    @property
    def shape(self) -> str:
        return f"token × output = {len(self.rows)} × {len(self.columns)}, each token changed into {self.plan.tries}"

    @property
    def locked(self) -> bool:
        return self.locked_cell is not None

    def sentence(self) -> str:
        """Whether there are leaks, and the way of the locked cell, or of the largest leak."""
        cell = self.locked_cell or self.worst
        sentences = [self.of_part, self._verdict(), self._unmoved(), self._about(*cell) if cell else ""]
        return " ".join(filter(None, sentences))

    def _verdict(self) -> str:
        moved, allowed = self.moved[-1], self.allowed[-1]
        these = " from these tokens" if self.is_part else ""
        if self.worst:
            row, column = self.worst
            promise, count = f"“{self.state.promise}” forbids", int(self.leaking.sum())
            if self.state.promise == AS_COMPOSED:
                promise = "the masks as composed forbid"
            alike = one_of_ties(len(self.largest))
            more = (
                f"; {formats.count(count)} leaks{these or ' in all'}, this is the largest{alike}"
                if count > 1
                else f", the only leak{these}"
            )
            more += f", and {formats.count(self.most_marked)} are crossed out" if count > self.most_marked else ""
            token, output = self.token(row), self.output(column)
            return (
                f"Leak: {output} moves by up to {formats.number(moved[row, column])} when {token} changes, which "
                f"{promise}{more}."
            )
        count, of_them = int(allowed.sum()), int((self.moves[-1] & allowed).sum())
        pairs = f"allowed pair{'s' * (count != 1)} moved"
        of = f"all {formats.count(count)} {pairs}" if count == of_them > 1 else ""
        of = of or f"{formats.count(of_them)} of {formats.count(count)} {pairs}"
        if allowed.all():
            return f"No leak is possible{these}, as every pair is allowed: {of}."
        most, rest = moved[~allowed].max(), int((~allowed).sum())
        by = f"moved by rounding only, at most {formats.tiny(most)}" if most else "did not move at all"
        return f"No leak{these}: {of}; the {formats.plural(rest, 'forbidden one')} {by}."

    def _unmoved(self) -> str:
        """What was allowed and did not move: why."""
        still = self.allowed[-1] & ~self.moves[-1]
        if not still.any():
            return ""
        hidden = int((still & ~self.within[-1]).sum())
        faint = int(still.sum()) - hidden
        said = [f"{formats.count(hidden)} because the mask forbids more than what is tested against"] * bool(hidden)
        said += [f"{formats.count(faint)} because what arrives is too small to tell from rounding"] * bool(faint)
        return f"Allowed pairs that did not move: {' and '.join(said)}."

    def _about(self, row: int, column: int) -> str:
        """One cell, and how the token came to the output."""
        token, output = self.token(row), self.output(column)
        way = self.way(self.setting.mask)
        places = route(way, self.plan.places[row], column)
        if not places:
            return (
                f"Locked: {token} does not move {output}, because the masks leave no path." if self.locked_cell else ""
            )
        by = formats.number(self.moved[-1, row, column])
        by = f"by {by}" if self.moves[-1, row, column] else f"by no more than rounding ({by})"
        said = f"Locked: {token} moves {output} {by}. " if self.locked_cell else ""
        return said + self._path(way, places, token)

    def _path(self, way: Sequence[Hop], places: Sequence[int], start: str) -> str:
        """The moves of a way, and which of them are not allowed.

        Args:
            way: what the mask lets information do.
            places: where it stands at first and after each hop, as of `route`.
            start: what stands first, in words.
        """
        said, wrong = [start], []
        for hop, may, came, place in zip(way, self.way(self.promise), places, places[1:], strict=False):
            if came != place or hop.where == "cross":  # there, the places are another text's
                said.append(f"{self._place(hop, place)} in {_layer(hop)}")
            if not may.sees[place, came]:
                wrong.append(_layer(hop))
        moves = " → ".join(said) if len(said) > 1 else f"{start} stays where it is, in the residual stream"
        steps = f"the step{'s' * (len(wrong) > 1)} in {formats.listed(wrong)}"
        return f"Its path: {moves}.{f' What is allowed leaves out {steps}.' if wrong else ''}"

    def _place(self, hop: Hop, place: int) -> str:
        """What a hop writes to."""
        if hop.where == "encoder":
            return f"encoder output {place + 1} “{self.names[1][place]}”"
        return self.output(place)

    def laws(self) -> dict[str, bool]:
        """What was measured of what is allowed, of the mask itself, and of padding; nothing of what is not there."""
        laws = {}
        if not self.allowed[-1].all():
            count = int(self.leaking.sum())
            how_many = f" ({formats.count(count)} leak{'s' * (count > 1)})" if count else ""
            laws[f"every output that moved was allowed to{how_many}"] = not count
        if not self.within.all():
            most = float(self.moved[~self.within].max())
            laws[
                "what the mask keeps apart moves by rounding alone, in every layer: at most "
                f"{formats.tiny(most)} (more than {formats.tiny(self.influence.tolerance)} counts as moved)"
            ] = most <= self.influence.tolerance
        return laws | self._of_padding()

    def _of_padding(self) -> dict[str, bool]:
        """What a padding mask is there for."""
        setting, places = self.setting, self.plan.places
        real = len(setting.queries.pieces)
        pads = [row for row, place in enumerate(places) if place >= len(setting.keys.pieces)]
        if not pads:
            return {}
        most = float(self.moved[-1, pads, :real].max())
        change = formats.number(most) if most else "0"
        law = f"another token in place of a PAD moves no output of a real token (largest change {change})"
        return {law: most <= self.influence.tolerance}

    def picture(self) -> Content:
        """What moved after the last layer, beside after which layer it is allowed to."""
        arrives = np.where(self.allowed[-1], self.allowed.shape[0] - self.allowed.sum(0) + 1.0, MASKED)
        drawn = [
            Map(name="measured: largest change", values=self.cells(-1), scale=self.scale),
            Map(
                name="allowed: from this layer on",
                values=arrives.astype(np.float32),
                scale=from_zero(float(len(self.allowed))),
                unit="layers",
                whole=True,
            ),
        ]
        crosses = [(0, row, column) for row, column in self.crossed_out(-1, self.most_marked)]
        return self.maps(drawn, crosses)

    def tools(self) -> None:
        """Draw the button that computes all of it, where a part is measured."""
        if exact := all_of(self.model, self.state):
            exact_bar.draw(exact, self.state.whole, PREFIX)


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
        layers = formats.plural(len(self.layers), "layer")
        (back, moved_back), (ahead, moved_ahead) = self.reaches["back"], self.reaches["ahead"]
        measured = f"up to {self._far(moved_back[-1])} back and {self._far(moved_ahead[-1])} ahead of it"
        allowed = f"allowed: {back[-1]} and {ahead[-1]}"
        said = f"Through {layers} an output moved with a {self.of_source}token {measured}; {allowed}. {self._fading()}"
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


def _layer(hop: Hop) -> str:
    layer = f"layer {hop.layer + 1}"
    return {"encoder": f"encoder {layer}", "cross": f"{layer} (cross-attention)", "self": layer}[hop.where]
