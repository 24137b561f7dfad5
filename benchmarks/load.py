"""A class on one server: how long pictures take for 30 and 100 visitors of all views, processor time, memory, errors.

Each visitor opens the link of a view, and then gives a control another value every 1 to 2 seconds, which nobody else
has; each fifth time one that the others have, too. Visitors speak Streamlit's websocket and ask for pictures as
browsers do, but draw nothing. Each number of visitors has a server of its own, on the same machine. Then a class
follows a lecturer: all open the same link and make the same moves.

`python -m benchmarks.load --help` tells how to measure a part of it, or for longer, and two servers beside one. How
memory grows over a long time is looked at by the soak.
"""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.live import load_rows as rows
from benchmarks.live import servers as several
from benchmarks.live.crowd import Hand, Lecture, Observed, together
from benchmarks.live.load_rows import CLASS, KEPT_ROWS, KNOWN_50, KNOWN_95, TICK, TableRow, bars_of, lines
from benchmarks.live.serve import running_server
from benchmarks.live.views import Ticked, scouted
from benchmarks.measure import Figure, Figures, show

LEVELS = (30, 100)  # visitors
SECONDS = 20.0  # that are measured
SPREAD = 20.0  # seconds within which visitors come
LECTURE = "30 visitors who follow a lecturer"
PRESET_VARIABLE, PRESET = "ATTENTION_LAB_PRESET", "hosted"
# What a hosted server sets, as in Dockerfile and hosting/; a test compares them.
GLIBC = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "4194304", "MALLOC_TRIM_THRESHOLD_": "16777216"}
MUCH = 20  # percent of a core: if the visitors take more, they may disturb what they measure
TOLD = 10  # errors that are told, each kind once


OF_LEVEL = {
    (visitors, row): Figure(f"{visitors} visitors: {row.what}", "", row.unit, row.form)
    for visitors in LEVELS
    for row in KEPT_ROWS
}
LECTURE_ROWS = KNOWN_50, KNOWN_95, TICK
OF_LECTURE = {row: Figure(f"{LECTURE}: {row.what}", "", row.unit, row.form) for row in LECTURE_ROWS}
FIGURES = [*OF_LEVEL.values(), *OF_LECTURE.values()]


def main(
    levels: Sequence[int] = LEVELS, seconds: float = SECONDS, *, lecture: bool = True, servers: bool = False
) -> Figures:
    """Measure each number of visitors, and a lecture.

    Args:
        levels: numbers of visitors.
        seconds: how long they are measured.
        lecture: whether to measure a class that follows a lecturer: all open the same link and make the same moves.
        servers: whether to measure two servers beside one.
    """
    as_hosted()
    with running_server() as (address, _):
        views = asyncio.run(scouted(address))
    figures: Figures = {}
    for visitors in levels:
        observed = _observed(views, visitors, seconds)
        values = rows.values_of(observed)
        figures |= {OF_LEVEL[visitors, row]: value for row, value in values.items() if (visitors, row) in OF_LEVEL}
        _print(f"{visitors} visitors", values, bars_of(visitors), observed)
    if lecture:
        heads = [view for view in views if view.link.partition("?")[0] == "/heads"]
        observed = _observed(heads, CLASS, seconds, hand=Lecture)
        values = rows.values_of(observed)
        figures |= {figure: values[row] for row, figure in OF_LECTURE.items() if row in values}
        _print(LECTURE, values, {}, observed)
    if servers:
        several.main(views, seconds)
    return figures


def as_hosted() -> None:
    """Servers that are started from now on have a host's settings, unless others were asked for."""
    os.environ.setdefault(PRESET_VARIABLE, PRESET)  # they inherit this, and what follows
    if os.environ[PRESET_VARIABLE] == PRESET:
        os.environ |= GLIBC


def _observed(views: Sequence[Ticked], visitors: int, seconds: float, *, hand: type[Hand] = Hand) -> Observed:
    with running_server() as (address, process):
        return asyncio.run(together(address, [process], views, visitors, spread=SPREAD, seconds=seconds, hand=hand))


def _print(title: str, values: dict[TableRow, float], bars: Mapping[TableRow, float], observed: Observed) -> None:
    """Print a table, and what makes its numbers doubtful."""
    print_rows(title, values, bars, observed.errors)
    if 100 * observed.driver > MUCH * observed.wall:
        print(f"  These visitors took more than {MUCH} % of a core: on two cores the server had less than it could.")


def print_rows(
    title: str, values: Mapping[TableRow, float], bars: Mapping[TableRow, float], errors: Iterable[str]
) -> None:
    """Print a table, and what went wrong."""
    show(title, ["", "", "unit", "bar"], lines(values, bars))
    for error, times in Counter(errors).most_common(TOLD):
        print(f"  {times} times: {error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--visitors", type=int, nargs="*", default=list(LEVELS))
    parser.add_argument("--lecture", action="store_true", help="measure a class that follows a lecturer, too")
    parser.add_argument("--servers", type=int, choices=(1, 2), default=1, help="2: measure two servers beside one, too")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="that are measured, when all are there")
    parser.add_argument("--preset", default=PRESET, help="the servers' settings: local or hosted")
    asked = parser.parse_args()
    os.environ[PRESET_VARIABLE] = asked.preset
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that servers are ended
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no browser
    main(asked.visitors, asked.seconds, lecture=asked.lecture, servers=asked.servers == 2)
