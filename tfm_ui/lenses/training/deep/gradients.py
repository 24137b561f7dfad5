"""The length of the gradient at each layer's parameters, at a step."""

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import cached_property

import pandas as pd

from tfm_core.training.compare.depth import depth_run, length
from tfm_ui.lenses.training.deep.panels import COLOURS, DeepPanel, capital, spelled
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

FAR = 1e4  # a wiring with gradients so many times as long as the usual ones has charts of its own


class DeepGradients(DeepPanel):
    """The gradient of the loss at all parameters of a layer, over layers."""

    sources = (depth_run, length)

    @property
    def title(self) -> str:
        return f"Gradients at step {self.step}, {formats.plural(self.depth, 'layer')}"

    @property
    def how_to_read(self) -> str:
        """Which number it is, and what is drawn apart."""
        apart = ""
        if self.apart:
            names = formats.listed(self.apart)
            apart = f" The longest, those of {names}, have charts of their own below, with another axis."
        return (
            "Over the layers from the input to the output, on a log axis: the Frobenius norm of the gradient of the "
            f"batch’s loss at all parameters of a layer, before step {self.step} is made; the median over the seeds."
            f"{apart}"
        )

    @property
    def step(self) -> int:
        """The step on screen: the one that the control names, or the last before it that was looked at."""
        looked_at = self.kept.recipe.looked_at
        return max((step for step in looked_at if step <= self.state.at), default=looked_at[0])

    def row(self, wiring: str, warmup: int) -> list[float]:
        """A number for each layer; none if no run came so far."""
        return self.group(wiring, self.depth, warmup).gradient(self.step)

    def sentence(self) -> str:
        """How the last layer's gradient compares with the first one's."""
        sentences = []
        for warmup in self.warmups:
            parts = [f"{wiring} {self._ends(self.row(wiring, warmup))}" for wiring in self.kept.wirings]
            sentences.append(f"{capital(spelled(warmup))}: {'; '.join(parts)}.")
        same = " Before the first step a warm-up has changed nothing: both are alike." if self._is_same else ""
        return f"First layer and last layer. {' '.join(sentences)}{same}"

    @property
    def _is_same(self) -> bool:
        return self.step == 1 and len(self.warmups) > 1

    def _ends(self, row: list[float]) -> str:
        if not row:
            return "ended before"
        return f"{_written(row[0])} and {_written(row[-1])}"

    def laws(self) -> Mapping[str, bool]:
        """Lengths are not negative, and before the first step a warm-up has changed nothing."""
        rows = {
            (wiring, warmup): self.group(wiring, self.depth, warmup).gradient(1)
            for wiring in self.kept.wirings
            for warmup in self.kept.warmups
        }
        same = all(rows[wiring, warmup] == rows[wiring, self.kept.warmups[0]] for wiring, warmup in rows)
        lengths = [each for wiring in self.kept.wirings for warmup in self.warmups for each in self.row(wiring, warmup)]
        return {
            "no length is negative": all(each >= 0 or math.isnan(each) for each in lengths),
            "before the first step, a warm-up has changed nothing": same,
        }

    def table(self) -> pd.DataFrame:
        """A row per wiring, warm-up and layer."""
        rows = [
            {"wiring": wiring, "warm-up": warmup, "layer": number, "all parameters": each, "last matrix": matrix}
            for warmup in self.warmups
            for wiring in self.kept.wirings
            for number, (each, matrix) in enumerate(
                zip(
                    self.row(wiring, warmup),
                    self.group(wiring, self.depth, warmup).gradient(self.step, matrices=True),
                    strict=True,
                ),
                1,
            )
        ]
        return pd.DataFrame(rows, columns=["wiring", "warm-up", "layer", "all parameters", "last matrix"])

    @cached_property
    def apart(self) -> list[str]:
        """The wirings whose gradients explode: beside them all others would be flat."""
        rows = {wiring: [self.row(wiring, warmup) for warmup in self.warmups] for wiring in self.kept.wirings}
        tops = {wiring: max(itertools.chain(*each), default=0.0) for wiring, each in rows.items()}
        usual = sorted(tops.values())[len(tops) // 2]
        return [wiring for wiring, top in tops.items() if top > FAR * usual]

    def picture(self) -> Content:
        """A chart for each warm-up, and one more for each warm-up with what is drawn apart."""
        others = [wiring for wiring in self.kept.wirings if wiring not in self.apart]
        return lines.content(
            [self._chart(warmup, wirings) for wirings in filter(None, (others, self.apart)) for warmup in self.warmups]
        )

    def _chart(self, warmup: int, wirings: Sequence[str]) -> Chart:
        drawn, reach = list[Line](), list[float]()
        for wiring in wirings:
            reach += itertools.chain(*(self.row(wiring, each) for each in self.warmups))  # the same axis for all
            if row := self.row(wiring, warmup):
                drawn.append(Line(wiring, range(1, len(row) + 1), row, COLOURS[wiring]))
        return Chart(f"layer, {spelled(warmup)}", "norm of the gradient", drawn, y_scale="log10", reach=reach)


def _written(value: float) -> str:
    return formats.weight(value) if 0.001 <= value < 1000 else formats.tiny(value)
