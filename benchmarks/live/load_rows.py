"""What is told of a server that many visitors have used: rows of numbers, and the bars beside them. Pure."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.live.crowd import Observed
from benchmarks.measure import verdict


@dataclass(frozen=True)
class TableRow:
    """A number of a table.

    Attributes:
        what: is measured.
        unit: of the number.
        form: the format of the number.
    """

    what: str
    unit: str = "ms"
    form: str = "{:.0f}"


NEW_50, NEW_95 = TableRow("pictures and words, p50"), TableRow("pictures and words, p95")
KNOWN_50, KNOWN_95 = TableRow("pictures that others had before, p50"), TableRow("pictures that others had before, p95")
OPENING_50 = TableRow("opening a link until all is there, p50", "s", "{:.2f}")
SLOWEST_OPENING = TableRow("opening a link until all is there, the slowest", "s", "{:.2f}")
ARRIVING_95 = TableRow("pictures and words while others open their links, p95")
PAGE_50 = TableRow("from a move until its page has been run, where it was, p50", "s", "{:.2f}")
PAGES = TableRow("runs of the page for 100 moves", "")
TICK = TableRow("processor time of a move")
MOVES = TableRow("moves", "")
OVERTAKEN = TableRow("moves that were followed by the next before pictures were asked for", "")
REFUSED = TableRow("answers of 503", "")
ERRORS = TableRow("errors", "")
LARGEST = TableRow("largest memory", "MB")
DRIVER, OTHERS = (
    TableRow("used by these visitors themselves", "% of a core"),
    TableRow("used by others here", "% of a core"),
)
ROWS = (
    NEW_50, NEW_95, KNOWN_50, KNOWN_95, OPENING_50, SLOWEST_OPENING, ARRIVING_95, PAGE_50, PAGES, TICK,
    MOVES, OVERTAKEN, REFUSED, ERRORS, LARGEST, DRIVER, OTHERS,
)  # fmt: skip

# The rows that are kept of several runs; the others tell how far the numbers of a run can be trusted.
KEPT_ROWS = NEW_50, NEW_95, KNOWN_50, SLOWEST_OPENING, TICK, REFUSED, ERRORS, LARGEST

CLASS, FULL = 30, 100  # the numbers of visitors that the bars are about


def values_of(observed: Observed) -> dict[TableRow, float]:
    """The numbers of one server; those that were not measured are left out."""
    kept, opening = observed.kept, observed.opening
    values = {
        PAGES: 100 * len(kept.pages) / kept.moves,
        TICK: 1000 * observed.tick,
        MOVES: kept.moves,
        OVERTAKEN: kept.overtaken,
        REFUSED: opening.refused + kept.refused,
        ERRORS: len(observed.errors),
        LARGEST: max(mb for _, mb in observed.memory),
        DRIVER: 100 * observed.driver / observed.wall,
        OTHERS: 100 * observed.others / observed.wall,
    }
    openings = opening.openings + kept.openings
    for row, seconds, percent, scale in (
        (NEW_50, kept.pictures, 50, 1000),
        (NEW_95, kept.pictures, 95, 1000),
        (KNOWN_50, kept.known, 50, 1000),
        (KNOWN_95, kept.known, 95, 1000),
        (OPENING_50, openings, 50, 1),
        (SLOWEST_OPENING, openings, 100, 1),
        (ARRIVING_95, opening.pictures, 95, 1000),
        (PAGE_50, kept.pages, 50, 1),
    ):
        if seconds:
            values[row] = scale * percentile(seconds, percent)
    return {row: values[row] for row in ROWS if row in values}


def bars_of(visitors: int) -> Mapping[TableRow, float]:
    """The most that may be measured with this many visitors."""
    bars = {ERRORS: 0.0}
    if visitors == CLASS:
        bars |= {TICK: 18.0, NEW_95: 120.0}
    if visitors == FULL:
        bars |= {NEW_95: 800.0, SLOWEST_OPENING: 4.0}
    return bars


def lines(values: Mapping[TableRow, float], bars: Mapping[TableRow, float]) -> list[Sequence[str]]:
    """The lines of a table, with the bars beside the numbers."""
    return [
        [row.what, row.form.format(value), row.unit, verdict(value, bars[row]) if row in bars else ""]
        for row, value in values.items()
    ]


def growth(memory: Sequence[tuple[float, float]]) -> float:
    """How many MB memory has grown over the last half of the time, by a straight line through what was observed."""
    half = memory[-1][0] / 2
    late = [(at, mb) for at, mb in memory if at >= half]
    if len(late) < 2:
        raise ValueError(f"expected at least 2 looks at the memory in the last half, got {len(late)}")
    line = statistics.linear_regression([at for at, _ in late], [mb for _, mb in late])
    return line.slope * (late[-1][0] - late[0][0])


def percentile(numbers: Sequence[float], percent: int) -> float:
    """The number below which `percent` percent of the numbers are; the largest for 100.

    Raises:
        ValueError: if there is no number.
    """
    if not numbers:
        raise ValueError("expected at least one number, got none")
    if len(numbers) == 1 or percent == 100:
        return max(numbers)
    return statistics.quantiles(numbers, n=100, method="inclusive")[percent - 1]
