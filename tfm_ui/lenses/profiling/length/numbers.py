"""Time against length: what was measured, the power law fitted to it, and what the closed form of FLOPs says."""

import math
from collections.abc import Mapping
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Blocks, costs, scaling
from tfm_core.profiling.scaling import Fit
from tfm_core.profiling.units import in_bytes, in_seconds
from tfm_ui.lenses.profiling.asked import UNMEASURED, Lengths, asked
from tfm_ui.lenses.profiling.beside import Pace, beside
from tfm_ui.lenses.profiling.budget import BUDGET
from tfm_ui.lenses.profiling.compare.numbers import FORWARD, recipe
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import look, units


class Sweep(Lengths):
    """The times of one target at several lengths."""

    @cached_property
    def blocks(self) -> dict[str, list[Blocks]]:
        """forward, and forward + backward if it was asked for: the blocks of each length."""
        each = [self.of.kinds(number) for number in range(1, len(self.lengths) + 1)]
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
        """Of a forward pass at each length, in closed form."""
        return [sum(costs.flops(row).values()) for row in self.of.plan.rows]

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
        return 2 if "products" in costs.flops(self.of.plan.rows[0]) else 1

    def scaled(self) -> list[float]:
        """The FLOPs as milliseconds, at the rate that fits the measured forward passes best in logs; empty if none.

        As far as the fitted law reaches, so that its exponent is that of the same lengths; NaN elsewhere.
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
        apart = beside(Pace(at[last]), Pace(at[first]))
        long, short = f"{look.count(last)} tokens", look.plural(first, "token")
        said = apart.of(long, short, "take")
        if not apart.differs:
            return f"{said[0].upper()}{said[1:]}."
        local = scaling.exponent([first, last], [1, apart.interval.middle])
        return f"{units.times(last / first)} the length: {said}, as n^{local:.2f}."

    @property
    def sentence(self) -> str:
        """What it comes to."""
        if not any(self.timed(way) for way in self.blocks):
            nothing = self.problems or UNMEASURED
            return f"{nothing} {self.grows}"
        said = [self.growth]
        for way, fit in self.fits.items():
            n = fit.exponent
            said.append(f"Over {self._measured(way)} {way} grows as n^{n.middle:.2f} ({between(fit)}).")
        return " ".join(part for part in (*said, self.grows, self.problems, self.under_load(*self.blocks)) if part)

    @property
    def grows(self) -> str:
        """What the closed form says of the FLOPs over the lengths of the fits; "" of a single length."""
        if len(self.lengths) < 2:
            return ""
        over = {tuple(self.span(way)): way for way in reversed(self.fits)}  # one for all fits of the same lengths
        if not over:
            ends = f"from {look.count(self.lengths[0])} to {look.count(self.lengths[-1])} tokens"
            where = f"n^{self.theory:.2f} {ends}"
        elif len(over) == 1:
            where = f"n^{self.grow(next(iter(self.fits))):.2f} over these lengths"
        else:
            where = look.listed([f"n^{self.grow(way):.2f} over the lengths of {way}" for way in self.fits])
        end = ", and with n² in the end" if self.power == 2 else ", as there are no products of queries with keys"
        return f"FLOPs grow with {where}{end}."

    def _measured(self, way: str) -> str:
        """The lengths of its fit, in words."""
        there = self.span(way)
        if there == self.lengths:
            return "all lengths"
        return f"the {len(there)} measured lengths, {look.count(there[0])} to {look.count(there[-1])},"

    @property
    def problems(self) -> str:
        """Which lengths lack a figure, and why; "" where all have theirs, or none was measured."""
        if not self.of.report:
            return ""
        found: dict[str, list[str]] = {}
        for number, length in enumerate(self.lengths, 1):
            for reason in self.of.reasons(number):
                found.setdefault(reason, []).append(look.count(length))
        return " ".join(
            f"{look.listed(lengths)} {'token' if lengths == ['1'] else 'tokens'}: {reason}."
            for reason, lengths in found.items()
        )

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns: dict[str, list[float] | list[int] | list[str] | list[bool]] = {"MFLOP": [f / 1e6 for f in self.flops]}
        for way, blocks in self.blocks.items():
            columns[f"{way}, median ms"] = self.milliseconds(way)
            columns[f"{way}, lower quartile ms"] = [b.quartiles[0] * 1e3 for b in blocks]
            columns[f"{way}, upper quartile ms"] = [b.quartiles[1] * 1e3 for b in blocks]
            columns[f"{way}, measured under load"] = [b.under_load for b in blocks]
            columns[f"{way}, clean blocks"] = [len(b.seconds) for b in blocks]
            columns[f"{way}, contended blocks"] = [b.contended for b in blocks]
            if way in self.fits:
                columns[f"{way}, fitted ms"] = self.fitted(way)
        columns["without a figure"] = ["; ".join(self.of.reasons(number)) for number in range(1, len(self.lengths) + 1)]
        return self.of.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    @property
    def recipe(self) -> str:
        """Lines of Python that leave `medians`, `fit` and `theory`."""
        of_fit = "[f if one.forward.sample else 0 for f, one in zip(flops, report.measured)])  # the fit's lengths"
        return recipe(
            self.of.plan,
            "",
            "from tfm_core.profiling import costs, scaling",
            "lengths = [row.size.seq_len for row in rows]",
            "fit = scaling.fit(lengths, [one.forward for one in report.measured])  # its exponent with a 95 % interval",
            "flops = [sum(costs.flops(row).values()) for row in rows]",
            f"theory = scaling.exponent(lengths, {of_fit if FORWARD in self.fits else 'flops)'}",
        )


def between(fit: Fit) -> str:
    """Its interval in words, or why there is none."""
    low, high = fit.exponent.low, fit.exponent.high
    if math.isnan(low) or math.isnan(high):
        return "too few rounds for an interval"
    return f"95% interval {low:.2f} to {high:.2f}"


def beyond(left_out: Mapping[int, str]) -> str:
    """Which lengths are not asked for, and what they would need; "" if none is left out."""
    if not left_out:
        return ""
    needs = [f"{look.count(length)} tokens would need {need}" for length, need in left_out.items()]
    limit = f"{in_bytes(BUDGET.bytes)}, and {in_seconds(BUDGET.seconds)} with the shorter lengths"
    return f"{look.listed(needs)}. The limit is {limit}."


def sweep(model: ModelState, state: ProfilingState) -> Sweep | None:
    """What the view "length" shows; None if no length is within the budget."""
    found = asked(model, state, "length")
    return Sweep(found) if found else None
