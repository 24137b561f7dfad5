"""Time against length: what was measured, the power law fitted to it, and what the closed form of FLOPs says."""

import math
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Blocks, costs, scaling
from tfm_core.profiling.scaling import Fit
from tfm_ui.lenses.profiling.comparison import FORWARD, UNMEASURED, grouped
from tfm_ui.lenses.profiling.length.lengths import Lengths, in_tokens
from tfm_ui.lenses.profiling.pace import Pace
from tfm_ui.lenses.profiling.recipes import growth
from tfm_ui.text import formats, units


class TimeByLength(Lengths):
    """The times of one target at several lengths."""

    @cached_property
    def blocks(self) -> dict[str, list[Blocks]]:
        """forward, and forward + backward if it was asked for: the blocks of each length."""
        each = [self.comparison.kinds(number) for number in self.comparison.numbers]
        return {way: [kinds[way] for kinds in each] for way in each[0]}

    def milliseconds(self, way: str) -> list[float]:
        """Medians; NaN where there are too few rounds."""
        return [blocks.median * 1e3 for blocks in self.blocks[way]]

    def timed(self, way: str) -> list[int]:
        """The lengths that have a median."""
        return [n for n, blocks in zip(self.lengths, self.blocks[way], strict=True) if blocks.sample]

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """Power laws, of what was measured at three lengths at least."""
        return {
            way: scaling.fit(self.lengths, blocks) for way, blocks in self.blocks.items() if len(self.timed(way)) >= 3
        }

    @cached_property
    def flops(self) -> list[int]:
        """FLOPs of a forward pass at each length, in closed form."""
        return [self.comparison.flops(number) for number in self.comparison.numbers]

    def span(self, way: str) -> list[int]:
        """The lengths that its power law was fitted to; all that are asked for where there is none."""
        return self.timed(way) if way in self.fits else self.lengths

    def grow(self, way: str) -> float:
        """The exponent of the FLOPs over the same lengths as the fit."""
        there = self.span(way)
        counted = zip(self.lengths, self.flops, strict=True)
        return scaling.exponent(self.lengths, [f if n in there else math.nan for n, f in counted])

    @property
    def theory(self) -> float:
        """The exponent of the FLOPs over the lengths that have a fitted forward time, or over all."""
        return self.grow(FORWARD)

    @property
    def power(self) -> int:
        """The exponent of the FLOPs in the end: 2 where there are products of all queries with all keys."""
        return 2 if "products" in costs.flops(self.comparison.plan.rows[0]) else 1

    def scaled(self) -> list[float]:
        """The FLOPs as milliseconds, at the rate that fits the measured forward passes best in logs; empty if none.

        It reaches as far as the fitted law, so that its exponent is that of the same lengths; it is NaN elsewhere.
        """
        pairs = [(f, ms) for f, ms in zip(self.flops, self.milliseconds(FORWARD), strict=True) if math.isfinite(ms)]
        if not pairs:
            return []
        rate = math.exp(sum(math.log(ms / f) for f, ms in pairs) / len(pairs))
        return self._within(FORWARD, [f * rate for f in self.flops])

    def fitted(self, way: str) -> list[float]:
        """The power law in milliseconds, from the first to the last length that it was fitted to; NaN elsewhere."""
        fit = self.fits[way]
        return self._within(way, [1e3 * fit.at(n) for n in self.lengths])

    def _within(self, way: str, values: list[float]) -> list[float]:
        there = self.span(way)
        return [
            value if there[0] <= n <= there[-1] else math.nan for n, value in zip(self.lengths, values, strict=True)
        ]

    @property
    def growth(self) -> str:
        """The last step of the lengths by four, in words; "" if fewer than two lengths have a median."""
        there = self.timed(FORWARD)
        if len(there) < 2:
            return ""
        last = there[-1]
        first = last // 4 if last // 4 in there else there[0]
        at = dict(zip(self.lengths, self.blocks[FORWARD], strict=True))
        ratio = Pace(at[last]).over(Pace(at[first]))
        said = ratio.in_words(f"{formats.count(last)} tokens", formats.plural(first, "token"), "take")
        if not ratio.differs:
            return f"{said[0].upper()}{said[1:]}."
        local = scaling.exponent([first, last], [1, ratio.interval.middle])
        return f"{units.times(last / first)} the length: {said}, as n^{local:.2f}."

    def sentence(self) -> str:
        """What it comes to."""
        if not any(self.timed(way) for way in self.blocks):
            nothing = self.problems or UNMEASURED
            return f"{nothing} {self.grows}"
        said = [self.growth]
        for way, fit in self.fits.items():
            n = fit.exponent
            said.append(f"Over {self._measured(way)} {way} grows as n^{n.middle:.2f} ({_interval(fit)}).")
        return " ".join(part for part in (*said, self.grows, self.problems, self.under_load(*self.blocks)) if part)

    @property
    def grows(self) -> str:
        """What the closed form says of the FLOPs over the lengths of the fits; "" of a single length."""
        if len(self.lengths) < 2:
            return ""
        over = {tuple(self.span(way)): way for way in reversed(self.fits)}  # one for all fits of the same lengths
        if not over:
            ends = f"from {formats.count(self.lengths[0])} to {formats.count(self.lengths[-1])} tokens"
            where = f"n^{self.theory:.2f} {ends}"
        elif len(over) == 1:
            where = f"n^{self.grow(next(iter(self.fits))):.2f} over these lengths"
        else:
            where = formats.listed([f"n^{self.grow(way):.2f} over the lengths of {way}" for way in self.fits])
        end = ", and with n² in the end" if self.power == 2 else ", as there are no products of queries with keys"
        return f"FLOPs grow with {where}{end}."

    def _measured(self, way: str) -> str:
        """The lengths of its fit, in words."""
        there = self.span(way)
        if there == self.lengths:
            return "all lengths"
        return f"the {len(there)} measured lengths, {formats.count(there[0])} to {formats.count(there[-1])},"

    @property
    def problems(self) -> str:
        """Which lengths lack a figure, and why; "" where all have theirs, or none was measured."""
        if not self.comparison.report:
            return ""
        by_reason = grouped(
            (reason, length)
            for number, length in enumerate(self.lengths, 1)
            for reason in self.comparison.reasons(number)
        )
        return " ".join(f"{in_tokens(lengths)}: {reason}." for reason, lengths in by_reason.items())

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns: dict[str, list[float] | list[int] | list[str] | list[bool]] = {"MFLOP": [f / 1e6 for f in self.flops]}
        for way, blocks in self.blocks.items():
            columns[f"{way}, median ms"] = self.milliseconds(way)
            columns[f"{way}, lower quartile ms"] = [b.quartiles[0] * 1e3 for b in blocks]
            columns[f"{way}, upper quartile ms"] = [b.quartiles[1] * 1e3 for b in blocks]
            columns[f"{way}, measured under load"] = [b.under_load for b in blocks]
            columns[f"{way}, undisturbed timings"] = [len(b.seconds) for b in blocks]
            columns[f"{way}, disturbed timings"] = [b.contended for b in blocks]
            if way in self.fits:
                columns[f"{way}, fitted ms"] = self.fitted(way)
        columns["without a figure"] = ["; ".join(self.comparison.reasons(number)) for number in self.comparison.numbers]
        return self.comparison.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `medians`, `fit` and `theory`."""
        return self.comparison.recipe(growth)


def _interval(fit: Fit) -> str:
    """The exponent's interval in words, or why there is none."""
    low, high = fit.exponent.low, fit.exponent.high
    if math.isnan(low) or math.isnan(high):
        return "too few rounds for an interval"
    return f"95% interval {low:.2f} to {high:.2f}"
