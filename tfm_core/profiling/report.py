"""What was measured, as plain values: they cross processes, and are written to files as they are."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import TypeVar

import numpy as np

from tfm_core.profiling.plan import Plan, Row

FEWEST_CLEAN = 6  # the fewest values whose median has a 95 % interval: 1 - 2 / 2^6 is above 0.95, 1 - 2 / 2^5 is not
FEWEST = 3  # of fewer values one alone decides their median

Value = TypeVar("Value")


def usable_rounds(clean: Mapping[int, Value], every: Mapping[int, Value]) -> tuple[Mapping[int, Value], bool]:
    """What a figure is taken from, and whether that was measured under load.

    From the clean rounds alone, if they are at least `FEWEST_CLEAN`, or all there are. Else from all rounds: the few
    that happened to be clean in a busy time would not be typical. With fewer than `FEWEST` there is no figure.

    Args:
        clean: round -> what was measured in it while nobody disturbed.
        every: round -> what was measured in it, clean or not.
    """
    under_load = len(clean) < min(FEWEST_CLEAN, len(every))
    by_round = every if under_load else clean
    return (by_round, under_load) if len(by_round) >= FEWEST else ({}, False)


@dataclass(frozen=True)
class Blocks:
    """One row's times in one direction, forward or forward + backward.

    Attributes:
        seconds: per call, of each clean block.
        rounds: of each clean block, in which round it was measured, one at most in each; rows are paired by it.
        contended: blocks during which the processor was contended.
        warm_up: seconds of the calls before the blocks, the first of them with cold caches.
        calls: of the latest block; as many as take 40 ms, or one.
        loaded: seconds per call of each contended block (older reports do not have them).
        loaded_rounds: of each contended block; a round may have several.
    """

    seconds: tuple[float, ...] = ()
    rounds: tuple[int, ...] = ()
    contended: int = 0
    warm_up: tuple[float, ...] = ()
    calls: int = 1
    loaded: tuple[float, ...] = ()
    loaded_rounds: tuple[int, ...] = ()

    @property
    def clean(self) -> dict[int, float]:
        """Round -> seconds of its clean block."""
        return dict(zip(self.rounds, self.seconds, strict=True))

    @property
    def every(self) -> dict[int, float]:
        """Round -> seconds, the median of all of its blocks."""
        by_round: dict[int, list[float]] = defaultdict(list)
        rounds, seconds = (*self.rounds, *self.loaded_rounds), (*self.seconds, *self.loaded)
        for number, block_seconds in sorted(zip(rounds, seconds, strict=True)):
            by_round[number].append(block_seconds)
        return {number: median(of_round) for number, of_round in by_round.items()}

    @property
    def sample(self) -> dict[int, float]:
        """Round -> seconds, of the rounds that all figures are taken from; empty where they are too few."""
        return dict(usable_rounds(self.clean, self.every)[0])

    @property
    def under_load(self) -> bool:
        """Whether the figures are of contended blocks too."""
        return usable_rounds(self.clean, self.every)[1]

    @property
    def median(self) -> float:
        """Seconds; NaN where there are too few blocks."""
        return median(self.sample.values()) if self.sample else float("nan")

    @property
    def quartiles(self) -> tuple[float, float]:
        """The interquartile range, in seconds; NaN where there are too few blocks."""
        low, high = np.quantile(list(self.sample.values()), (0.25, 0.75)) if self.sample else (np.nan, np.nan)
        return float(low), float(high)

    @property
    def minimum(self) -> float:
        """Seconds; NaN where there are too few blocks."""
        return min(self.sample.values(), default=float("nan"))


@dataclass(frozen=True)
class Memory:
    """Bytes at the peak of one call beyond what lay there before it; None where it could not be seen.

    Attributes:
        allocated: the allocator's: on the processor the allocation curve of torch.profiler, on CUDA its own statistics.
        system: what the operating system saw of the process, on the processor.
    """

    allocated: int | None = None
    system: int | None = None


@dataclass(frozen=True)
class PartTime:
    """A share of one forward pass, from torch.profiler: a part as in the closed forms, or an operator's name."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Measured:
    """One row's measurements.

    Attributes:
        row: what was measured.
        forward: in evaluation and inference mode.
        training: forward + backward, in training mode; None if not asked for.
        memory: of the forward pass.
        training_memory: of forward + backward.
        parts: where a forward pass spends its time.
        kernel: which fused kernel did the attention, by name; "" if none or not known.
        problem: why there is no measurement, or none of forward + backward, then it says so; "" if nothing failed.
        parts_under_load: whether too few of the passes that `parts` is taken from were clean.
    """

    row: Row
    forward: Blocks = Blocks()
    training: Blocks | None = None
    memory: Memory = Memory()
    training_memory: Memory = Memory()
    parts: tuple[PartTime, ...] = ()
    kernel: str = ""
    problem: str = ""
    parts_under_load: bool = False

    @property
    def under_load(self) -> tuple[str, ...]:
        """Which of "forward", "forward + backward" and "parts" are of contended blocks too."""
        training = self.training is not None and self.training.under_load
        marks = {"forward": self.forward.under_load, "forward + backward": training, "parts": self.parts_under_load}
        return tuple(name for name, marked in marks.items() if marked)


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Where it was measured, and what that machine can do, measured in the same run.

    Attributes:
        device: the device's name: the processor's, or the GPU's.
        processor: the processor's name.
        cores: that this process may use.
        system: operating system and Python.
        torch: its version.
        flops_per_second: of a large matrix product in the plan's dtype; NaN if not measured.
        bytes_per_second: of a large copy, read and written bytes together; NaN if not measured.
        under_load: whether one of the two was: the machine can do more then.
    """

    device: str
    processor: str
    cores: int
    system: str
    torch: str
    flops_per_second: float = float("nan")
    bytes_per_second: float = float("nan")
    under_load: bool = False


@dataclass(frozen=True, kw_only=True)
class Report:
    """All of one run.

    Attributes:
        id: names this measurement, in links too.
        plan: what was asked for.
        machine: where.
        measured: a row's measurements each, in the plan's order; while it runs, those that there are.
        started: ISO 8601, UTC.
        seconds: that it took.
        complete: whether it came to its end, or was stopped.
        gate: how contention was noticed: "pressure" (Linux), or "time" (processor time against wall time).
    """

    id: str
    plan: Plan
    machine: Machine
    measured: tuple[Measured, ...] = ()
    started: str = ""
    seconds: float = 0.0
    complete: bool = False
    gate: str = "pressure"

    @property
    def blocks(self) -> tuple[int, int]:
        """How many were measured, and how many of them while the processor was contended."""
        contended = sum(blocks.contended for blocks in self._blocks)
        return contended + sum(len(blocks.seconds) for blocks in self._blocks), contended

    @property
    def has_figures(self) -> bool:
        """Whether any row has a time."""
        return any(blocks.sample for blocks in self._blocks)

    @property
    def under_load(self) -> bool:
        """Whether any figure is of contended blocks too."""
        return self.machine.under_load or any(row.under_load for row in self.measured)

    @property
    def _blocks(self) -> list[Blocks]:
        return [blocks for row in self.measured for blocks in (row.forward, row.training) if blocks is not None]


@dataclass(frozen=True)
class Progress:
    """How far a run has come.

    Attributes:
        share: done, 0 to 1.
        seconds_left: an estimate.
        doing: what is done now, in words.
        report: what there is by now.
    """

    share: float
    seconds_left: float
    doing: str
    report: Report = field(repr=False)
