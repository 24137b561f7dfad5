"""How far information travels, layer by layer: what has moved after each, how far away, and by how much."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tfm_ui.lenses.masks.composition import parse
from tfm_ui.lenses.masks.leaks.measured import Measurement
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

PLAIN = {"causal", "padding", "window"}  # masks that leave a window what it is


@dataclass(frozen=True)
class Travel(Result):
    """The same measurement, by layer and by distance. Distances are output - token: below 0 the token lies ahead."""

    measured: Measurement

    @property
    def one_text(self) -> bool:
        """Whether tokens and outputs are of one text; of two, places are compared."""
        return self.measured.setting.place != "cross"

    @property
    def read(self) -> int:
        """How many outputs are of no padding."""
        return len(self.measured.setting.queries.pieces)

    @cached_property
    def real(self) -> int:
        """How many of the tokens that are changed are no padding."""
        return sum(place < len(self.measured.setting.keys.pieces) for place in self.measured.plan.places)

    @cached_property
    def distance(self) -> NDArray[np.intp]:
        """(token, output), without padding."""
        return np.asarray(np.arange(self.read) - np.array(self.measured.plan.places[: self.real])[:, None])

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
            name: (self.farthest(self.measured.allowed, ahead=ahead), self.farthest(self.measured.moves, ahead=ahead))
            for name, ahead in (("back", False), ("ahead", True))
        }

    @cached_property
    def effects(self) -> dict[str, tuple[list[int], list[float]]]:
        """ "largest" and "median" -> distances, and the effect of those that moved, after the last layer."""
        moves = self.measured.moves[-1, : self.real, : self.read]
        effect = self.measured.moved[-1, : self.real, : self.read]
        by_distance = {int(d): effect[moves & (self.distance == d)] for d in np.unique(self.distance[moves])}
        return {
            name: (list(by_distance), [float(of(values)) for values in by_distance.values()])
            for name, of in (("largest", np.max), ("median", np.median))
        }

    def sentence(self) -> str:
        """How far, at the end."""
        layers = formats.plural(len(self.measured.layers), "layer")
        (back, moved_back), (ahead, moved_ahead) = self.reaches["back"], self.reaches["ahead"]
        token = "token" if self.one_text else "source token"
        measured = f"up to {self._far(moved_back[-1])} back and {self._far(moved_ahead[-1])} ahead of it"
        allowed = f"allowed: {back[-1]} and {ahead[-1]}"
        said = f"Through {layers} an output moved with a {token} {measured}; {allowed}. {self._fading()}"
        return f"{self.measured.of_part} {said}".strip()

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
        setting = self.measured.setting
        terms = parse(setting.composition)[0]
        windows = [term.numbers[0] for term in terms if term.name == "window"]
        pure = not setting.paint and {t.name for t in terms} <= PLAIN and all(t.how == "and" for t in terms)
        if len(windows) != 1 or not pure or not self.one_text:
            return {}
        width = windows[0]
        # Less far than the window reaches is no breach: far effects may be too faint to be measured.
        reached = zip(self.reaches["back"][1], self.measured.layers, strict=True)
        return {
            f"a window of {width} reaches no further back than {width - 1} · l tokens after layer l": all(
                back <= (width - 1) * layer for back, layer in reached
            )
        }

    def table(self) -> pd.DataFrame:
        """A row per layer."""
        columns: dict[str, list[int]] = {}
        for name, (allowed, measured) in self.reaches.items():
            columns |= {f"farthest {name}, allowed": allowed, f"farthest {name}, measured": measured}
        counts = {
            "pairs moved": self.measured.moves.sum((1, 2)).tolist(),
            "pairs allowed": self.measured.allowed.sum((1, 2)).tolist(),
        }
        return pd.DataFrame(columns | counts, index=pd.Index(self.measured.layers, name="layer"))

    def recipe(self) -> str:
        """A script that measures the same."""
        return self.measured.recipe()
