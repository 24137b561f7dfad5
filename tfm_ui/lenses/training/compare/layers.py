"""One layer beside two: how much is right, and how far heads look where they should."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import pandas as pd

from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.scores import pattern_score
from tfm_ui.lenses.training.compare.measures import MEASURES
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

RIGHT = "right answers"
CLEAR = 0.5  # the least that a head has in a pattern that is said to be followed
WHY = (
    "Why: to find the place after an earlier letter of the same kind, a head must know of each place which letter "
    "stands before it. In the first layer no place knows more than its own letter and where it stands; only a head "
    "of a layer below can bring it the letter before."
)


@dataclass(frozen=True)
class Layers(Result):
    """The first transformer, and the one with another number of layers.

    Attributes:
        comparison: what came out.
    """

    comparison: Comparison

    @cached_property
    def entries(self) -> list[Entry]:
        """The one with fewer layers first; none as long as one of them was never trained."""
        base = self.comparison.entries[0]
        others = [
            entry
            for entry in self.comparison.entries
            if entry.config.network == "transformer" and entry.config.num_layers != base.config.num_layers
        ]
        both = sorted([base, *others[:1]], key=lambda entry: entry.config.num_layers)
        return both if len(both) == 2 and all(entry.outcomes for entry in both) else []

    @property
    def measured(self) -> list[str]:
        """The share of right answers, and each pattern."""
        patterns = self.comparison.base.about.patterns
        return [RIGHT, *(f"{pattern.name}{', evenness' * pattern.even}" for pattern in patterns)]

    def values(self, entry: Entry, number: int) -> list[float]:
        """What was measured of each seed: 0 the share of right answers, from 1 the patterns."""
        return [outcome.patterns[number - 1] if number else outcome.accuracy for outcome in entry.outcomes]

    def layers(self, entry: Entry) -> str:
        """1 layer; 2 layers."""
        return formats.plural(entry.config.num_layers, "layer")

    def sentence(self) -> str:
        """How much is right, what is looked at, and why."""
        few, many = self.entries
        rights = formats.percents(few.median("accuracy"), many.median("accuracy"))
        told = [
            f"With {self.layers(few)} {rights[0]} of the held-out answers are right, with {self.layers(many)} "
            f"{rights[1]}, with about as many parameters."
        ]
        for number, name in enumerate(self.measured[1:], 1):
            weights = formats.weights(*(median(self.values(entry, number)) for entry in self.entries))
            both = (f"{weight} with {self.layers(entry)}" for weight, entry in zip(weights, self.entries, strict=True))
            told.append(f"“{name}”: the best head has {', '.join(both)}.")
        return " ".join([*told, WHY if self.explains else ""]).strip()

    @property
    def explains(self) -> bool:
        """Whether the reason fits what was measured: two layers follow both patterns, one does not follow the first."""
        if self.comparison.task != "induction" or not self.entries:
            return False
        few, many = self.entries
        low = median(self.values(few, 1))
        high = min(median(self.values(many, number)) for number in (1, 2))
        return low < CLEAR <= high and MEASURES["right answers"].ahead(many, few) > 0

    def table(self) -> pd.DataFrame:
        """A row per number of layers and seed."""
        rows = [
            {
                "layers": entry.config.num_layers,
                "seed": outcome.seed,
                "d_model": entry.config.d_model,
                "parameters": entry.parameters,
                **{name: self.values(entry, number)[place] for number, name in enumerate(self.measured)},
            }
            for entry in self.entries
            for place, outcome in enumerate(entry.outcomes)
        ]
        return pd.DataFrame(rows)

    def laws(self) -> Mapping[str, bool]:
        """What holds of shares."""
        values = [
            value
            for entry in self.entries
            for number in range(len(self.measured))
            for value in self.values(entry, number)
        ]
        return {"all shares lie between 0 and 1": all(-1e-6 <= value <= 1 + 1e-6 for value in values)}


SOURCES = [pattern_score]
