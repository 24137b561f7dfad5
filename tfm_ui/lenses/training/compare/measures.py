"""The measures by which networks are compared."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from tfm_core import TrainingConfig
from tfm_core.training.comparison import Entry
from tfm_core.training.examples import EVALUATED, FINAL, held_out_count
from tfm_core.training.verdict import ahead, chance_between
from tfm_ui.text import formats

NEVER = "never"
SEEDS_AT_LEAST = 2  # one seed alone does not show how far seeds lie apart


@dataclass(frozen=True)
class Measure:
    """What is measured of each network."""

    field: str
    """The field of `Outcome`."""

    axis: str
    """What it is, with its unit."""

    in_words: str
    """A value in a sentence, with {} for the number."""

    write: Callable[..., list[str]]
    """Values -> numbers in words, with as many digits as show which of them differ."""

    less_is_better: bool = False
    """Whether the best one is the smallest."""

    def of(self, entry: Entry) -> float:
        """The median over the seeds; infinity where it is not reached."""
        return entry.median(self.field)

    def merit(self, value: float) -> float:
        """The more the better."""
        return -value if self.less_is_better else value

    def values(self, entry: Entry) -> list[float]:
        """The value of each seed; infinity where it is not reached."""
        values = (getattr(outcome, self.field) for outcome in entry.outcomes)
        return [math.inf if value is None else value for value in values]

    def examples(self, config: TrainingConfig) -> int:
        """The number of held-out examples on which it is measured: few, where that is done again and again."""
        return held_out_count(config, EVALUATED if self.field == "solved" else FINAL)

    def ahead(self, first: Entry, second: Entry) -> int:
        """1 where the first is ahead, -1 where the second is, 0 where that cannot be told: also of one seed alone."""
        if min(len(first.outcomes), len(second.outcomes)) < SEEDS_AT_LEAST:
            return 0
        chance, count = 0.0, self.examples(first.config)
        if self.is_share:
            chance = chance_between(self.of(first), count, self.of(second), count)
        return ahead([*map(self.merit, self.values(first))], [*map(self.merit, self.values(second))], chance)

    @property
    def is_share(self) -> bool:
        """Whether it is a share of right answers, for which chance can be computed."""
        return self.field in ("accuracy", "exact")

    def phrases(self, *values: float) -> list[str]:
        """Values in a sentence."""
        return [
            self.in_words.format(text) if math.isfinite(value) else NEVER
            for text, value in zip(self.write(*values), values, strict=True)
        ]


def _losses(*values: float) -> list[str]:
    return [formats.number(value) for value in values]


def _steps(*values: float) -> list[str]:
    return [formats.count(round(value)) if math.isfinite(value) else NEVER for value in values]


MEASURES = {
    "right answers": Measure("accuracy", "share of held-out answers that are right", "{}", formats.percents),
    "whole examples": Measure("exact", "share of held-out examples with every answer right", "{}", formats.percents),
    "loss": Measure("loss", "loss on held-out examples, nats", "a loss of {}", _losses, less_is_better=True),
    "steps to 99 %": Measure(
        "solved", "step of the first point with 99 % of the answers right", "{} steps", _steps, less_is_better=True
    ),
}
