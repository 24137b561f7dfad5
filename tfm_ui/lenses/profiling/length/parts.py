"""Parts against length: FLOPs by formula, time from torch.profiler, and where products overtake the feed-forward."""

import math
from fractions import Fraction
from functools import cached_property

import pandas as pd

from tfm_core.profiling import Size, costs, scaling
from tfm_ui.lenses.profiling.comparison import UNMEASURED
from tfm_ui.lenses.profiling.length.lengths import Lengths, in_tokens
from tfm_ui.lenses.profiling.part_names import SEPARATE_PASSES, in_order
from tfm_ui.lenses.profiling.recipes import overtaking, parts_at_lengths
from tfm_ui.text import formats

PRODUCTS, SOFTMAX, FEED_FORWARD = "products", "softmax", "feed-forward"


class PartsByLength(Lengths):
    """The parts of a forward pass at several lengths."""

    @cached_property
    def flops(self) -> dict[str, list[int]]:
        """part -> FLOPs at each length, of the parts that have any."""
        each = [costs.flops(row) for row in self.comparison.plan.rows]
        names = in_order(name for flops in each for name, count in flops.items() if count)
        return {name: [flops.get(name, 0) for flops in each] for name in names}

    @cached_property
    def milliseconds(self) -> dict[str, list[float]]:
        """part -> time at each length; NaN where it was not measured."""
        each = [{part.name: part.seconds * 1e3 for part in row.parts} for row in self.comparison.rows]
        names = in_order(name for times in each for name in times)
        return {name: [times.get(name, math.nan) for times in each] for name in names}

    @property
    def predicted(self) -> float | None:
        """The length from which products have more FLOPs than the feed-forward network; None without both."""
        both = {PRODUCTS, FEED_FORWARD} <= self.flops.keys()
        return scaling.predicted_crossing(self.comparison.plan.rows[0].size) if both else None

    def crossed(self, *parts: str) -> float | None:
        """The measured length at which these parts together overtake the feed-forward; None if they do not."""
        if not {*parts, FEED_FORWARD} <= self.milliseconds.keys():
            return None
        together = [sum(values) for values in zip(*(self.milliseconds[part] for part in parts), strict=True)]
        ends = zip(self.lengths, together, self.milliseconds[FEED_FORWARD], strict=True)
        there = [(n, a, b) for n, a, b in ends if a > 0 and b > 0]
        if len(there) < 2:
            return None
        return scaling.crossing(*([*values] for values in zip(*there, strict=True)))

    @cached_property
    def overtaken(self) -> float | None:
        """The measured length for products alone."""
        return self.crossed(PRODUCTS)

    @property
    def crossings(self) -> dict[str, float]:
        """predicted, measured -> length, of those that lie among the lengths shown."""
        both = {"predicted": self.predicted, "measured": self.overtaken}
        return {name: n for name, n in both.items() if n and self.lengths[0] <= n <= self.lengths[-1]}

    def sentence(self) -> str:
        """Where products overtake the feed-forward, and whose passes they are where calls have no time."""
        return " ".join(part for part in (self._overtaking, self._separate, self.under_load("parts")) if part)

    @property
    def _separate(self) -> str:
        """Which lengths have times of parts, and none of a call; "" if there are none."""
        rows = enumerate(zip(self.lengths, self.comparison.rows, strict=True), 1)
        lengths = [n for number, (n, row) in rows if row.parts and self.comparison.reason(number)]
        return f"{SEPARATE_PASSES}; no time of a forward call is shown at {in_tokens(lengths)}." if lengths else ""

    @property
    def _overtaking(self) -> str:
        """Where products overtake the feed-forward network, predicted and measured, and what is counted as products."""
        if self.predicted is None:
            return (
                f"There are no products of queries with keys here to overtake a feed-forward network. {self._measured}"
            )
        at = formats.count(round(self.predicted))
        said = (
            "Scores and weights × values, without projections, overtake the feed-forward at n = "
            f"{_times_d_ff(self.predicted, self.comparison.plan.rows[0].size)} = {at} in FLOPs"
        )
        if not self.lengths[0] <= self.predicted <= self.lengths[-1]:
            said += f", {'beyond' if self.predicted > self.lengths[-1] else 'before'} the lengths shown"
        return f"{said}. {self._measured}"

    @property
    def _measured(self) -> str:
        """What was measured of it."""
        if not self.milliseconds:
            return "No time by part was measured." if self.comparison.report else UNMEASURED
        if not {PRODUCTS, FEED_FORWARD} <= self.milliseconds.keys():
            if self.predicted is None:
                return ""
            return "Only operators can be told apart in this target’s time: they have their own names."
        if self.overtaken is not None:
            said = f"Measured: at {formats.count(round(self.overtaken))}."
        else:
            ahead = self._ahead
            if ahead is None:
                return "Too few lengths were measured to tell where they do in time."
            n = formats.count(self._both[0] if ahead else self._both[-1])
            said = f"Measured: already at {n} tokens." if ahead else f"Measured: not reached, beyond {n} tokens."
        kernel = next((row.kernel for row in self.comparison.rows if row.kernel), "")
        if SOFTMAX not in self.milliseconds:
            return f"{said} A fused kernel ({kernel}) does the softmax too: it is in the products." if kernel else said
        both = self.crossed(PRODUCTS, SOFTMAX)
        return f"{said} With the softmax, which has no FLOPs: at {formats.count(round(both))}." if both else said

    @property
    def _both(self) -> list[int]:
        """The lengths at which products and the feed-forward were measured."""
        each = zip(self.lengths, self.milliseconds[PRODUCTS], self.milliseconds[FEED_FORWARD], strict=True)
        return [n for n, a, b in each if a > 0 and b > 0]

    @property
    def _ahead(self) -> bool | None:
        """Whether products take longer at every length that was measured; None where it cannot be told."""
        pairs = zip(self.milliseconds[PRODUCTS], self.milliseconds[FEED_FORWARD], strict=True)
        longer = {a > b for a, b in pairs if a > 0 and b > 0}
        return longer.pop() if len(longer) == 1 else None

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns: dict[str, list[float] | list[bool]] = {
            f"{name}, MFLOP": [c / 1e6 for c in flops] for name, flops in self.flops.items()
        }
        columns |= {f"{name}, ms": times for name, times in self.milliseconds.items()}
        if self.milliseconds:
            columns["measured under load"] = [row.parts_under_load for row in self.comparison.rows]
        return self.comparison.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `flops` and `parts`, one for each length, and `crossing` where both parts were timed."""
        both = {PRODUCTS, FEED_FORWARD} <= self.milliseconds.keys()
        return self.comparison.recipe(overtaking if both else parts_at_lengths)


def _times_d_ff(length: float, size: Size) -> str:
    """A length as a multiple of d_ff: d_ff, 1.5 d_ff, 2/3 d_ff."""
    times = Fraction(length / size.feed_forward_dim).limit_denominator(6)
    return f"{times if times.denominator > 2 else f'{float(times):g}'} d_ff" if times != 1 else "d_ff"
