"""Fair comparisons: rounds are interleaved, ratios are taken within each round, medians are shown with their spread."""

import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ratio:
    """The cost of one thing over that of another, from the ratio in each round.

    Attributes:
        median: the median of the ratios; below 1, the first thing is cheaper.
        low, high: the quartiles of the ratios.
    """

    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"


@dataclass(frozen=True)
class Figure:
    """A number that a benchmark measures: a row of docs/how-fast.md.

    Attributes:
        what: what is measured.
        beside: what it is compared with.
        unit: the unit of the number.
        form: the format of the number.
        column: whose number it is, in a table with a column for each; otherwise a table has one for all.
    """

    what: str
    beside: str
    unit: str = "times"
    form: str = "{:.2f}"
    column: str = ""


Figures = dict[Figure, float]
FiguresOrWords = Mapping[Figure, float | str]  # words where there is no number, such as "more than 60 s"


class AboveBarError(Exception):
    """What was measured is above a bar; the message has a line for each case. The command then ends with 1.

    Attributes:
        figures: what was measured.
    """

    def __init__(self, cases: Sequence[str], figures: Figures) -> None:
        super().__init__("\n".join(cases))
        self.figures = figures


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Ratio:
    """Compare the costs of two things, round by round."""
    ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    return Ratio(median, low, high)


def interleaved(
    contenders: Mapping[str, Callable[[], object]], *, rounds: int = 15, repeats: int = 1, settle: int = 0
) -> dict[str, list[float]]:
    """The seconds that each contender takes in each round. They take turns, so that drift affects all alike.

    Args:
        contenders: name -> what to run.
        rounds: how many rounds are timed, after one round to warm up.
        repeats: calls in each turn; the seconds are those of one call.
        settle: untimed calls at the beginning of a turn, so that caches and heap are as this contender leaves them.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    order, shuffled = list(contenders.items()), random.Random(0)
    for number in range(rounds + 1):
        shuffled.shuffle(order)  # so that no contender always follows the same one, whose caches and heap it inherits
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
    """The bar and whether it is met, such as `≤ 1.10 ✓`."""
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
