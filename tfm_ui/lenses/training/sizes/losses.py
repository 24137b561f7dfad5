"""The loss over the number of parameters, or over the amount of prose."""

import math
from collections.abc import Mapping

import pandas as pd
import torch

from tfm_core.training.prose.scaling import DRAWS, HOFFMANN, KAPLAN, LEVEL, STEEPEST, law, power_law
from tfm_core.training.prose.size_table import SizeRun
from tfm_ui.lenses.training.sizes.panels import COLOURS, SizesPanel, axis, compact, lab_gpt_figures, within
from tfm_ui.lenses.training.state import OVER
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats


class SizesLosses(SizesPanel):
    """A dot for each run, lines of the law, and Lab GPT as it ships."""

    sources = (law, power_law)

    @property
    def over_data(self) -> bool:
        """Whether x is the amount of prose."""
        return self.state.over == OVER[1]

    @property
    def title(self) -> str:
        return "Loss over the amount of prose" if self.over_data else "Loss over the number of parameters"

    @property
    def how_to_read(self) -> str:
        """What dots and lines are."""
        lines_are = "a size of model" if self.over_data else "an amount of prose"
        return (
            f"A dot is a run, on log axes; a colour is {lines_are}. Lines are the law L(N, D) through all runs; thin "
            f"lines, around the largest, hold {formats.percent(LEVEL)} of {DRAWS} fits that weigh the runs at random."
        )

    def sentence(self) -> str:
        """The powers that were fitted, beside those of the papers."""
        parts = [self.of_size(), self._data(), self._both(), self._shipped()]
        return " ".join(filter(None, parts))

    def of_size(self) -> str:
        """The power of size, counted with and without embeddings."""
        if not (self.by_size and self.by_layers):
            return ""
        return (
            f"With {compact(self.amounts[-1])} tokens the loss falls as parameters to the power "
            f"−{within(self.by_size.power, self.by_size.interval())}; counted without embeddings, as Kaplan et al. "
            f"2020 do, −{within(self.by_layers.power, self.by_layers.interval())}, where they found "
            f"−{KAPLAN['alpha']}."
        )

    def _data(self) -> str:
        if not self.by_data:
            return ""
        told = within(self.by_data.power, self.by_data.interval())
        return (
            f"With {compact(self.largest)} parameters it falls as tokens of prose to the power −{told}; Kaplan et al. "
            f"found −{KAPLAN['beta']}."
        )

    def _both(self) -> str:
        if not self.law:
            return ""
        told = ", ".join(
            f"{sign} = {within(self.law[name], self.law.interval(name), most)} beside {HOFFMANN[name]}"
            for name, sign, most in (("alpha", "α", STEEPEST), ("beta", "β", STEEPEST), ("E", "E", math.inf))
        )
        cannot = " The interval of E is so wide that these runs do not tell a least loss." if self.is_open else ""
        law = f"L(N, D) = E + A / N^α + B / D^β has {told} (Hoffmann et al. 2022)"
        return f"{law}; it misses a run by up to {self.misses:.2f} nats.{cannot}"

    @property
    def is_open(self) -> bool:
        """Whether the interval of E is wider than a quarter of the lowest loss."""
        if not self.law:
            return True
        low, high = self.law.interval("E")
        return high - low > 0.25 * min(run.loss for run in self.runs)

    @property
    def shipped(self) -> tuple[int, int, float]:
        """Parameters, tokens and loss of Lab GPT as it ships, nats a token."""
        figures = lab_gpt_figures()
        nats = figures["bits_per_byte"]["Lab GPT"] * self.runs[0].nats_per_bit
        return int(figures["parameters"]), int(figures["tokens"]["training"]), float(nats)

    def _shipped(self) -> str:
        figures = lab_gpt_figures()
        parameters, _, loss = self.shipped
        return (
            f"Lab GPT as it ships ({compact(parameters)} parameters, {loss:.2f} nats) was trained "
            f"for {formats.count(figures['recipe']['steps'])} steps, partly on windows that repeat, and is no part "
            "of the fit."
        )

    def laws(self) -> Mapping[str, bool]:
        """What holds of the table."""
        per_bit = [run.nats_per_bit for run in self.runs]
        return {
            "all runs are measured on the same held-out prose": max(per_bit) - min(per_bit) < 1e-6 * max(per_bit),
            "each loss is the lowest of its curve": all(
                abs(run.loss - min(loss for _, _, loss in run.curve)) < 1e-6 for run in self.runs
            ),
        }

    def table(self) -> pd.DataFrame:
        """A row per run."""
        rows = [
            {
                "d_model": run.d_model,
                "parameters": run.parameters,
                "of the layers": run.layer_parameters,
                "tokens of prose": run.tokens,
                "steps": run.steps,
                "tokens read": run.read,
                "held-out loss, nats a token": run.loss,
                "by the law": expected,
                "bits per byte": run.bits_per_byte,
                "training loss": run.training_loss,
                "lowest at step": run.best_step,
                "still fell by": run.still_falling,
                "seconds": run.seconds,
            }
            for run, expected in zip(self.runs, self.by_law, strict=True)
        ]
        return pd.DataFrame(rows)

    def picture(self) -> Content:
        """A line for each amount of prose over parameters, or for each size over tokens."""
        return lines.content([self._chart()])

    def x(self, run: SizeRun) -> int:
        """Where a run stands on the axis."""
        return run.tokens if self.over_data else run.parameters

    def _chart(self) -> Chart:
        series = self.sizes if self.over_data else self.amounts
        every_x = self.amounts if self.over_data else self.sizes
        drawn = []
        for number, value in enumerate(series):
            runs = [run for run in self.runs if (run.parameters if self.over_data else run.tokens) == value]
            name = f"{compact(value)} {'parameters' if self.over_data else 'tokens'}"
            colour = COLOURS[number % len(COLOURS)]
            says = [f"{run.loss:.3f} nats, {formats.count(self.x(run))}" for run in runs]
            drawn.append(
                Line(name, [self.x(run) for run in runs], [run.loss for run in runs], colour, "dots", says=says)
            )
            if self.law and len(every_x) > 1:
                drawn += self._law_lines(value, colour, with_interval=value == series[-1])
        parameters, tokens, loss = self.shipped
        at = tokens if self.over_data else parameters
        drawn.append(Line("Lab GPT as it ships", [at], [loss], "ink", "dots"))
        what = "tokens of prose" if self.over_data else "parameters"
        return Chart(what, "held-out loss, nats a token", drawn, x_scale="log10", y_scale="log10")

    def _law_lines(self, value: int, colour: str, *, with_interval: bool) -> list[Line]:
        assert self.law
        every_x = self.amounts if self.over_data else self.sizes
        x = axis(min(every_x), max(every_x))
        others = torch.full_like(x, value)
        both = (others, x) if self.over_data else (x, others)
        band = self.law.band(*both) if with_interval else ()  # those of all would lie upon each other
        edges = [Line("", x.tolist(), edge.tolist(), colour, "thin") for edge in band]
        return [Line("", x.tolist(), self.law.at(*both).tolist(), colour), *edges]
