"""What networks of each wiring reach, over their depth."""

import math
from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from tfm_core.training.compare.depth import DepthRun, depth_run, depth_runs
from tfm_ui.lenses.training.deep.panels import COLOURS, DeepPanel, capital, reach, spelled
from tfm_ui.lenses.training.state import GOOD
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

SIDE = 0.025  # of a factor of e: dots of one depth stand side by side


class DeepReached(DeepPanel):
    """The loss or the share of right answers at the end, over depth."""

    title = "At which depth does training fail?"
    sources = (depth_run, depth_runs)

    @property
    def how_to_read(self) -> str:
        """What dots and lines are."""
        return (
            "A dot is a seed, a line joins the medians. Dots of one depth stand a little apart so that none hides "
            "another. The dashed line is guessing."
        )

    @property
    def is_loss(self) -> bool:
        """Whether losses are on screen, rather than shares of right answers."""
        return self.state.good == GOOD[0]

    def value(self, run: DepthRun) -> float:
        """What is drawn of a run; NaN if it ended early."""
        return run.loss if self.is_loss else run.accuracy

    @cached_property
    def guessing(self) -> float:
        """What guessing reaches."""
        return self.kept.guessing if self.is_loss else math.exp(-self.kept.guessing)

    def sentence(self) -> str:
        """Up to which depth each wiring learns, and where training fails."""
        sentences = []
        for warmup in self.warmups:
            parts = [f"{wiring} {reach(self.kept, wiring, warmup)}" for wiring in self.kept.wirings]
            sentences.append(f"{capital(spelled(warmup))}: {'; '.join(parts)}.")
        return " ".join([*sentences, self._ended()]).strip()

    def _ended(self) -> str:
        ended = [run for run in self.kept.runs if run.ended and run.cell.warmup in self.warmups]
        if not ended:
            return ""
        which = formats.listed(sorted({f"{run.cell.wiring} with {run.cell.layers} layers" for run in ended}))
        return f"{formats.plural(len(ended), 'run')} came to a loss that is no finite number, and ended: {which}."

    def laws(self) -> Mapping[str, bool]:
        """What makes the runs comparable."""
        counts = {len(group.runs) for group in self.kept.groups.values()}
        shares = [run.accuracy for run in self.kept.runs if not run.ended]
        return {
            "each wiring was trained at each depth with as many seeds": counts == {len(self.kept.seeds)},
            "each share of right answers lies between 0 and 1": all(0 <= share <= 1 for share in shares),
        }

    def table(self) -> pd.DataFrame:
        """A row per run."""
        rows = [
            {
                "wiring": run.cell.wiring,
                "layers": run.cell.layers,
                "warm-up": run.cell.warmup,
                "seed": run.cell.seed,
                "parameters": run.parameters,
                "held-out loss, nats": run.loss,
                "standard error": run.error,
                "right answers": run.accuracy,
                "came out as": self.outcome(run),
                "ended at step": run.ended or None,
                "seconds": run.seconds,
            }
            for group in self.kept.groups.values()
            for run in group.runs
            if run.cell.warmup in self.warmups
        ]
        return pd.DataFrame(rows)

    def outcome(self, run: DepthRun) -> str:
        """Failed, learned, or between."""
        if run.failed(self.kept.guessing):
            return "failed"
        return "learned" if run.learned else "better than guessing"

    def picture(self) -> Content:
        """A chart for each warm-up: a line for each wiring, and a dot for each seed."""
        return lines.content([self._chart(warmup) for warmup in self.warmups])

    def _chart(self, warmup: int) -> Chart:
        drawn = []
        wirings = self.kept.wirings
        for number, wiring in enumerate(wirings):
            x, y, says = list[float](), list[float](), list[str]()
            medians = list[float]()
            for layers in self.kept.layers:
                runs = self.group(wiring, layers, warmup).runs
                values = sorted(self.value(run) for run in runs if math.isfinite(self.value(run)))
                medians.append(values[len(values) // 2] if values and 2 * len(values) > len(runs) else math.nan)
                beside = math.exp(SIDE * (number - (len(wirings) - 1) / 2))
                for run in runs:
                    x.append(layers * beside)
                    y.append(self.value(run))
                    says.append(f"seed {run.cell.seed}: {formats.number(self.value(run))}, {self.outcome(run)}")
            drawn.append(Line(wiring, self.kept.layers, medians, COLOURS[wiring]))
            drawn.append(Line("", x, y, COLOURS[wiring], "dots", says=says))
        ends = [min(self.kept.layers), max(self.kept.layers)]
        drawn.append(Line("guessing", ends, [self.guessing] * 2, "muted", "dashed"))
        what = "held-out loss, nats" if self.is_loss else "share of right answers"
        return Chart(
            x=f"layers, {spelled(warmup)}",
            y=what,
            lines=drawn,
            x_scale="log2",
            y_scale="log10" if self.is_loss else "linear",
            reach=() if self.is_loss else (0.0, 1.0),
        )
