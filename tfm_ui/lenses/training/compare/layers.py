"""One layer beside two: how much is right, and how far heads look where they should."""

from collections.abc import Mapping
from functools import cached_property
from statistics import median

import pandas as pd

from tfm_core.training.comparison import Entry
from tfm_core.training.scores import pattern_score
from tfm_ui.lenses.training.compare.measures import MEASURES
from tfm_ui.lenses.training.panels import ComparisonPanel
from tfm_ui.pictures import strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.text import formats

RIGHT = "right answers"
CLEAR = 0.5  # the least that a head has in a pattern that is said to be followed
GROUPS = (Group("head 3", hollow=True), Group("head 1"))  # fewer layers, and more
WHY = (
    "Why: to find the place after an earlier letter of the same kind, a head must know of each place which letter "
    "stands before it. In the first layer no place knows more than its own letter and where it stands; only a head "
    "of a layer below can bring it the letter before."
)


class Layers(ComparisonPanel):
    """The first transformer, and the one with another number of layers."""

    title = "One layer and two"
    how_to_read = (
        "How much is right, and how much of its weight the best head puts where it should look. A dot is a seed, the "
        "bar the median."
    )
    sources = (pattern_score,)
    shape = ""

    @cached_property
    def entries(self) -> list[Entry]:
        """The one with fewer layers first; none as long as one of them was never trained."""
        if not super().is_shown:
            return []
        base = self.comparison.entries[0]
        others = [
            entry
            for entry in self.comparison.entries
            if entry.config.network == "transformer" and entry.config.num_layers != base.config.num_layers
        ]
        both = sorted([base, *others[:1]], key=lambda entry: entry.config.num_layers)
        return both if len(both) == 2 and all(entry.outcomes for entry in both) else []

    @property
    def is_shown(self) -> bool:
        return bool(self.entries)

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
        sentences = [
            f"With {self.layers(few)} {rights[0]} of the held-out answers are right, with {self.layers(many)} "
            f"{rights[1]}, with about as many parameters."
        ]
        for number, name in enumerate(self.measured[1:], 1):
            weights = formats.weights(*(median(self.values(entry, number)) for entry in self.entries))
            both = (f"{weight} with {self.layers(entry)}" for weight, entry in zip(weights, self.entries, strict=True))
            sentences.append(f"“{name}”: the best head has {', '.join(both)}.")
        return " ".join([*sentences, WHY if self.explains else ""]).strip()

    @property
    def explains(self) -> bool:
        """Whether the reason fits what was measured: two layers follow both patterns, one does not follow the first."""
        if self.comparison.task != "induction":
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
        values = [
            value
            for entry in self.entries
            for number in range(len(self.measured))
            for value in self.values(entry, number)
        ]
        return {"all shares lie between 0 and 1": all(-1e-6 <= value <= 1 + 1e-6 for value in values)}

    def recipe(self) -> str:
        return ""

    def picture(self) -> Content:
        """Two strips for each thing that was measured."""
        groups = {self.layers(entry): group for entry, group in zip(self.entries, GROUPS, strict=True)}
        drawn = [
            self._strip(entry, number, name) for number, name in enumerate(self.measured) for entry in self.entries
        ]
        return strips.content(drawn, groups, axis="share right; weight of the best head", unit="", each=("seed", 0))

    def _strip(self, entry: Entry, number: int, name: str) -> Strip:
        values = self.values(entry, number)
        middle = median(values)
        return Strip(
            name=name,
            detail="",
            group=self.layers(entry),
            dots=values,
            rounds=[outcome.seed for outcome in entry.outcomes],
            low=min(values),
            middle=middle,
            high=max(values),
            end=formats.weight(middle) if number else formats.percent(middle),
            said=f"{name}, {self.layers(entry)}: {', '.join(formats.weights(*values))}",
        )
