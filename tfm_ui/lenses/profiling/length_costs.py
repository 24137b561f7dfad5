"""Memory and the parts of a pass against length: what follows from formulas, and what was measured of it."""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Literal

import pandas as pd
import torch

from tfm_core.profiling import Plan, Row, Setup, Size, costs, profile, scaling
from tfm_ui.lenses.profiling.plan import beyond_budget, lengths_of, plan_of_lengths, why_no_length
from tfm_ui.lenses.profiling.rows import (
    FORWARD,
    SEPARATE_PASSES,
    TRAINING,
    UNMEASURED,
    ProfilingPanel,
    in_order,
    measure,
)
from tfm_ui.lenses.profiling.state import ProfilingState
from tfm_ui.pictures import lines
from tfm_ui.pictures.canvas import Content
from tfm_ui.pictures.lines import Chart, Line
from tfm_ui.pictures.panel import Note
from tfm_ui.state.model_state import ModelState
from tfm_ui.text import formats, units

NO_LENGTH = "No length fits into the limits of this server."
LENGTH = "length, tokens"
ALLOCATED, SYSTEM = "allocator, measured", "system, measured"
PRODUCTS, SOFTMAX, FEED_FORWARD = "products", "softmax", "feed-forward"
COLOUR = {FORWARD: "head 6", TRAINING: "head 3"}
PART = {
    "projections": "head 1", PRODUCTS: "head 2", SOFTMAX: "head 3", FEED_FORWARD: "head 6", "norms": "head 4",
    "recurrence": "head 2", "convolution": "head 1", "output": "head 8", "embedding": "head 5", "logits": "head 7",
    "rest": "muted",
}  # fmt: skip


class LengthPanel(ProfilingPanel):
    """A panel on one target at several lengths, a row for each."""

    @cached_property
    def asked(self) -> Plan | None:
        return plan_of_lengths(self.model, self.state)

    @property
    def why_nothing(self) -> str:
        return why_no_length(self.model, self.state) or NO_LENGTH

    @property
    def lengths(self) -> list[int]:
        """The lengths that are asked for."""
        return [row.size.seq_len for row in self.plan.rows]

    def listed(self, numbers: list[int]) -> str:
        """The lengths of these rows in words."""
        if len(numbers) == len(self.lengths):
            return "all lengths"
        return in_tokens([self.lengths[number - 1] for number in numbers])


def in_tokens(lengths: list[int]) -> str:
    """32, 64 and 128 tokens; 1 token."""
    return f"{formats.listed([formats.count(length) for length in lengths])} {'token' if lengths == [1] else 'tokens'}"


def peak_memory(*, rows: tuple[Row, ...], setup: Setup) -> tuple[list[int], list[int | None], list[int | None]]:
    """Bytes of each row's forward pass: in closed form, as the allocator counted, as the system saw."""
    report = measure(Plan(rows, setup))
    predicted = [costs.peak_memory(row, setup) for row in rows]
    allocated = [measured.memory.allocated for measured in report.measured]
    system = [measured.memory.system for measured in report.measured]
    return predicted, allocated, system


class LengthMemory(LengthPanel):
    """Bytes at the peak of a call beyond weights and input: measured in two ways, predicted, and attention weights."""

    title = "Memory against length"
    sources = (costs.peak_memory, profile)

    @property
    def how_to_read(self) -> str:
        drawn = (
            "Rings were counted by torch’s allocator, the thin line by the operating system; dashed lines follow from "
            "a formula."
            if self.measured
            else "All lines follow from a formula."
        )
        return f"The largest amount of memory that a call holds at once, without weights and input. {drawn}"

    def predicted(self, way: str) -> list[int]:
        """The peak at each length in closed form."""
        return [costs.peak_memory(row, self.plan.setup, backward=way == TRAINING) for row in self.plan.rows]

    def peaks(self, way: str) -> dict[str, list[float]]:
        """The peaks as the allocator counted, and as the system saw them; NaN where they could not be seen."""
        peaks = [row.memory if way == FORWARD else row.training_memory for row in self.rows]
        both = {ALLOCATED: [peak.allocated for peak in peaks], SYSTEM: [peak.system for peak in peaks]}
        return {
            name: [math.nan if count is None else float(count) for count in counts]
            for name, counts in both.items()
            if any(count is not None for count in counts)
        }

    @property
    def weights(self) -> list[int]:
        """The attention weights of all layers, heads and sequences; empty of what has none."""
        if PRODUCTS not in costs.flops(self.plan.rows[0]):
            return []
        number = getattr(torch, self.plan.setup.dtype).itemsize
        sizes = [row.size for row in self.plan.rows]
        return [number * s.num_attentions * s.batch * s.num_heads * s.seq_len**2 for s in sizes]

    def sentence(self) -> str:
        """The peak at the longest length with a figure: predicted, measured, and the attention weights among it."""
        measured = self.peaks(FORWARD).get(ALLOCATED, [])
        there = [i for i, count in enumerate(measured) if count > 0]
        at = there[-1] if there else -1
        n, predicted = self.lengths[at], self.predicted(FORWARD)[at]
        tokens = formats.plural(n, "token")
        peak = (
            f"measured {units.bytes_of(measured[at])}, {units.times(measured[at] / predicted)} the prediction"
            if there
            else "not measured"
        )
        sentences = [f"{tokens}, forward: predicted {units.bytes_of(predicted)}, {peak}."]
        if self.weights:
            more = ", more than lay there at the peak" if there and self.weights[at] > measured[at] else ""
            sentences.append(f"The attention weights of all layers are {units.bytes_of(self.weights[at])}{more}.")
        if len(there) > 1:
            few, grown = formats.count(self.lengths[there[-2]]), units.times(measured[at] / measured[there[-2]])
            sentences.append(f"Going from {few} to {formats.count(n)} tokens took {grown} the memory.")
        return " ".join(sentences)

    def chart(self) -> Content:
        """Predicted and measured peaks, and the attention weights apart."""
        drawn: list[Line] = []
        for way in self.kinds(1):
            peaks = self.peaks(way)
            if ALLOCATED in peaks:
                drawn.append(self._line(way, peaks[ALLOCATED], COLOUR[way], "dots"))
            name = "predicted" if ALLOCATED in peaks else f"{way}, predicted"
            drawn.append(self._line(name, self.predicted(way), COLOUR[way], "dashed"))
            if SYSTEM in peaks:
                drawn.append(self._line("system", peaks[SYSTEM], COLOUR[way], "thin"))
        if self.weights:
            drawn.append(self._line("attention weights", self.weights, "muted", "thin"))
        return lines.content([Chart(LENGTH, "MiB at the peak", drawn, "log2", "log10")])

    def _line(self, name: str, counts: Sequence[float], colour: str, style: Literal["dots", "dashed", "thin"]) -> Line:
        return Line(name, self.lengths, [count / 2**20 for count in counts], colour, style)

    def table(self) -> pd.DataFrame:
        """A row per length, in bytes."""
        columns: dict[str, list[float] | list[int]] = {}
        for way in self.kinds(1):
            columns[f"{way}, predicted bytes"] = self.predicted(way)
            for name, counts in self.peaks(way).items():
                columns[f"{way}, {name} bytes"] = counts
        if self.weights:
            columns["attention weights, bytes"] = self.weights
        return self.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `predicted`, `allocated`, `system`."""
        return self.script(peak_memory)


def overtaking(lengths: Sequence[int], parts: Sequence[Mapping[str, float]], names: Sequence[str]) -> float | None:
    """The length at which these parts together overtake the feed-forward in time; None if they do not."""
    together = [sum(seconds.get(name, math.nan) for name in names) for seconds in parts]
    feed_forward = [seconds.get("feed-forward", math.nan) for seconds in parts]
    return scaling.crossing(lengths, together, feed_forward)


def parts_at_lengths(
    *, rows: tuple[Row, ...], setup: Setup
) -> tuple[list[dict[str, int]], list[dict[str, float]], float | None]:
    """FLOPs and seconds of each row's parts, and the length at which products overtake the feed-forward network."""
    report = measure(Plan(rows, setup))
    flops = [costs.flops(row) for row in rows]
    parts = [{part.name: part.seconds for part in measured.parts} for measured in report.measured]
    crossing = overtaking([row.size.seq_len for row in rows], parts, ["products"])  # None if they do not
    return flops, parts, crossing


class LengthParts(LengthPanel):
    """The parts of a forward pass: FLOPs by formula, time from torch.profiler, and where products overtake."""

    title = "Where it goes"
    how_to_read = (
        "First the FLOPs of each part, by formula; once measured, also its milliseconds in one forward "
        "pass, by torch.profiler. Products are scores and weights × values; the softmax is a part of its own."
    )
    sources = (costs.flops, scaling.crossing, profile)

    @cached_property
    def flops(self) -> dict[str, list[int]]:
        """part -> FLOPs at each length, of the parts that have any."""
        each = [costs.flops(row) for row in self.plan.rows]
        names = in_order(name for flops in each for name, count in flops.items() if count)
        return {name: [flops.get(name, 0) for flops in each] for name in names}

    @cached_property
    def milliseconds(self) -> dict[str, list[float]]:
        """part -> time at each length; NaN where it was not measured."""
        each = [{part.name: part.seconds * 1e3 for part in row.parts} for row in self.rows]
        names = in_order(name for times in each for name in times)
        return {name: [times.get(name, math.nan) for times in each] for name in names}

    @property
    def predicted(self) -> float | None:
        """The length from which products have more FLOPs than the feed-forward network; None without both."""
        both = {PRODUCTS, FEED_FORWARD} <= self.flops.keys()
        return scaling.predicted_crossing(self.plan.rows[0].size) if both else None

    def crossed(self, *names: str) -> float | None:
        """The measured length at which these parts together overtake the feed-forward; None if they do not."""
        seconds = [{part.name: part.seconds for part in row.parts} for row in self.rows]
        return overtaking(self.lengths, seconds, names)

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
        return " ".join(filter(None, (self._overtaking, self._separate, self.under_load("parts"))))

    @property
    def _separate(self) -> str:
        """Which lengths have times of parts, and none of a call; "" if there are none."""
        rows = enumerate(zip(self.lengths, self.rows, strict=True), 1)
        lengths = [n for number, (n, row) in rows if row.parts and self.reason(number)]
        return f"{SEPARATE_PASSES}; no time of a forward call is shown at {in_tokens(lengths)}." if lengths else ""

    @property
    def _overtaking(self) -> str:
        """Where products overtake the feed-forward network, predicted and measured, and what is counted as products."""
        if self.predicted is None:
            return (
                f"There are no products of queries with keys here to overtake a feed-forward network. {self._measured}"
            )
        times, at = _times_d_ff(self.predicted, self.plan.rows[0].size), formats.count(round(self.predicted))
        where = ""
        if not self.lengths[0] <= self.predicted <= self.lengths[-1]:
            where = f", {'beyond' if self.predicted > self.lengths[-1] else 'before'} the lengths shown"
        return (
            "Scores and weights × values, without projections, overtake the feed-forward at n = "
            f"{times} = {at} in FLOPs{where}. {self._measured}"
        )

    @property
    def _measured(self) -> str:
        """What was measured of it."""
        if not self.milliseconds:
            return "No time by part was measured." if self.report else UNMEASURED
        if not {PRODUCTS, FEED_FORWARD} <= self.milliseconds.keys():
            if self.predicted is None:
                return ""
            return "Only operators can be told apart in this target’s time: they have their own names."
        if self.overtaken is not None:
            where = f"at {formats.count(round(self.overtaken))}"
        elif len(set(self._longer.values())) != 1:
            return "Too few lengths were measured to tell where they do in time."
        elif all(self._longer.values()):
            where = f"already at {formats.count(min(self._longer))} tokens"
        else:
            where = f"not reached, beyond {formats.count(max(self._longer))} tokens"
        return f"Measured: {where}.{self._of_softmax}"

    @property
    def _of_softmax(self) -> str:
        """A sentence that follows where the softmax is in the products, or where both overtake together."""
        if SOFTMAX not in self.milliseconds:
            kernel = next((row.kernel for row in self.rows if row.kernel), "")
            return f" A fused kernel ({kernel}) does the softmax too: it is in the products." if kernel else ""
        both = self.crossed(PRODUCTS, SOFTMAX)
        return f" With the softmax, which has no FLOPs: at {formats.count(round(both))}." if both else ""

    @property
    def _longer(self) -> dict[int, bool]:
        """Length -> whether products take longer than the feed-forward, where both were measured."""
        each = zip(self.lengths, self.milliseconds[PRODUCTS], self.milliseconds[FEED_FORWARD], strict=True)
        return {n: a > b for n, a, b in each if a > 0 and b > 0}

    def chart(self) -> Content:
        """FLOPs and, if it was measured, time by part."""
        marks = {name: {f"{name} {formats.count(round(n))}": n} for name, n in self.crossings.items()}
        flops = {name: [count / 1e6 for count in counts] for name, counts in self.flops.items()}
        charts = [self._by_part(flops, "FLOPs by part, in millions", marks.get("predicted", {}))]
        if self.milliseconds:
            unit = f"time by part, ms{', under load' * any(row.parts_under_load for row in self.rows)}"
            charts.append(self._by_part(self.milliseconds, unit, marks.get("measured", {})))
        return lines.content(charts)

    def _by_part(self, values: Mapping[str, Sequence[float]], unit: str, marks: Mapping[str, float]) -> Chart:
        drawn = [
            Line(name, self.lengths, costs, PART.get(name, f"head {i % 8 + 1}"))
            for i, (name, costs) in enumerate(values.items())
        ]
        return Chart(LENGTH, unit, drawn, "log2", "log10", marks=marks)

    def table(self) -> pd.DataFrame:
        """A row per length."""
        columns: dict[str, list[float] | list[bool]] = {
            f"{name}, MFLOP": [c / 1e6 for c in flops] for name, flops in self.flops.items()
        }
        columns |= {f"{name}, ms": times for name, times in self.milliseconds.items()}
        if self.milliseconds:
            columns["measured under load"] = [row.parts_under_load for row in self.rows]
        return self.stamped(pd.DataFrame(columns, index=pd.Index(self.lengths, name="length")))

    def recipe(self) -> str:
        """A script that leaves `flops` and `parts`, one for each length, and `crossing`."""
        return self.script(parts_at_lengths)


def _times_d_ff(length: float, size: Size) -> str:
    """A length as a multiple of d_ff: d_ff, 1.5 d_ff, 2/3 d_ff."""
    times = Fraction(length / size.feed_forward_dim).limit_denominator(6)
    return f"{times if times.denominator > 2 else f'{float(times):g}'} d_ff" if times != 1 else "d_ff"


def lengths_left_out(model: ModelState, state: ProfilingState) -> Note | None:
    """Which lengths are not asked for, and why."""
    reasons = why_no_length(model, state), beyond_budget(lengths_of(model, state)[1])
    return Note(" ".join(filter(None, reasons))) if any(reasons) else None


def no_lengths(model: ModelState, state: ProfilingState) -> list[Note | None]:
    """Why there are no lengths, in place of them; nothing if there are any."""
    return [] if plan_of_lengths(model, state) else [lengths_left_out(model, state)]
