"""Measuring a plan: interleaved rounds, so that drift hits all rows alike."""

import os
import random
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from torch.utils.benchmark.utils.common import set_torch_threads

from tfm_core.profiling import clock, contention, machine, memory, parts
from tfm_core.profiling.plan import Plan, Row
from tfm_core.profiling.report import Blocks, Measured, Progress, Report
from tfm_core.profiling.run_forecast import Forecast, directions
from tfm_core.profiling.run_subject import Bench, Subject, problem, refusal

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch.profiler says on stderr when it begins and ends, each time
Step = TypeVar("Step")


def profile(plan: Plan, gate: contention.Gate | None = None) -> Iterator[Progress]:
    """Measure it; each step tells how far it is, and has the report by then. Whoever stops asking has stopped it.

    One row after the other is built, warmed up, and looked into by torch.profiler. Then rounds: in each, every row has
    a turn forward and one forward + backward, in an order shuffled by the seed, and so have a matrix product and a copy
    that tell the machine's limits. Between steps nothing is changed: threads and modes of torch are as they were.

    Args:
        plan: what is measured.
        gate: which blocks are contended; this machine's by default.
    """
    yield from _Run(plan, gate or contention.gate()).steps()


class _Run:
    """One run. Each row's measurements are frozen values, so that a report is never half written."""

    def __init__(self, plan: Plan, gate: contention.Gate) -> None:
        self.plan, self.setup, self.gate = plan, plan.setup, gate
        self.begin = time.perf_counter()
        self.id, self.started = secrets.token_hex(3), datetime.now(UTC).isoformat(timespec="seconds")
        self.machine = machine.describe(plan.setup)
        self.directions = ("forward", "training") if plan.setup.backward else ("forward",)
        self.measured: dict[int, Measured] = {}
        self.peaks: list[machine.Peak] = []
        self.bench = Bench(plan.setup)
        self.forecast = Forecast(plan, limits=2)
        self.share, self.tries = 0.0, clock.TRIES

    def steps(self) -> Iterator[Progress]:
        """All of it."""
        for number, row in enumerate(self.plan.rows):
            yield from self._excused(number, self._prepare(number, row))
        if not all(one.problem for one in self.measured.values()):
            yield self._progress("what this machine can do: warming up")
            with suppress(RuntimeError):  # then its limits are not known
                self._prepare_peaks()
            yield from self._rounds()
        yield self._progress("done", complete=True)

    def _prepare(self, number: int, row: Row) -> Iterator[Progress]:
        size = row.size
        name = f"{row.target} ({size.d_model}, {size.num_heads}, {size.num_layers}, {size.seq_len})"
        where = f"row {number + 1} of {len(self.plan.rows)}, {name}"
        yield self._progress(f"{where}: warming up")
        if refused := refusal(row, self.setup):
            self.measured[number] = Measured(row, problem=refused)
            return
        subject = self.bench.subject(number, row)
        one = Measured(row)
        for direction in self.directions:
            with subject.mode(direction):
                one = _with(one, direction, clock.warm_up(subject.call(direction)))
            self.measured[number] = one
            yield self._progress(f"{where}: memory")
            with subject.mode(direction):
                most = memory.measure(subject.call(direction), self.setup.device)
            one = replace(one, memory=most) if direction == "forward" else replace(one, training_memory=most)
            self.measured[number] = one
            if direction == "forward":
                yield self._progress(f"{where}: parts")
                self.measured[number] = one = self._with_parts(one, subject)
                yield self._progress(f"{where}: forward + backward" if self.setup.backward else where)

    def _prepare_peaks(self) -> None:
        peaks = machine.peaks(self.setup)
        with set_torch_threads(self.setup.threads):
            for peak in peaks:
                peak.blocks = clock.warm_up(peak.call)
        self.peaks = peaks

    def _rounds(self) -> Iterator[Progress]:
        """Whose turn it is: a row by its number in the plan, the machine's limits after them."""
        turns, shuffled = list(range(len(self.plan.rows) + len(self.peaks))), random.Random(self.setup.seed)
        for number in range(self.setup.rounds):
            doing = f"round {number + 1} of {self.setup.rounds}"
            shuffled.shuffle(turns)
            for index in turns:
                if index >= len(self.plan.rows):
                    steps = self._peak_turn(number, self.peaks[index - len(self.plan.rows)])
                elif not self.measured[index].problem:
                    steps = self._excused(index, self._turn(number, index))
                else:
                    continue
                begin = time.perf_counter()
                for _ in steps:
                    yield self._progress(doing)
                self.forecast.turned(index, time.perf_counter() - begin, self._blocks(index))
            # Where a whole round had nothing clean, trying again at once would only make a long run four times as long.
            clean = any(number in blocks.rounds for index in turns for blocks in self._blocks(index))
            self.tries = clock.TRIES if clean else 1

    def _turn(self, number: int, index: int) -> Iterator[None]:
        """One row's, in all directions."""
        one = self.measured[index]
        subject = self.bench.subject(index, one.row)
        for direction in self.directions:
            call, mode = subject.call(direction), partial(subject.mode, direction)
            before, threads = getattr(one, direction), self.setup.threads
            for blocks in clock.turn(before, call, number, threads, self.gate, tries=self.tries, mode=mode):
                self.measured[index] = one = _with(one, direction, blocks)
                yield
        if not one.parts and number in one.forward.rounds:  # it was contended before, and now there is room
            self.measured[index] = self._with_parts(one, subject)
            yield

    def _with_parts(self, one: Measured, subject: Subject) -> Measured:
        call = subject.call("forward")
        with subject.mode("forward"):
            found, kernel = parts.measure(subject.module, call, self.setup.device, self.gate)
        return replace(one, parts=found, kernel=kernel)

    def _peak_turn(self, number: int, peak: machine.Peak) -> Iterator[None]:
        threads = self.setup.threads
        for blocks in clock.turn(peak.blocks, peak.call, number, threads, self.gate, tries=self.tries):
            peak.blocks = blocks
            yield

    def _excused(self, number: int, steps: Iterator[Step]) -> Iterator[Step]:
        """One row's steps; where it fails, the others go on without it."""
        try:
            yield from steps
        except Exception as error:
            one = self.measured.get(number, Measured(self.plan.rows[number]))
            self.measured[number] = replace(one, problem=problem(error))
            self.bench.drop(number)

    def _blocks(self, index: int) -> list[Blocks]:
        if index >= len(self.plan.rows):
            return [self.peaks[index - len(self.plan.rows)].blocks]
        return directions(self.measured[index])

    def _progress(self, doing: str, *, complete: bool = False) -> Progress:
        took = time.perf_counter() - self.begin
        left = 0.0 if complete else self.forecast.seconds_left(self.measured, [peak.blocks for peak in self.peaks])
        self.share = 1.0 if complete else max(self.share, took / (took + left) if left else self.share)
        rates: dict[str, Any] = {peak.limit: peak.rate for peak in self.peaks}
        report = Report(
            id=self.id,
            plan=self.plan,
            machine=replace(self.machine, **rates),
            measured=tuple(self.measured[number] for number in sorted(self.measured)),
            started=self.started,
            seconds=took,
            complete=complete,
            gate=self.gate.kind,
        )
        return Progress(self.share, left, doing, report)


def _with(one: Measured, direction: str, blocks: Blocks) -> Measured:
    return replace(one, forward=blocks) if direction == "forward" else replace(one, training=blocks)
