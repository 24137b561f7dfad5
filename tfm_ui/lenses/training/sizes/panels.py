"""What the panels of the view "sizes" share: the table of runs, the laws that were fitted, and how it was made."""

import json
import math
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from tfm_core.language import lab_gpt
from tfm_core.training.prose.scaling import Law, Power, law, power_law
from tfm_core.training.prose.size_table import NAME, RUNS, SizeRun, find
from tfm_ui.lenses.training.panels import TrainingPanel
from tfm_ui.lenses.training.state import PARTS, TrainingState
from tfm_ui.live.cache import cached, never
from tfm_ui.live.memory import little
from tfm_ui.live.script import script
from tfm_ui.pictures.chart import CHART
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats

COMMAND = f"python -m tfm_core.training {NAME}"
COLOURS = ("head 1", "head 2", "head 3", "head 4")
Triples = tuple[tuple[int, int, float], ...]  # parameters, tokens and loss of each run


def fitted_law(*, runs: Triples) -> Law | None:
    """The law of size and data through these runs: parameters, tokens and loss of each."""
    parameters, tokens, losses = torch.tensor(runs, dtype=torch.float64).unbind(1)
    both = law(parameters, tokens, losses)
    return both


def fitted_power(*, points: tuple[tuple[float, float], ...]) -> Power | None:
    """The straight line on log axes through these points."""
    x, y = torch.tensor(points, dtype=torch.float64).unbind(1)
    line = power_law(x, y)
    return line


@cached(heavy=never, always_kept=8)
def _law(runs: Triples) -> Law | None:
    return fitted_law(runs=runs)


class SizesPanel(TrainingPanel):
    """A panel about Lab GPT's recipe at several sizes, trained before the page was opened."""

    canvas = CHART
    shows_jobs = False
    needs = little

    @cached_property
    def runs(self) -> tuple[SizeRun, ...]:
        """All runs, small models first."""
        return find()

    @property
    def is_shown(self) -> bool:
        return bool(self.runs)

    @property
    def amounts(self) -> list[int]:
        """How many tokens of prose there were, the fewest first."""
        return sorted({run.tokens for run in self.runs})

    @property
    def sizes(self) -> list[int]:
        """How many parameters the models have, the fewest first."""
        return sorted({run.parameters for run in self.runs})

    @property
    def ends_of_prose(self) -> tuple[int, int]:
        """The fewest and the most tokens of prose."""
        return self.amounts[0], self.amounts[-1]

    @property
    def amount(self) -> int:
        """The amount of prose on screen, of those that there are."""
        return self.amounts[min(PARTS.index(self.state.part) + 1, len(self.amounts)) - 1]

    @cached_property
    def law(self) -> Law | None:
        """The law of both through all runs; None of too few."""
        return _law(self._triples)

    @property
    def _triples(self) -> Triples:
        return tuple((run.parameters, run.tokens, run.loss) for run in self.runs)

    @property
    def by_law(self) -> list[float]:
        """The loss of each run by the law of both, nats a token; NaN if there are too few runs for one."""
        if not self.law:
            return [math.nan] * len(self.runs)
        parameters, tokens, _ = torch.tensor(self._triples, dtype=torch.float64).unbind(1)
        return list(self.law.at(parameters, tokens).tolist())

    @property
    def misses(self) -> float:
        """How far the law of both lies from the run that it fits worst, nats a token."""
        return max(abs(loss - run.loss) for loss, run in zip(self.by_law, self.runs, strict=True))

    @cached_property
    def by_size(self) -> Power | None:
        """Loss over parameters, at the largest amount of prose."""
        return _line([(run.parameters, run.loss) for run in self.runs if run.tokens == self.amounts[-1]])

    @cached_property
    def by_layers(self) -> Power | None:
        """Loss over parameters of the layers alone, as Kaplan et al. count, at the largest amount of prose."""
        return _line([(run.layer_parameters, run.loss) for run in self.runs if run.tokens == self.amounts[-1]])

    @property
    def largest(self) -> int:
        """The parameters of the largest model that has read each amount."""
        return max((size for size in self.sizes if self._is_whole(size)), default=self.sizes[-1])

    @cached_property
    def by_data(self) -> Power | None:
        """Loss over tokens, of the largest model that has read each amount."""
        return _line([(run.tokens, run.loss) for run in self.runs if run.parameters == self.largest])

    def _is_whole(self, size: int) -> bool:
        return sum(run.parameters == size for run in self.runs) == len(self.amounts)

    @property
    def shape(self) -> str:
        return formats.plural(len(self.runs), "run")

    def recipe(self) -> str:
        """A script that leaves `both`, the law through all runs."""
        return script(fitted_law, runs=self._triples)

    @classmethod
    def conditions(cls, model: ModelState, state: TrainingState) -> Note:
        """How the runs were made, and what they are too small to show."""
        panel = cls(model, state)
        runs = panel.runs
        hours = sum(run.seconds for run in runs) / 3600
        missing = f" {len(runs)} of {RUNS} runs are done." if len(runs) < RUNS else ""
        steps = [run.steps for run in runs]
        gaps = [run.still_falling for run in runs]
        over = sum(run.best_step < run.steps for run in runs)
        return Note(
            f"Lab GPT’s recipe without windows that repeat, one seed, 4 layers of several widths; "
            f"{formats.count(min(steps))} to {formats.count(max(steps))} steps, "
            f"more where there is more prose. A loss is the lowest on held-out prose. It still fell by "
            f"up to {max(gaps):.3f} nats between the last two points of a curve, so more steps would "
            f"come lower; {over} of {len(runs)} runs had their lowest loss before the last step. With one seed "
            f"nobody can tell a difference of a few thousandths from chance, and the powers depend on how long is "
            f"trained. "
            f"Computed in {hours:.1f} hours on one or two cores: {COMMAND}.{missing}",
            "plain",
        )


def _line(points: list[tuple[int, float]]) -> Power | None:
    return fitted_power(points=tuple((float(x), y) for x, y in points)) if points else None


def lab_gpt_figures() -> dict[str, Any]:
    """The figures of the model card of Lab GPT, whose training was longer."""
    figures: dict[str, Any] = json.loads((lab_gpt.FOLDER / "figures.json").read_text("utf-8"))
    return figures


def axis(low: float, high: float, points: int = 40) -> Tensor:
    """Evenly distributed on a log axis."""
    return torch.linspace(math.log(low), math.log(high), points, dtype=torch.float64).exp()


def compact(number: float) -> str:
    """650 k, 2.3 M."""
    return f"{number / 1e6:.2g} M" if number >= 1e6 else f"{number / 1e3:.0f} k"


def within(value: float, ends: tuple[float, float], most: float = math.inf) -> str:
    """A number and its interval, which may end where the search for it does, at `most`."""
    low, high = ends
    more = " or more" if high > 0.99 * most else ""
    return f"{value:.3g} ({low:.3g} to {high:.3g}{more})".replace("-", "−")
