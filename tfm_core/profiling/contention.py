"""Whether other programs used the processor while a block was measured, which makes its time too long."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

PRESSURE = Path("/proc/pressure/cpu")
MOST_STALLED = 0.05  # of a block's wall time

Result = TypeVar("Result")
Clock = Callable[[], float]


def stalled_seconds(text: str) -> float:
    """How long some task has waited for a processor since the start of the machine.

    Args:
        text: of /proc/pressure/cpu; its first line is `some avg10=0.97 avg60=0.79 avg300=3.43 total=19231114437`, the
            total in microseconds (Linux, Documentation/accounting/psi.rst).

    Raises:
        ValueError: if it is another text.
    """
    fields = next((line.split() for line in text.splitlines() if line.startswith("some ")), [])
    total = next((field.removeprefix("total=") for field in fields if field.startswith("total=")), None)
    if total is None:
        raise ValueError(f"expected a line 'some ... total=...', got {text[:60]!r}")
    return int(total) / 1e6


@dataclass(frozen=True)
class Gate:
    """What decides whether a block was contended.

    Attributes:
        kind: "pressure", Linux's own figure; or "time", where there is none: wall time in which the measuring thread
            was not given a processor. (With more threads than one, a wait of the others shows in it only where the
            measuring thread sleeps meanwhile.)
        lost: seconds lost since any fixed moment: only the growth counts.
        wall: seconds by the clock on the wall.
        grain: seconds that the growth may be off by, as clocks tick.
    """

    kind: str
    lost: Clock
    wall: Clock = time.perf_counter
    grain: float = 0.0

    def around(self, block: Callable[[], Result]) -> tuple[Result, float]:
        """Run it: what it returned, and the share of its wall time in which somebody had to wait."""
        begin, lost = self.wall(), self.lost()
        result = block()
        lost, took = self.lost() - lost - self.grain, self.wall() - begin
        return result, max(0.0, lost / took) if took > 0 else 0.0


def gate(pressure: Path = PRESSURE) -> Gate:
    """This machine's: by pressure where Linux tells it, else by the time that the processor gave to this thread."""
    try:
        stalled_seconds(pressure.read_text())
    except (OSError, ValueError):
        return Gate(
            "time",
            lambda: time.perf_counter() - time.thread_time(),
            grain=2 * time.get_clock_info("thread_time").resolution,
        )
    return Gate("pressure", lambda: stalled_seconds(pressure.read_text()))
