"""What the view "lengths" says: how well networks do on longer sequences than they were trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import median

import pandas as pd

from tfm_core import POSITIONAL
from tfm_core.training.comparison import Comparison, Entry
from tfm_core.training.lengths import is_defined
from tfm_ui.lenses.training.compare.numbers import compared
from tfm_ui.lenses.training.outcomes import NAMES, is_recurrent
from tfm_ui.live.script import script
from tfm_ui.pictures.panel import Result
from tfm_ui.text import formats

NOT_DEFINED = "not defined"
SOLVES = 0.9  # the least share of right answers with which a network is said to solve a length


@dataclass(frozen=True)
class Stretched:
    """A network at all lengths.

    Attributes:
        name: its positional scheme in quotes, or the recurrent network's name.
        entry: the network.
        middle: the median over the seeds, for each length; None where it is not defined.
        low, high: the lowest and the highest seed.
    """

    name: str
    entry: Entry
    middle: list[float | None]
    low: list[float | None]
    high: list[float | None]


@dataclass(frozen=True)
class ByLength(Result):
    """All positional schemes, and the best recurrent network.

    Attributes:
        comparison: what came out.
    """

    comparison: Comparison

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths at which they were tried; the first is the trained one."""
        return self.comparison.lengths

    @cached_property
    def networks(self) -> list[Stretched]:
        """The networks in the order of `POSITIONAL`, then the recurrent network."""
        of_schemes = self.comparison.by_scheme
        shown = [_stretched(f"“{scheme}”", of_schemes[scheme]) for scheme in POSITIONAL if scheme in of_schemes]
        recurrent = [entry for entry in self.comparison.contestants if is_recurrent(entry)]
        if recurrent:
            best = max(recurrent, key=lambda entry: (entry.median("accuracy"), -entry.median("loss")))
            shown.append(_stretched(NAMES[best.config.network], best))
        return shown

    @cached_property
    def undefined(self) -> list[str]:
        """The networks that have no answer beyond the trained length."""
        return [network.name for network in self.networks if None in network.middle]

    @cached_property
    def solved(self) -> list[tuple[str, float, float]]:
        """Those that solve the trained length and are defined beyond: name, share there and at the greatest length."""
        both = [(network.name, network.middle[0], network.middle[-1]) for network in self.networks]
        known = [(name, begin, end) for name, begin, end in both if begin is not None and end is not None]
        return sorted([ends for ends in known if ends[1] >= SOLVES], key=lambda ends: -ends[2])

    def sentence(self) -> str:
        """Who keeps what it has learned, who loses it, and who has no answer."""
        trained, longest = self.lengths[0], self.lengths[-1]
        told = [f"Trained at {trained} tokens, tested at up to {longest}. {self._kept()}"]
        if self.undefined:
            told.append(
                f"{formats.listed(self.undefined)}: {NOT_DEFINED} beyond {trained}, where the table of positions ends."
            )
        return " ".join(told)

    def _kept(self) -> str:
        trained, longest = self.lengths[0], self.lengths[-1]
        guess = f"always the same answer would give {formats.percent(self.comparison.guessing[-1])}"
        if not self.solved:
            least = formats.percent(SOLVES)
            return f"None that is defined beyond {trained} has {least} of the answers right there: nothing to keep."
        who = (
            f"{formats.listed(sorted(name for name, *_ in self.solved))} solve{'s' * (len(self.solved) == 1)} {trained}"
        )
        keep = [f"{name} {formats.percent(end)}" for name, _, end in self.solved if end >= SOLVES]
        if not keep:
            best, _, most = self.solved[0]
            there = "it" if len(self.solved) == 1 else f"the best of them, {best},"
            which = f"{there} has {formats.percent(most)} of the answers right"
            return f"{who}, but not {longest}: there {which}, and {guess}."
        name, begin, end = min(self.solved, key=lambda ends: ends[2] - ends[1])
        shares = formats.percents(begin, end)
        lost = f" {name} loses most: from {shares[0]} to {shares[1]}." if end < begin else ""
        return f"{who}. Still right at {longest}: {formats.listed(keep)}; {guess}.{lost}"

    def table(self) -> pd.DataFrame:
        """A row per length: each network's median, with the lowest and the highest seed."""
        columns = {
            network.name: [
                _in_words(*of_length) for of_length in zip(network.middle, network.low, network.high, strict=True)
            ]
            for network in self.networks
        }
        columns["always the same answer"] = [formats.percent(share) for share in self.comparison.guessing]
        return pd.DataFrame(columns, index=pd.Index(self.lengths, name="length"))

    def laws(self) -> Mapping[str, bool]:
        """Where there is no answer, and where there must be one."""
        return {
            "defined exactly where the scheme is": all(
                (share is not None) == is_defined(network.entry.config, length)
                for network in self.networks
                for length, share in zip(self.lengths, network.middle, strict=True)
            ),
        }

    def recipe(self) -> str:
        """All of it once more, without the app."""
        return script(compared, task=self.comparison.task)


def _stretched(name: str, entry: Entry) -> Stretched:
    columns = [list(column) for column in zip(*(outcome.by_length for outcome in entry.outcomes), strict=True)]
    known = [[share for share in column if share is not None] for column in columns]
    return Stretched(
        name,
        entry,
        [median(column) if column else None for column in known],
        [min(column) if column else None for column in known],
        [max(column) if column else None for column in known],
    )


def _in_words(middle: float | None, low: float | None, high: float | None) -> str:
    if middle is None or low is None or high is None:
        return NOT_DEFINED
    if low == high:
        return formats.percent(middle)
    return f"{formats.percent(middle)} ({formats.percent(low)} to {formats.percent(high)})"
