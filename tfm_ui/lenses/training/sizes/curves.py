"""The loss during training, of each size at one amount of prose."""

from collections.abc import Mapping

import pandas as pd

from tfm_core.training.prose.size_table import SizeRun, read
from tfm_ui.lenses.training.sizes.panels import COLOURS, SizesPanel, compact
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats


class SizesCurves(SizesPanel):
    """Held-out and training losses over steps."""

    sources = (read,)
    how_to_read = (
        "Loss over steps: solid lines are held-out prose, dashed lines the prose that is trained on, with dropout. "
        "Where the dashed line lies far below the solid one, the model learns its prose by heart."
    )

    @property
    def title(self) -> str:
        return f"Loss during training on {compact(self.amount)} tokens"

    @property
    def shown(self) -> list[SizeRun]:
        """The runs of the amount of prose on screen."""
        return [run for run in self.runs if run.tokens == self.amount]

    def sentence(self) -> str:
        """How far losses still fell, and how far training is below held-out."""
        parts = [
            f"{compact(run.parameters)} parameters: {run.loss:.3f} nats at step {formats.count(run.best_step)}, "
            f"{'still fell' if run.still_falling > 0 else 'rose'} by {abs(run.still_falling):.3f} at the end, "
            f"training loss {run.training_loss:.3f}"
            for run in self.shown
        ]
        times = self.shown[0].read / self.amount
        return f"{'; '.join(parts)}. Each token was read {times:.1f} times on average."

    def laws(self) -> Mapping[str, bool]:
        """Steps grow."""
        return {
            "points follow each other": all(
                [step for step, *_ in run.curve] == sorted({step for step, *_ in run.curve}) for run in self.shown
            )
        }

    def table(self) -> pd.DataFrame:
        """A row per run and point."""
        rows = [
            {"parameters": run.parameters, "step": step, "training loss": training, "held-out loss": held_out}
            for run in self.shown
            for step, training, held_out in run.curve
        ]
        return pd.DataFrame(rows)

    def recipe(self) -> str:
        return ""

    def picture(self) -> Content:
        """Two lines for each size."""
        drawn = []
        for run in self.shown:
            steps, training, held_out = zip(*run.curve, strict=True)
            colour, name = (
                COLOURS[self.sizes.index(run.parameters) % len(COLOURS)],
                f"{compact(run.parameters)} parameters",
            )
            drawn.append(Line(name, steps, held_out, colour))
            drawn.append(Line("", steps, training, colour, "dashed"))
        return lines.content([Chart("step", "loss, nats a token", drawn)])
