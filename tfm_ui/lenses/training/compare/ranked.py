"""Who is ahead, and whether the seeds agree about it."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd

from tfm_core import POSITIONAL, TASKS
from tfm_core.positional.schemes import called
from tfm_core.training.compare import compare
from tfm_core.training.comparison import Entry
from tfm_core.training.contestants import RATES, TOLERANCE, contestants, matched
from tfm_ui.lenses.training.compare.measures import MEASURES, NEVER, Measure
from tfm_ui.lenses.training.outcomes import NAMES, is_recurrent
from tfm_ui.lenses.training.panels import ComparisonPanel
from tfm_ui.pictures import strips
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.strips import Group, Strip
from tfm_ui.text import formats
from tfm_ui.text.ties import places_of_largest

KINDS = {False: "transformer", True: "recurrent network"}
GROUPS = {"transformer": Group("head 1"), "recurrent network": Group("head 2", hollow=True)}
BY_EACH_SEED = "each of its seeds is better than each seed of"
MIRROR = (
    "How far away the mirror image is depends on the place, so a single layer must be told where a token stands; how "
    "far two tokens are apart does not tell it."
)


class Compare(ComparisonPanel):
    """The networks by one measure."""

    how_to_read = (
        "A dot is a seed, the dark stroke the median; the band reaches from the lowest to the highest. The best is on "
        "top. In brackets, how many parameters there are: all were chosen to differ from one transformer’s by at most "
        f"{formats.percent(TOLERANCE)}."
    )
    sources = (contestants, matched, compare)
    rates = (
        f" Transformers learn at the task’s own rate. For recurrent networks {len(RATES)} rates from {RATES[0]:g} to "
        f"{RATES[-1]:g} were tried, and the best one counts."
    )

    @property
    def title(self) -> str:
        return f"{TASKS[self.state.task].title}: who learns it best?"

    @property
    def measure(self) -> Measure:
        """The measure by which they are compared."""
        return MEASURES[self.state.measure]

    @cached_property
    def entries(self) -> list[Entry]:
        """The best first; of each recurrent network its best learning rate alone."""
        return sorted(self.comparison.contestants, key=lambda entry: (-self.merit(entry), entry.median("loss")))

    def merit(self, entry: Entry) -> float:
        """The median over the seeds: the more the better."""
        return self.measure.merit(self.measure.of(entry))

    @property
    def kinds(self) -> tuple[list[Entry], list[Entry]]:
        """The recurrent networks among them, and the transformers."""
        recurrent = [entry for entry in self.entries if is_recurrent(entry)]
        return recurrent, [entry for entry in self.entries if entry not in recurrent]

    def best_of(self, entries: Sequence[Entry]) -> list[Entry]:
        """All that are the best of these, up to rounding; all of them where none has a finite merit."""
        merits = np.array([self.merit(entry) for entry in entries], np.float64)
        if not np.isfinite(merits).any():
            return list(entries)
        merits[~np.isfinite(merits)] = np.nan
        return [entries[place] for place in places_of_largest(merits)]

    def name_of(self, entry: Entry) -> str:
        """What a network is called beside the others: only what differs from the first transformer is said."""
        config, base = entry.config, self.comparison.base
        if config.network != base.network:
            return NAMES[config.network]
        changed = [
            f"{config.norm}-norm" if config.norm != base.norm else "",
            formats.plural(config.num_layers, "layer") if config.num_layers != base.num_layers else "",
            formats.plural(config.num_heads, "head") if config.num_heads != base.num_heads else "",
        ]
        return " · ".join(["transformer", config.positional, *filter(None, changed)])

    def in_a_sentence(self, entry: Entry) -> str:
        """The network with its article."""
        kind, *details = self.name_of(entry).split(" · ")
        if not details:
            return f"the {kind}"
        scheme, *changed = details
        return f"the {kind} with {formats.listed([f'{called(scheme)} positions', *changed])}"

    @cached_property
    def level(self) -> list[Entry]:
        """The one with the best median, and all that it is not clearly ahead of."""
        first = self.entries[0]
        return [entry for entry in self.entries if entry is first or self.measure.ahead(first, entry) <= 0]

    @property
    def verdict(self) -> str:
        """Who is ahead: "a transformer", "a recurrent network" or "neither"; "" where there is nothing to compare."""
        recurrent, transformers = self.kinds
        if not recurrent or not transformers:
            return ""
        if all(self.measure.ahead(recurrent[0], other) > 0 for other in transformers):
            return "a recurrent network"
        if all(self.measure.ahead(transformers[0], other) > 0 for other in recurrent):
            return "a transformer"
        return "neither"

    def sentence(self) -> str:
        """Who is ahead, recurrent networks beside transformers, and what went wrong."""
        partial = "" if self.comparison.is_complete else "Not all runs have ended yet."
        return " ".join(filter(None, [*self._ahead(), self._measured(), self._diverged(), partial]))

    def _ahead(self) -> list[str]:
        entry, count = self.entries[0], len(self.comparison.contestants)
        if not np.isfinite(self.measure.of(entry)):
            return [f"None of {count} networks gets there in {formats.count(self.comparison.base.steps)} steps."]
        if len(self.level) == 1:
            if self.verdict == "a recurrent network":
                return [self.rivals()]
            return [
                f"Of {count} networks {self.in_a_sentence(entry)} is ahead, with {self._value(entry)}: {BY_EACH_SEED} "
                "any other.",
                self.rivals(),
            ]
        names = names_in([self.name_of(other) for other in self.level if other is not entry])
        every = [*map(self.name_of, self.level)]
        if set(self.level) == set(self.best_of(self.entries)):
            which = f"{len(self.level)} of {count} networks are level, with {self._value(entry)}: {names_in(every)}."
        else:
            which = f"Best median of {count} networks: {self.name_of(entry)}, {self._value(entry)}."
            which += f" That it is better than {names}, {self._evidence} cannot show."
        return [which, self.rivals()]

    def rivals(self) -> str:
        """The best recurrent network beside the best transformer."""
        if not all(self.kinds):
            return "Transformers alone are compared: this task has two texts, and a plain recurrent network reads one."
        recurrent, transformer = (self.best_of(kind)[0] for kind in self.kinds)
        ours, theirs = self.measure.phrases(self.measure.of(recurrent), self.measure.of(transformer))
        who, other = map(self.in_a_sentence, (recurrent, transformer))
        if self.verdict == "a recurrent network":
            return (
                f"{_capital(who)}, {ours}, is ahead of every transformer here: {BY_EACH_SEED} a transformer. Best of "
                f"the transformers is {other}: {theirs}."
            )
        if not np.isfinite(self.measure.of(recurrent)):
            some_seed_does = bool(np.isfinite(self.measure.values(recurrent)).any())
            best = f"No recurrent network gets there{' with most of its seeds' * some_seed_does}"
        else:
            best = f"Best of the recurrent networks is {who}: {ours}"
        if self.verdict == "a transformer":
            return f"{best}; best of the transformers {other}: {theirs}, and {BY_EACH_SEED} a recurrent network."
        if ours == theirs and set(self.best_of(self.entries)) >= {recurrent, transformer}:
            return f"{_capital(who)} is level with the best transformer."
        return (
            f"{best}; best of the transformers {other}: {theirs}. Between these two there is no difference that "
            f"{self._evidence} can show."
        )

    @property
    def _evidence(self) -> str:
        count = self.measure.examples(self.comparison.base)
        seeds = formats.plural(max(len(entry.outcomes) for entry in self.entries), "seed")
        return f"{seeds} and {formats.count(count)} examples"

    def _value(self, entry: Entry) -> str:
        (value,) = self.measure.phrases(self.measure.of(entry))
        return value

    def _measured(self) -> str:
        """The step after which it was measured, and what on."""
        base = self.comparison.base
        count = formats.count(self.measure.examples(base))
        if self.measure.field == "solved":
            return f"Measured on the way, on {count} held-out examples."
        return f"Medians over the seeds, after {formats.count(base.steps)} steps, on {count} held-out examples."

    def positions(self) -> str:
        """The positional schemes of otherwise equal transformers, the best first; and why, where that is known."""
        schemes = {
            scheme: self.measure.of(entry)
            for scheme, entry in sorted(self.comparison.by_scheme.items(), key=lambda item: -self.merit(item[1]))
        }
        values = zip(schemes, self.measure.phrases(*schemes.values()), strict=True)
        listed = f"Positional schemes: {', '.join(f'{scheme} {value}' for scheme, value in values)}."
        return f"{listed} {MIRROR}" if self._needs_places(schemes) else listed

    def _needs_places(self, schemes: Mapping[str, float]) -> bool:
        """Whether schemes of places alone are ahead, in a task and a single layer that need them."""
        base = self.comparison.base
        if base.about.patterns[:1] != TASKS["reverse"].patterns or base.num_layers != 1 or self.measure.less_is_better:
            return False
        entries = self.comparison.by_scheme
        absolute = [entries[scheme] for scheme in schemes if "absolute" in POSITIONAL[scheme].about.kind]
        others = [entries[scheme] for scheme in schemes if "absolute" not in POSITIONAL[scheme].about.kind]
        pairs = [(first, second) for first in absolute for second in others]
        return bool(pairs) and all(self.measure.ahead(first, second) > 0 for first, second in pairs)

    def _diverged(self) -> str:
        contestants = self.comparison.contestants
        ended = [entry for entry in contestants if any(outcome.problem for outcome in entry.outcomes)]
        return f"Some runs diverged: {names_in([*map(self.name_of, ended)])}." if ended else ""

    def laws(self) -> Mapping[str, bool]:
        """What makes the comparison fair."""
        sizes = [entry.parameters for entry in self.entries]
        base = self.comparison.entries[0]
        budgets = {(entry.config.steps, entry.config.batch_size) for entry in self.entries}
        laws = {
            f"at most {formats.percent(TOLERANCE)} more or fewer parameters than “{self.name_of(base)}”": all(
                abs(size / base.parameters - 1) <= TOLERANCE for size in sizes
            ),
            "all make as many steps, of as many examples": len(budgets) == 1,
        }
        if self.comparison.is_complete:
            seeds = set(self.comparison.seeds)
            laws["all have the same seeds"] = all(
                {outcome.seed for outcome in entry.outcomes} == seeds for entry in self.entries
            )
        return laws

    def table(self) -> pd.DataFrame:
        """A row per network and learning rate."""
        drawn = set(self.entries)
        others = [entry for entry in self.comparison.entries if entry.outcomes and entry not in drawn]
        rows = [self._row(entry, entry in drawn) for entry in [*self.entries, *others]]
        return pd.DataFrame(rows).set_index("network")

    def _row(self, entry: Entry, is_drawn: bool) -> dict[str, object]:
        config = entry.config
        right = [outcome.accuracy for outcome in entry.outcomes]
        solved = [outcome.solved for outcome in entry.outcomes]
        return {
            "network": self.name_of(entry),
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
            "in the picture": "yes" if is_drawn else "no: another rate is better",
        }

    def picture(self) -> Content:
        """A strip for each network, with every seed; the best on top."""
        measure = self.measure
        drawn = [self._strip(entry) for entry in self.entries]
        dots = [dot for strip in drawn for dot in strip.dots if dot > 0]
        is_wide = not measure.is_share and dots and max(dots) > 5 * min(dots)
        scale: Literal["linear", "log10"] = "log10" if is_wide else "linear"
        return strips.content(
            drawn,
            {name: group for name, group in GROUPS.items() if any(strip.group == name for strip in drawn)},
            axis=measure.axis,
            unit="",
            scale=scale,
            line=("same answer always", self.comparison.guessing[0]) if measure.field == "accuracy" else None,
            each=("seed", 0),
        )

    def _strip(self, entry: Entry) -> Strip:
        measure, every = self.measure, self.measure.values(entry)
        values = {
            outcome.seed: value for outcome, value in zip(entry.outcomes, every, strict=True) if math.isfinite(value)
        }
        middle = measure.of(entry)
        is_whole = math.isfinite(middle)
        # The legend tells transformers from the others: in a lecture hall there is room for short names alone.
        short = self.name_of(entry).removeprefix("transformer · ")
        name = f"{short} ({formats.count(entry.parameters)})"
        (end,) = measure.write(middle)
        each = ", ".join(measure.phrases(*every))
        return Strip(
            name=name,
            detail="",
            group=KINDS[is_recurrent(entry)],
            dots=list(values.values()),
            rounds=list(values),
            low=min(values.values()) if is_whole else math.nan,
            middle=middle if is_whole else math.nan,
            high=max(values.values()) if is_whole else math.nan,
            end=f"{end}{self._mark(entry)}" if is_whole else NEVER,
            said=f"{name}\nd_model {entry.config.d_model}, learning rate {entry.config.learning_rate:g}\n{each}",
        )

    def _mark(self, entry: Entry) -> str:
        """Who is ahead is the best; where several may be, they are level."""
        if entry not in self.level:
            return ""
        return ", best" if len(self.level) == 1 else ", level"


def names_in(parts: Sequence[str], most: int = 3) -> str:
    """A list in words; of a long one only the beginning."""
    if len(parts) <= most:
        return formats.listed(parts)
    return f"{', '.join(parts[:most])} and {formats.plural(len(parts) - most, 'other')}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
