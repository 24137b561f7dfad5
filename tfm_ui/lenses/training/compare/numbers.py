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
from tfm_core.training.examples import EVALUATED, FINAL, held_out_count
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


BY_EACH_SEED = "each of its seeds is better than each seed of"
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

    @cached_property
    def level(self) -> list[Entry]:
        """The one with the best median, and all that it is not clearly ahead of."""
        first = self.entries[0]
        return [entry for entry in self.entries if entry is first or self.measure.ahead(first, entry) <= 0]

    @property
    def verdict(self) -> str:
        """Who is ahead: "a transformer", "a recurrent network" or "neither"; "" where there is nothing to compare."""
        recurrent, transformers = ([e for e in self.entries if is_recurrent(e) == kind] for kind in (True, False))
        if not recurrent or not transformers:
            return ""
        if all(self.measure.ahead(recurrent[0], other) > 0 for other in transformers):
            return "a recurrent network"
        if all(self.measure.ahead(transformers[0], other) > 0 for other in recurrent):
            return "a transformer"
        return "neither"

    def sentence(self) -> str:
        """Who is ahead, recurrent networks beside transformers, and what went wrong."""
        told = [*self._ahead(), self._measured(), self._diverged(), self._partial()]
        return " ".join(part for part in told if part)

    def _ahead(self) -> list[str]:
        entry, count = self.entries[0], len(self.comparison.contestants)
        if not np.isfinite(self.measure.of(entry)):
            return [f"None of {count} networks gets there in {formats.count(self.comparison.base.steps)} steps."]
        if len(self.level) == 1:
            who = in_a_sentence(entry, self.comparison)
            if self.verdict == "a recurrent network":
                return [self.rivals()]
            return [
                f"Of {count} networks {who} is ahead, with {self._said(entry)}: {BY_EACH_SEED} any other.",
                self.rivals(),
            ]
        names = names_in([self.name(other) for other in self.level if other is not entry])
        every = [*map(self.name, self.level)]
        if set(self.level) == set(self.best):
            which = f"{len(self.level)} of {count} networks are level, with {self._said(entry)}: {names_in(every)}."
        else:
            which = f"Best median of {count} networks: {self.name(entry)}, {self._said(entry)}."
            which += f" That it is better than {names}, {self._evidence} cannot show."
        return [which, self.rivals()]

    def rivals(self) -> str:
        """The best recurrent network beside the best transformer."""
        first, second = (self.best_of(recurrent=recurrent) for recurrent in (True, False))
        if not first or not second:
            return "Transformers alone are compared: this task has two texts, and a plain recurrent network reads one."
        recurrent, transformer = first[0], second[0]
        ours, theirs = self.measure.said(self.measure.of(recurrent), self.measure.of(transformer))
        who, other = (in_a_sentence(entry, self.comparison) for entry in (recurrent, transformer))
        if self.verdict == "a recurrent network":
            return (
                f"{_capital(who)}, {ours}, is ahead of every transformer here: {BY_EACH_SEED} a transformer. Best of "
                f"the transformers is {other}: {theirs}."
            )
        if not np.isfinite(self.measure.of(recurrent)):
            best = f"No recurrent network gets there{' with most of its seeds' * self._some_seed_does(recurrent)}"
        else:
            best = f"Best of the recurrent networks is {who}: {ours}"
        if self.verdict == "a transformer":
            return f"{best}; best of the transformers {other}: {theirs}, and {BY_EACH_SEED} a recurrent network."
        if ours == theirs and set(self.best) >= {recurrent, transformer}:
            return f"{_capital(who)} is level with the best transformer."
        return (
            f"{best}; best of the transformers {other}: {theirs}. Between these two there is no difference that "
            f"{self._evidence} can show."
        )

    def _some_seed_does(self, entry: Entry) -> bool:
        return any(np.isfinite(self.measure.values(entry)))

    @property
    def _evidence(self) -> str:
        count = held_out_count(self.comparison.base, FINAL if self.measure.field != "solved" else EVALUATED)
        seeds = formats.plural(max(len(entry.outcomes) for entry in self.entries), "seed")
        return f"{seeds} and {formats.count(count)} examples"

    def _said(self, entry: Entry) -> str:
        (value,) = self.measure.said(self.measure.of(entry))
        return value

    def _measured(self) -> str:
        """The step after which it was measured, and what on."""
        if self.measure.field == "solved":
            return f"Measured on the way, on {held_out_count(self.comparison.base, EVALUATED)} held-out examples."
        count = formats.count(held_out_count(self.comparison.base, FINAL))
        return (
            f"Medians over the seeds, after {formats.count(self.comparison.base.steps)} steps, on {count} held-out "
            "examples."
        )

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
        entries = self.comparison.by_scheme
        absolute = [entries[scheme] for scheme in schemes if POSITIONAL[scheme].about.kind == "absolute"]
        others = [entries[scheme] for scheme in schemes if POSITIONAL[scheme].about.kind != "absolute"]
        pairs = [(first, second) for first in absolute for second in others]
        return bool(pairs) and all(self.measure.ahead(first, second) > 0 for first, second in pairs)

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
