"""What was measured, as plain values: they cross processes, and are written to files as they are."""

from dataclasses import dataclass, field

import numpy as np

from tfm_core.profiling.plan import Plan, Row


@dataclass(frozen=True)
class Blocks:
    """One row's times in one direction, forward or forward + backward.

    Attributes:
        seconds: per call, of each clean block.
        rounds: of each block, in which round it was measured, one at most in each; rows are paired by it.
        contended: blocks that were thrown away, as the processor was contended.
        warm_up: seconds of the calls before, the first of them cold.
        calls: of the latest block; as many as take 40 ms, or one.
    """

    seconds: tuple[float, ...] = ()
    rounds: tuple[int, ...] = ()
    contended: int = 0
    warm_up: tuple[float, ...] = ()
    calls: int = 1

    @property
    def median(self) -> float:
        """Seconds; NaN where no clean block was had."""
        return float(np.median(self.seconds)) if self.seconds else float("nan")

    @property
    def quartiles(self) -> tuple[float, float]:
        """The interquartile range, in seconds; NaN where no clean block was had."""
        low, high = np.quantile(self.seconds, (0.25, 0.75)) if self.seconds else (np.nan, np.nan)
        return float(low), float(high)

    @property
    def minimum(self) -> float:
        """Seconds; NaN where no clean block was had."""
        return min(self.seconds, default=float("nan"))


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
        parts: where a forward pass spends its time; none where no clean pass was had.
        kernel: which fused kernel did the attention, by name; "" if none or not known.
        problem: why there is no measurement, or none of forward + backward, then it says so; "" if nothing failed.
    """

    row: Row
    forward: Blocks = Blocks()
    training: Blocks | None = None
    memory: Memory = Memory()
    training_memory: Memory = Memory()
    parts: tuple[PartTime, ...] = ()
    kernel: str = ""
    problem: str = ""


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
    """

    device: str
    processor: str
    cores: int
    system: str
    torch: str
    flops_per_second: float = float("nan")
    bytes_per_second: float = float("nan")


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
        """How many were measured, and how many of them thrown away."""
        all_of_them = [b for one in self.measured for b in (one.forward, one.training) if b is not None]
        contended = sum(blocks.contended for blocks in all_of_them)
        return contended + sum(len(blocks.seconds) for blocks in all_of_them), contended


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
