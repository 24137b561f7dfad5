"""Measuring a plan: interleaved rounds, so that drift hits all rows alike."""

import os
import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from torch.utils.benchmark.utils.common import set_torch_threads

from tfm_core.profiling import clock, contention, machine, memory, parts
from tfm_core.profiling.costs import call_seconds
from tfm_core.profiling.plan import Plan
from tfm_core.profiling.report import Blocks, Measured, Progress, Report
from tfm_core.profiling.run_forecast import Forecast
from tfm_core.profiling.run_subject import Bench, Subject, problem, refusal

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch.profiler says on stderr when it begins and ends, each time
Step = TypeVar("Step")
NAMES = {"forward": "forward", "training": "forward + backward"}  # of directions, in words


def profile(plan: Plan, gate: contention.Gate | None = None) -> Iterator[Progress]:
    """Measure a plan; each step says how far it is, and holds the report so far. Closing the generator stops it.

    One row after the other is built, warmed up, and profiled by torch.profiler. Then rounds: in each, every row has
    a turn forward and one forward + backward, in an order shuffled by the seed, and so have a matrix product and a copy
    that show the machine's limits. Between steps, torch's threads and modes are as they were before.

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
        guesses = [0.0 if refusal(row, plan.setup) else call_seconds(row, plan.setup) for row in plan.rows]
        self.forecast = Forecast(plan, guesses, limits=2)
        self.share, self.patience = 0.0, clock.Patience()
        self.ways: dict[int, Sequence[str]] = {}  # of each row, the directions that have not failed

    def steps(self) -> Iterator[Progress]:
        """Measure all of the plan, a step at a time."""
        for number in range(len(self.plan.rows)):
            yield from self._prepare(number)
        if any(self.ways.values()):
            yield self._progress("what this machine can do: warming up")
            with suppress(RuntimeError):  # then its limits are not known
                self._prepare_peaks()
            yield from self._rounds()
        yield self._progress("done", complete=True)

    def _prepare(self, number: int) -> Iterator[Progress]:
        row, size = self.plan.rows[number], self.plan.rows[number].size
        name = f"{row.target} ({size.d_model}, {size.num_heads}, {size.num_layers}, {size.seq_len})"
        where = f"row {number + 1} of {len(self.plan.rows)}, {name}"
        yield self._progress(f"{where}: warming up")
        refused, training = refusal(row, self.setup), Blocks() if self.setup.backward else None
        self.measured[number] = Measured(row, training=training, problem=refused)
        self.ways[number] = () if refused else self.directions
        for doing in self._each_way(number, self._look):
            yield self._progress(f"{where}: {doing}")

    def _look(self, number: int, subject: Subject, direction: str) -> Iterator[str]:
        """Warm up, count the memory, and see where a forward pass spends its time."""
        call = subject.call(direction)
        with subject.mode(direction):
            self._record(number, **{direction: clock.warm_up(call)})
        yield f"{NAMES[direction]}, memory"
        with subject.mode(direction):
            most = memory.measure(call, self.setup.device)
        self._record(number, **{"memory" if direction == "forward" else "training_memory": most})
        if direction == "forward":
            yield "parts"
            self._look_into(number, subject)
            if self.setup.backward:
                yield NAMES["training"]

    def _look_into(self, number: int, subject: Subject) -> None:
        with subject.mode("forward"):
            profiled = parts.measure(subject.module, subject.call("forward"), self.setup.device, self.gate)
        before = self.measured[number]
        if not before.parts or not profiled.under_load:
            self._record(number, parts=profiled.parts, parts_under_load=profiled.under_load, kernel=profiled.kernel)

    def _prepare_peaks(self) -> None:
        peaks = machine.peaks(self.setup)
        with set_torch_threads(self.setup.threads):
            for peak in peaks:
                peak.blocks = clock.warm_up(peak.call)
        self.peaks = peaks

    def _rounds(self) -> Iterator[Progress]:
        """Take the turns of each round in a random order: those of the rows and those of the machine's limits."""
        turns, shuffled = list(range(len(self.plan.rows) + len(self.peaks))), random.Random(self.setup.seed)
        for number in range(self.setup.rounds):
            shuffled.shuffle(turns)
            for index in turns:
                if index >= len(self.plan.rows):
                    steps = self._peak_turn(number, self.peaks[index - len(self.plan.rows)])
                elif self.ways[index]:
                    steps = self._each_way(index, partial(self._turn, number))
                else:
                    continue
                begin = time.perf_counter()
                for _ in steps:
                    yield self._progress(f"round {number + 1} of {self.setup.rounds}")
                self.forecast.turned(index, time.perf_counter() - begin, self._blocks(index))

    def _turn(self, number: int, index: int, subject: Subject, direction: str) -> Iterator[None]:
        """One row's, in round `number`."""
        before, call, mode = getattr(self.measured[index], direction), subject.call(direction), subject.mode
        threads = self.setup.threads
        for blocks in clock.turn(before, call, number, threads, self.gate, self.patience, partial(mode, direction)):
            self._record(index, **{direction: blocks})
            yield
        measured = self.measured[index]
        untold = measured.parts_under_load or not measured.parts
        if direction == "forward" and untold and number in measured.forward.rounds and self.patience.left > 0:
            begin = time.perf_counter()  # it was contended before, and now there is room
            self._look_into(index, subject)
            self.patience.left -= time.perf_counter() - begin
            yield

    def _peak_turn(self, number: int, peak: machine.Peak) -> Iterator[None]:
        for blocks in clock.turn(peak.blocks, peak.call, number, self.setup.threads, self.gate, self.patience):
            peak.blocks = blocks
            yield

    def _each_way(self, number: int, work: Callable[[int, Subject, str], Iterator[Step]]) -> Iterator[Step]:
        """A row's work in one direction after the other; where it fails, forward goes on without backward."""
        subject = None
        for place, direction in enumerate(self.directions):
            if direction not in self.ways[number]:
                return
            try:
                subject = subject or self.bench.subject(number, self.plan.rows[number])
                yield from work(number, subject, direction)
            except Exception as error:
                where = f"{NAMES[direction]}: " if place else ""
                self._record(number, problem=where + problem(error))
                self.ways[number] = self.directions[:place]
                self.bench.drop(number)

    def _record(self, number: int, **values: Any) -> None:
        """Keep what is now known of a row: fields of `Measured`."""
        self.measured[number] = replace(self.measured[number], **values)

    def _blocks(self, index: int) -> list[Blocks]:
        if index >= len(self.plan.rows):
            return [self.peaks[index - len(self.plan.rows)].blocks]
        return [getattr(self.measured[index], direction) for direction in self.ways[index]]

    def _progress(self, doing: str, *, complete: bool = False) -> Progress:
        took = time.perf_counter() - self.begin
        rows, limits = {number: self._blocks(number) for number in self.ways}, [peak.blocks for peak in self.peaks]
        left = 0.0 if complete else self.forecast.seconds_left(rows, limits)
        self.share = 1.0 if complete else max(self.share, took / (took + left) if left else self.share)
        rates: dict[str, Any] = {peak.limit: peak.rate for peak in self.peaks}
        rates["under_load"] = any(peak.blocks.under_load for peak in self.peaks)
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
