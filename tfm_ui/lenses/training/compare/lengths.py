"""How well networks do on longer sequences than they were trained on."""

import math
from collections.abc import Mapping
from functools import cached_property
from statistics import median

import pandas as pd

from tfm_core import POSITIONAL, TASKS
from tfm_core.positional.schemes import PLAIN
from tfm_core.training.comparison import Entry
from tfm_core.training.lengths import by_length, is_defined, lengths_of
from tfm_ui.lenses.training.outcomes import NAMES, is_recurrent
from tfm_ui.lenses.training.panels import ComparisonPanel
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats

NOT_DEFINED = "not defined"
SOLVES = 0.9  # the least share of right answers with which a network is said to solve a length


class Lengths(ComparisonPanel):
    """All positional schemes, and the best recurrent network."""

    how_to_read = (
        "x: how long the sequence is. y: how many of the answers are right, the median over the seeds. Colours: "
        "positional schemes. Dashed: the best recurrent network. Thin: always the most frequent answer."
    )
    sources = (lengths_of, by_length, is_defined)

    @property
    def title(self) -> str:
        return f"{TASKS[self.state.task].title}: longer than trained"

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths at which they were tried; the first is the trained one."""
        return self.comparison.lengths

    @cached_property
    def networks(self) -> dict[str, Entry]:
        """Name -> network: the schemes in quotes, in the order of `POSITIONAL`, then the recurrent network."""
        of_schemes = self.comparison.by_scheme
        networks = {f"“{scheme}”": of_schemes[scheme] for scheme in POSITIONAL if scheme in of_schemes}
        recurrent = [entry for entry in self.comparison.contestants if is_recurrent(entry)]
        if recurrent:
            best = max(recurrent, key=lambda entry: (entry.median("accuracy"), -entry.median("loss")))
            networks[NAMES[best.config.network]] = best
        return networks

    def medians(self, entry: Entry) -> list[float | None]:
        """A network's share of right answers at each length, the median over the seeds; None where not defined."""
        return [entry.at_length(place) for place in range(len(self.lengths))]

    @cached_property
    def solved(self) -> list[tuple[str, float, float]]:
        """Those that solve the trained length and are defined beyond: name, share there and at the greatest length."""
        solved = []
        for name, entry in self.networks.items():
            begin, *_, end = self.medians(entry)
            if begin is not None and end is not None and begin >= SOLVES:
                solved.append((name, begin, end))
        return sorted(solved, key=lambda ends: -ends[2])

    def best(self) -> str:
        """The positional scheme with most right answers at the greatest length; of several the first."""
        shares = {scheme: entry.at_length(-1) for scheme, entry in self.comparison.by_scheme.items()}
        defined = {scheme: share for scheme, share in shares.items() if share is not None}
        return max(defined, key=defined.__getitem__, default=PLAIN)

    def sentence(self) -> str:
        """Who keeps what it has learned, who loses it, and who has no answer."""
        trained, longest = self.lengths[0], self.lengths[-1]
        kept = f"Trained at {trained} tokens, tested at up to {longest}. {self._kept()}"
        undefined = [name for name, entry in self.networks.items() if None in self.medians(entry)]
        if not undefined:
            return kept
        return f"{kept} {formats.listed(undefined)}: {NOT_DEFINED} beyond {trained}, where the table of positions ends."

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
        loses = f" Of those that solve {trained}, {name} loses most: from {shares[0]} to {shares[1]}."
        lost = loses if end < begin else ""
        return f"{who}. Still right at {longest}: {formats.listed(keep)}; {guess}.{lost}"

    def table(self) -> pd.DataFrame:
        """A row per length: each network's median, with the lowest and the highest seed."""
        columns = {name: _in_words(entry) for name, entry in self.networks.items()}
        columns["always the same answer"] = [formats.percent(share) for share in self.comparison.guessing]
        return pd.DataFrame(columns, index=pd.Index(self.lengths, name="length"))

    def laws(self) -> Mapping[str, bool]:
        """Where there is no answer, and where there must be one."""
        return {
            "defined exactly where the scheme is": all(
                (share is not None) == is_defined(entry.config, length)
                for entry in self.networks.values()
                for length, share in zip(self.lengths, self.medians(entry), strict=True)
            ),
        }

    def picture(self) -> Content:
        """The share of right answers over the length: a line for each network, with the trained length marked."""
        drawn = [self._line(name, number) for number, name in enumerate(self.networks)]
        guessing = Line("always the same answer", self.lengths, self.comparison.guessing, "muted", "thin")
        chart = Chart(
            "length of the sequence, tokens",
            "share of right answers, median of the seeds",
            [*drawn, guessing],
            reach=(-0.03, 1),  # otherwise the first length’s name would lie over the 0
            marks={"trained": self.lengths[0]},
        )
        return lines.content([chart], gap=NOT_DEFINED)

    def _line(self, name: str, number: int) -> Line:
        entry = self.networks[name]
        values = [math.nan if share is None else share for share in self.medians(entry)]
        if is_recurrent(entry):
            return Line(name, self.lengths, values, "ink", "dashed", says=_in_words(entry))
        return Line(name, self.lengths, values, f"head {number % 8 + 1}", says=_in_words(entry))


def _in_words(entry: Entry) -> list[str]:
    """A network's share of right answers at each length: the median, with the lowest and the highest seed."""
    texts = []
    for of_length in zip(*(outcome.by_length for outcome in entry.outcomes), strict=True):
        shares = [share for share in of_length if share is not None]
        low, high = min(shares, default=0.0), max(shares, default=0.0)
        between = f" ({formats.percent(low)} to {formats.percent(high)})" if low < high else ""
        texts.append(f"{formats.percent(median(shares))}{between}" if shares else NOT_DEFINED)
    return texts
