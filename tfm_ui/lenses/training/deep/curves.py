"""The loss curves of one depth."""

from collections.abc import Mapping
from statistics import median

import pandas as pd

from tfm_core.training.compare.depth import APART, DepthRun, depth_run
from tfm_ui.lenses.training.deep.panels import COLOURS, DeepPanel, capital, spelled
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats


class DeepCurves(DeepPanel):
    """The loss on held-out examples during training, of networks of one depth."""

    sources = (depth_run,)

    @property
    def title(self) -> str:
        return f"Loss during training, {formats.plural(self.depth, 'layer')}"

    how_to_read = (
        "Held-out loss over steps; the strong line is the median of the seeds, thin lines are the seeds. The dashed "
        "line is the loss of guessing. A run that came to no finite number ends there."
    )

    def runs(self, wiring: str, warmup: int) -> tuple[DepthRun, ...]:
        """One run for each seed."""
        return self.group(wiring, self.depth, warmup).runs

    def curve(self, wiring: str, warmup: int) -> tuple[list[int], list[float]]:
        """The steps, and the median of the losses that there are."""
        losses: dict[int, list[float]] = {}
        for run in self.runs(wiring, warmup):
            for step, loss, _ in run.points:
                losses.setdefault(step, []).append(loss)
        return list(losses), [median(values) for values in losses.values()]

    @property
    def every_loss(self) -> list[float]:
        """All losses on screen, so that the charts have the same axis."""
        runs = [run for warmup in self.warmups for wiring in self.kept.wirings for run in self.runs(wiring, warmup)]
        return [loss for run in runs for _, loss, _ in run.points]

    def halved_at(self, wiring: str, warmup: int) -> int | None:
        """The first step at which the median is below half of the loss of guessing; None if there is none."""
        steps, losses = self.curve(wiring, warmup)
        half = self.kept.guessing / 2
        return next((step for step, loss in zip(steps, losses, strict=True) if loss < half), None)

    def sentence(self) -> str:
        """When each wiring gets below half of the loss of guessing."""
        sentences = []
        for warmup in self.warmups:
            steps = {wiring: self.halved_at(wiring, warmup) for wiring in self.kept.wirings}
            parts = [f"{wiring} {f'after {step} steps' if step else 'never'}" for wiring, step in steps.items()]
            sentences.append(f"{capital(spelled(warmup))}: {', '.join(parts)}.")
        return f"When the median loss is below half of that of guessing. {' '.join(sentences)}"

    def laws(self) -> Mapping[str, bool]:
        """Drawn weights are where all curves of a seed and wiring begin, with and without a warm-up."""
        starts: dict[tuple[str, int], set[float]] = {}
        for warmup in self.kept.warmups:
            for wiring in self.kept.wirings:
                for run in self.runs(wiring, warmup):
                    starts.setdefault((wiring, run.cell.seed), set()).add(run.points[0][1])
        return {
            "with and without a warm-up, a seed begins with the same loss": all(len(s) == 1 for s in starts.values())
        }

    def table(self) -> pd.DataFrame:
        """A row per run and point."""
        rows = [
            {
                "wiring": wiring,
                "warm-up": warmup,
                "seed": run.cell.seed,
                "step": step,
                "held-out loss, nats": loss,
                "right answers": accuracy,
                f"training loss, mean of {APART} steps": run.losses[step // APART - 1] if step else None,
            }
            for warmup in self.warmups
            for wiring in self.kept.wirings
            for run in self.runs(wiring, warmup)
            for step, loss, accuracy in run.points
        ]
        return pd.DataFrame(rows)

    def picture(self) -> Content:
        """A chart for each warm-up."""
        return lines.content([self._chart(warmup) for warmup in self.warmups])

    def _chart(self, warmup: int) -> Chart:
        drawn = []
        for wiring in self.kept.wirings:
            for run in self.runs(wiring, warmup):
                steps, losses, _ = zip(*run.points, strict=True)
                drawn.append(Line("", steps, losses, COLOURS[wiring], "thin"))
            steps_of_all, medians = self.curve(wiring, warmup)
            drawn.append(Line(wiring, steps_of_all, medians, COLOURS[wiring]))
        last = self.kept.recipe.steps
        drawn.append(Line("guessing", [0, last], [self.kept.guessing] * 2, "muted", "dashed"))
        marks = {"warm-up ends": float(warmup)} if warmup else {}
        return Chart(
            f"step, {spelled(warmup)}",
            "held-out loss, nats",
            drawn,
            y_scale="log10",
            marks=marks,
            reach=self.every_loss,
        )
