"""Time against length: what was measured, the power law fitted to it, and what the closed form of FLOPs says."""

import math
from collections.abc import Sequence
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Blocks, Plan, Row, Setup, costs, profile, scaling
from tfm_core.profiling.scaling import Fit
from tfm_ui.lenses.profiling.length_costs import (
    COLOUR,
    LENGTH,
    LengthMemory,
    LengthPanel,
    LengthParts,
    in_tokens,
    lengths_left_out,
    no_lengths,
)
from tfm_ui.lenses.profiling.pace import Ratio
from tfm_ui.lenses.profiling.row_controls import of_lengths, random_numbers
from tfm_ui.lenses.profiling.rows import FORWARD, UNMEASURED, grouped, how_measured, in_common, measure, total_flops
from tfm_ui.page.lens import View
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.text import formats, units


def theory_over(lengths: Sequence[int], flops: Sequence[int], blocks: Sequence[Blocks]) -> float:
    """The exponent of the FLOPs over the lengths that have a time; over all, where too few have one for a law."""
    timed = [bool(of_length.sample) for of_length in blocks]
    is_fitted = sum(timed) >= 3
    counted = [count if there or not is_fitted else 0 for count, there in zip(flops, timed, strict=True)]
    return scaling.exponent(lengths, counted)


def growth(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[float], Fit, float]:
    """Seconds at each length, the law fitted to them, and the exponent of the FLOPs over the same lengths."""
    report = measure(Plan(rows, setup))
    lengths, flops = [row.size.seq_len for row in rows], [total_flops(row) for row in rows]
    blocks = [measured.forward for measured in report.measured]
    medians = [of_length.median for of_length in blocks]
    fit = scaling.fit(lengths, blocks)  # its exponent with a 95 % interval
    theory = theory_over(lengths, flops, blocks)
    return medians, fit, theory


class LengthTime(LengthPanel):
    """The times of one target at several lengths."""

    title = "Time against length"
    sources = (profile, scaling.fit, costs.flops)

    @property
    def how_to_read(self) -> str:
        drawn = (
            "A ring is the median, its stroke goes from quartile to quartile. The dashed line is the fitted power law, "
            "the thin one the FLOPs, scaled."
            if self.measured
            else "The line is the FLOPs by formula; rings of measured times come when you press Measure."
        )
        return f"Both axes are logarithmic, so a power law is a straight line. {drawn}"

    @cached_property
    def blocks(self) -> dict[str, list[Blocks]]:
        """forward, and forward + backward if it was asked for: the blocks of each length."""
        each = [self.kinds(number) for number in self.numbers]
        return {way: [kinds[way] for kinds in each] for way in each[0]}

    def milliseconds(self, way: str) -> list[float]:
        """Medians; NaN where there are too few rounds."""
        return [blocks.median * 1e3 for blocks in self.blocks[way]]

    def measured_at(self, way: str) -> list[int]:
        """The lengths that have a median."""
        return [n for n, blocks in zip(self.lengths, self.blocks[way], strict=True) if blocks.sample]

    @cached_property
    def fits(self) -> dict[str, Fit]:
        """Power laws, of what was measured at three lengths at least."""
        ways = [way for way in self.blocks if len(self.measured_at(way)) >= 3]
        return {way: scaling.fit(self.lengths, self.blocks[way]) for way in ways}

    @cached_property
    def flops(self) -> list[int]:
        """FLOPs of a forward pass at each length, in closed form."""
        return [self.flops_of(number) for number in self.numbers]

    def span(self, way: str) -> list[int]:
        """The lengths that its power law was fitted to; all that are asked for where there is none."""
        return self.measured_at(way) if way in self.fits else self.lengths

    def grow(self, way: str) -> float:
        """The exponent of the FLOPs over the same lengths as the fit."""
        return theory_over(self.lengths, self.flops, self.blocks[way])

    @property
    def theory(self) -> float:
        """The exponent of the FLOPs over the lengths that have a fitted forward time, or over all."""
        return self.grow(FORWARD)

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
    def step(self) -> tuple[int, int]:
        """The longest length, after a quarter of it or else the shortest; of those with a time, if there are any."""
        there = self.measured_at(FORWARD) or self.lengths
        return there[-1] // 4 if there[-1] // 4 in there else there[0], there[-1]

    def over(self, longer: int, shorter: int) -> Ratio:
        """The forward time at one length over that at another."""
        return self.ratio(self.lengths.index(longer) + 1, self.lengths.index(shorter) + 1)

    def flops_over(self, longer: int, shorter: int) -> float:
        """FLOPs at one length over those at another."""
        at = dict(zip(self.lengths, self.flops, strict=True))
        return at[longer] / at[shorter]

    @property
    def growth(self) -> str:
        """The last step of the lengths by four, in words; "" if fewer than two lengths have a median."""
        if len(self.measured_at(FORWARD)) < 2:
            return ""
        first, last = self.step
        ratio = self.over(last, first)
        words = ratio.in_words(f"{formats.count(last)} tokens", formats.plural(first, "token"), "take")
        if not ratio.differs:
            return f"{words[0].upper()}{words[1:]}."
        local = scaling.exponent([first, last], [1, ratio.interval.middle])
        return f"{units.times(last / first)} the length: {words}, as n^{local:.2f}."

    def sentence(self) -> str:
        """How time grows, and FLOPs beside it; where there is no time, why."""
        if not any(self.measured_at(way) for way in self.blocks):
            return f"{self.problems or UNMEASURED} {self.grows}"
        laws = [
            f"Over {self._fitted_over(way)} {way} grows as n^{fit.exponent.middle:.2f} ({_interval(fit)})."
            for way, fit in self.fits.items()
        ]
        return " ".join(filter(None, (self.growth, *laws, self.grows, self.problems, self.under_load(*self.blocks))))

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
        squared = "products" in costs.flops(self.plan.rows[0])  # of all queries with all keys
        end = ", and with n² in the end" if squared else ", as there are no products of queries with keys"
        return f"FLOPs grow with {where}{end}."

    def _fitted_over(self, way: str) -> str:
        """The lengths of its fit, in words."""
        there = self.span(way)
        if there == self.lengths:
            return "all lengths"
        return f"the {len(there)} measured lengths, {formats.count(there[0])} to {formats.count(there[-1])},"

    @property
    def problems(self) -> str:
        """Which lengths lack a figure, and why; "" where all have theirs, or none was measured."""
        if not self.report:
            return ""
        numbered = zip(self.numbers, self.lengths, strict=True)
        by_reason = grouped((reason, length) for number, length in numbered for reason in self.reasons(number))
        return " ".join(f"{in_tokens(lengths)}: {reason}." for reason, lengths in by_reason.items())

    def chart(self) -> Content:
        """Medians and quartiles, fitted power laws, and the FLOPs at the rate that fits best; FLOPs alone before."""
        drawn = [line for way in self.blocks for line in self._drawn(way)]
        unit = "time of a call, ms"
        if not drawn:
            unit = "FLOPs of a forward pass, in millions"
            drawn = [Line("closed form", self.lengths, [f / 1e6 for f in self.flops], "muted", "dashed")]
        elif scaled := self.scaled():
            drawn.append(Line(f"FLOPs, n^{self.theory:.2f}", self.lengths, scaled, "muted", "thin"))
        crossings = sorted(LengthParts(self.model, self.state).crossings.items(), key=lambda crossing: crossing[1])
        both = ", ".join(f"{name} {formats.count(round(n))}" for name, n in crossings)  # apart they would overlap
        marks = {name: n for name, (_, n) in zip((both, ""), crossings, strict=False)}
        return lines.content([Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)])

    def _drawn(self, way: str) -> list[Line]:
        """Its medians, the span of its quartiles at each length, and its fitted law."""
        if not self.measured_at(way):
            return []
        blocks, colour = self.blocks[way], COLOUR[way]
        load = ", under load" * any(of_length.under_load for of_length in blocks)
        x, y = _spans(self.lengths, blocks)
        drawn = [
            Line(f"{way}{load}", self.lengths, self.milliseconds(way), colour, "dots"),
            Line("", x, y, colour, "thin"),
        ]
        if way in self.fits:
            exponent = self.fits[way].exponent.middle
            drawn.append(Line(f"fitted n^{exponent:.2f}", self.lengths, self.fitted(way), colour, "dashed"))
        return drawn

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
        columns["without a figure"] = ["; ".join(self.reasons(number)) for number in self.numbers]
        return self.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `medians`, `fit` and `theory`."""
        return self.script(growth)


def _spans(lengths: Sequence[int], blocks: Sequence[Blocks]) -> tuple[list[float], list[float]]:
    """Upright strokes: from the lower to the upper quartile at each length, then a gap."""
    x: list[float] = []
    y: list[float] = []
    for length, of_length in zip(lengths, blocks, strict=True):
        low, high = of_length.quartiles
        x += [length, length, math.nan]
        y += [low * 1e3, high * 1e3, math.nan]
    return x, y


def _interval(fit: Fit) -> str:
    """The exponent's interval in words, or why there is none."""
    low, high = fit.exponent.low, fit.exponent.high
    if math.isnan(low) or math.isnan(high):
        return "too few rounds for an interval"
    return f"95% interval {low:.2f} to {high:.2f}"


VIEW = View(
    title="By length",
    exercise="tiled-attention",
    shows=[LengthTime, lengths_left_out, in_common, how_measured, LengthMemory, LengthParts],
    instead=no_lengths,
    reads_instead=random_numbers,
    controls=of_lengths,
)
