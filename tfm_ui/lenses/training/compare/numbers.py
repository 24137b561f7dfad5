"""What the view "compare" says: who is ahead, and whether the seeds agree about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfm_core import POSITIONAL, TASKS
from tfm_core.training.compare import compare
from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.contestants import TOLERANCE
from tfm_ui.lenses.training.compare.measures import Measure, names_in
from tfm_ui.lenses.training.outcomes import in_a_sentence, is_recurrent, name_of
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats
from tfm_ui.text.ties import places_of_largest


def compared(*, task: str) -> Comparison:
    """All networks of a task with all seeds, trained anew: this takes minutes."""
    for step in compare(task):
        comparison = step.comparison
    return comparison


MIRROR = (
    "How far away the mirror image is depends on the place, so a single layer must be told where a token stands; how "
    "far two tokens are apart does not tell it."
)


@dataclass(frozen=True)
class Ranked(Result):
    """The networks by one measure.

    Attributes:
        comparison: what came out.
        measure: by which they are compared.
    """

    comparison: Comparison
    measure: Measure

    @cached_property
    def entries(self) -> list[Entry]:
        """The best first; of each recurrent network its best learning rate alone."""
        merit = self.measure.merit
        return sorted(self.comparison.contestants, key=lambda entry: (-merit(entry), entry.median("loss")))

    @cached_property
    def best(self) -> list[Entry]:
        """All that are the best, up to rounding."""
        return _best_of(self.entries, self.measure)

    def best_of(self, *, recurrent: bool) -> list[Entry]:
        """The best of all recurrent networks, or of all transformers."""
        return _best_of([entry for entry in self.entries if is_recurrent(entry) == recurrent], self.measure)

    def name(self, entry: Entry) -> str:
        """What it is called here."""
        return name_of(entry, self.comparison)

    @property
    def verdict(self) -> str:
        """Who is ahead: "a transformer", "a recurrent network" or "neither"; "" where there is nothing to compare."""
        first, second = (self.best_of(recurrent=recurrent) for recurrent in (True, False))
        if not first or not second:
            return ""
        if _best_of([first[0], second[0]], self.measure) == [first[0], second[0]]:
            return "neither"
        return "a recurrent network" if first[0] in self.best else "a transformer"

    def sentence(self) -> str:
        """Who is ahead, recurrent networks beside transformers, and what went wrong."""
        told = [*self._ahead(), self._diverged(), self._partial()]
        return " ".join(part for part in told if part)

    def _ahead(self) -> list[str]:
        best, entry, verdict = self.best, self.best[0], self.verdict
        value, count = self._said(entry), len(self.comparison.contestants)
        if not np.isfinite(self.measure.of(entry)):
            return [f"None of {count} networks gets there in {formats.count(self.comparison.base.steps)} steps."]
        if len(best) > 1:
            level = f"{len(best)} of {count} networks are level, with {value}: {names_in([*map(self.name, best)])}."
            return [level, self.rivals()]
        if verdict == "a recurrent network":
            return [self.rivals()]
        ahead = f"Of {count} networks {in_a_sentence(entry, self.comparison)} is ahead, with {value}."
        if not verdict:
            return [ahead, self.rivals()]
        (other, *_) = self.best_of(recurrent=True)
        return [ahead, f"{self._best_recurrent(other)}{self._agreement(entry, other)}."]

    def rivals(self) -> str:
        """The best recurrent network beside the best transformer."""
        first, second = (self.best_of(recurrent=recurrent) for recurrent in (True, False))
        if not first or not second:
            return "Transformers alone are compared: this task has two texts, and a plain recurrent network reads one."
        recurrent, transformer = first[0], second[0]
        ours, theirs = self.measure.said(self.measure.of(recurrent), self.measure.of(transformer))
        who, other = (in_a_sentence(entry, self.comparison) for entry in (recurrent, transformer))
        if self.verdict == "neither":
            return f"{_capital(who)} is level with the best transformer."
        if self.verdict == "a recurrent network":
            return (
                f"{_capital(who)}, {ours}, is ahead of every transformer here; best of them is {other}: {theirs}"
                f"{self._agreement(recurrent, transformer)}."
            )
        return (
            f"{self._best_recurrent(recurrent)}; best of the transformers {other}: {theirs}"
            f"{self._agreement(transformer, recurrent)}."
        )

    def _best_recurrent(self, entry: Entry) -> str:
        return f"Best of the recurrent networks is {in_a_sentence(entry, self.comparison)}: {self._said(entry)}"

    def _said(self, entry: Entry) -> str:
        (value,) = self.measure.said(self.measure.of(entry))
        return value

    def _agreement(self, better: Entry, worse: Entry) -> str:
        lowest, highest = min(self.measure.merits(better)), max(self.measure.merits(worse))
        if len(better.outcomes) < 2 or len(worse.outcomes) < 2:
            return ""
        if lowest > highest:
            return ". Each seed of the one is better than each of the other"
        return ". But their seeds overlap: another three could turn it round"

    def positions(self) -> str:
        """The positional schemes of otherwise equal transformers, the best first; and why, where that is known."""
        schemes = {
            scheme: self.measure.of(entry)
            for scheme, entry in sorted(
                self.comparison.by_scheme.items(), key=lambda item: -self.measure.merit(item[1])
            )
        }
        told = zip(schemes, self.measure.said(*schemes.values()), strict=True)
        listed = f"Positional schemes: {', '.join(f'{scheme} {value}' for scheme, value in told)}."
        return f"{listed} {MIRROR}" if self._needs_places(schemes) else listed

    def _needs_places(self, schemes: Mapping[str, float]) -> bool:
        """Whether schemes of places alone are ahead, in a task and a single layer that need them."""
        base = self.comparison.base
        if base.about.patterns[:1] != TASKS["reverse"].patterns or base.num_layers != 1 or self.measure.less_is_better:
            return False
        absolute = [value for scheme, value in schemes.items() if POSITIONAL[scheme].about.kind == "absolute"]
        others = [value for scheme, value in schemes.items() if POSITIONAL[scheme].about.kind != "absolute"]
        return bool(absolute and others) and min(absolute) > max(others)

    def _diverged(self) -> str:
        ended = [name_of(entry, self.comparison) for entry in self.comparison.contestants if _problems(entry)]
        return f"Some runs diverged: {names_in(ended)}." if ended else ""

    def _partial(self) -> str:
        return "" if self.comparison.is_complete else "Not all runs have ended yet."

    def laws(self) -> Mapping[str, bool]:
        """What makes the comparison fair."""
        sizes = [entry.parameters for entry in self.entries]
        base = self.comparison.entries[0].parameters
        budgets = {(entry.config.steps, entry.config.batch_size) for entry in self.entries}
        kept = {
            f"parameters differ by at most {formats.percent(TOLERANCE)}": all(
                abs(size / base - 1) <= TOLERANCE for size in sizes
            ),
            "all make as many steps, of as many examples": len(budgets) == 1,
        }
        if self.comparison.is_complete:
            seeds = set(self.comparison.seeds)
            kept["all have the same seeds"] = all(
                {outcome.seed for outcome in entry.outcomes} == seeds for entry in self.entries
            )
        return kept

    def table(self) -> pd.DataFrame:
        """A row per network and learning rate."""
        shown = set(self.entries)
        others = [entry for entry in self.comparison.entries if entry.outcomes and entry not in shown]
        rows = [self._row(entry, entry in shown) for entry in [*self.entries, *others]]
        return pd.DataFrame(rows).set_index("network")

    def _row(self, entry: Entry, shown: bool) -> dict[str, object]:
        config = entry.config
        right = [outcome.accuracy for outcome in entry.outcomes]
        solved = [outcome.solved for outcome in entry.outcomes]
        return {
            "network": self.name(entry),
            "parameters": entry.parameters,
            "d_model": config.d_model,
            "layers": config.num_layers,
            "heads": None if is_recurrent(entry) else config.num_heads,
            "learning rate": config.learning_rate,
            "right answers, median": entry.median("accuracy"),
            "lowest": min(right),
            "highest": max(right),
            "whole examples, median": entry.median("exact"),
            "loss, median": entry.median("loss"),
            "steps to 99 %": ", ".join("never" if step is None else str(step) for step in solved),
            "in the picture": "yes" if shown else "no: another rate is better",
        }

    def recipe(self) -> str:
        """All of it once more, without the app."""
        return script(compared, task=self.comparison.task)


def _best_of(entries: Sequence[Entry], measure: Measure) -> list[Entry]:
    merits = np.array([measure.merit(entry) for entry in entries], np.float64)
    if not len(merits) or not np.isfinite(merits).any():
        return list(entries)
    merits[~np.isfinite(merits)] = np.nan
    return [entries[place] for place in places_of_largest(merits)]


def _problems(entry: Entry) -> list[str]:
    return [outcome.problem for outcome in entry.outcomes if outcome.problem]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
