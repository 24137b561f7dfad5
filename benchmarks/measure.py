"""Comparing fairly: rounds that are interleaved, ratios within each round, medians with their spread."""

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """One thing's cost over another's, paired within each round.

    Attributes:
        median: of the rounds' ratios; below 1, the first is cheaper.
        low, high: their quartiles.
    """

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Figure:
    """A number that a run of a benchmark tells: a row of docs/how-fast.md.

    Attributes:
        what: is measured.
        beside: what it is held against.
        unit: of the number.
        form: how it is written.
    """

    what: str
    beside: str
    unit: str = "times"
    form: str = "{:.2f}"


Figures = dict[Figure, float]


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Compare the costs of two things, round by round."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Ratio(median, low, high)


def interleaved(
    contenders: Mapping[str, Callable[[], object]], *, rounds: int = 15, repeats: int = 1, settle: int = 0
) -> dict[str, list[float]]:
    """Seconds that each takes, a number per round, all taking turns so that drift hits all alike.

    Args:
        contenders: name -> what to run.
        rounds: how often each has its turn, after one turn to warm up.
        repeats: calls per turn; the seconds are those of one call.
        settle: calls before these that are not timed, so that each finds caches and heap as it left them itself.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order, shuffled = list(contenders.items()), random.Random(0)
    for number in range(rounds + 1):
        shuffled.shuffle(order)  # so that nobody always inherits caches and heap from the same neighbour
        for name, run in order:
            for _ in range(settle):
                run()
            begin = time.perf_counter()
            for _ in range(repeats):
                run()
            if number:
                seconds[name].append((time.perf_counter() - begin) / repeats)
    return seconds


def verdict(measured: Ratio | float, bar: float, *, at_least: bool = False) -> str:
    """The bar, and whether it is met: `≤ 1.10 ✓`."""
    value = measured.median if isinstance(measured, Ratio) else measured
    return f"{'≥' if at_least else '≤'} {bar:g} {'✓' if (value >= bar if at_least else value <= bar) else '✕'}"


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table, each column as wide as it needs; a row may end early."""
    cells = [[*map(str, line), *[""] * (len(columns) - len(line))] for line in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    print(f"\n{title}")
    for number, line in enumerate(cells):
        print("  " + "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
        if number == 0:
            print("  " + "   ".join("-" * width for width in widths))
