"""A class on one server: how long pictures take for 1 to 100 visitors of all views, processor time, memory, errors.

Each visitor opens the link of a view, and then gives a control another value every 1 to 2 seconds, which nobody else
has; each fifth time one that the others have, too. Visitors speak Streamlit's websocket and ask for pictures as
browsers do, but draw nothing. Each number of visitors has a server of its own, on the same machine.

`python -m benchmarks.load --help` tells how to measure a part of it, or for longer.
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
from benchmarks.live.crowd import Hand, Lecture, Observed, one_after_the_other, together
from benchmarks.live.load_rows import (
    CLASS,
    KEPT_ROWS,
    KNOWN_50,
    KNOWN_95,
    MEMORY_BARS,
    MEMORY_ROWS,
    NEW_50,
    OVER_ALONE,
    TICK,
    TableRow,
    bars_of,
    lines,
    percentile,
)
from benchmarks.live.serve import running_server
from benchmarks.live.views import Ticked, scouted
from benchmarks.measure import Figure, Figures, show

LEVELS = (1, 8, 30, 100)  # visitors
SECONDS = 60.0  # that are measured of several visitors
EACH_VIEW = 12.0  # seconds that a single visitor spends on each view: long enough for a row of moves
MINUTE, FEW_VISITORS, SOON = 60.0, 8, 15.0  # visitors come within a minute; a few of them within seconds
LECTURE = "30 visitors who follow a lecturer"
LONG = 600.0  # seconds over which memory is watched
PRESET_VARIABLE, PRESET = "ATTENTION_LAB_PRESET", "hosted"
# What a hosted server sets, as in Dockerfile and hosting/; a test compares them.
GLIBC = {"MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "4194304", "MALLOC_TRIM_THRESHOLD_": "16777216"}
MUCH = 20  # percent of a core: if the visitors take more, they may disturb what they measure
TOLD = 10  # errors that are told, each kind once


def _who(visitors: int) -> str:
    return f"{visitors} visitor{'s' * (visitors != 1)}"


OF_LEVEL = {
    (visitors, row): Figure(f"{_who(visitors)}: {row.what}", "", row.unit, row.form)
    for visitors in LEVELS
    for row in KEPT_ROWS
    if (visitors, row) != (1, OVER_ALONE)
}
OF_MEMORY = {
    row: Figure(f"{_who(CLASS)} for {LONG / 60:.0f} minutes: {row.what}", "", row.unit, row.form) for row in MEMORY_ROWS
}
LECTURE_ROWS = KNOWN_50, KNOWN_95, TICK
OF_LECTURE = {row: Figure(f"{LECTURE}: {row.what}", "", row.unit, row.form) for row in LECTURE_ROWS}
TWO_SERVERS = Figure(
    "Two servers, each on a core: moves that are answered in a second", "those of one server on a core"
)
FIGURES = [*OF_LEVEL.values(), *OF_LECTURE.values(), TWO_SERVERS, *OF_MEMORY.values()]


def main(
    levels: Sequence[int] = LEVELS,
    seconds: float = SECONDS,
    each_view: float = EACH_VIEW,
    long: float = LONG,
    *,
    all_views: bool = False,
    lecture: bool = True,
    servers: bool = True,
) -> Figures:
    """Measure each number of visitors, a lecture, two servers, and then the memory over a longer time.

    Args:
        levels: numbers of visitors, some of `LEVELS`.
        seconds: how long several visitors are measured.
        each_view: how long a single visitor spends on each view.
        long: over how many seconds memory is watched; 0 leaves this out.
        all_views: whether to print a table of all views, as a single visitor sees them.
        lecture: whether to measure a class that follows a lecturer: all open the same link and make the same moves.
        servers: whether to measure two servers beside one.
    """
    as_hosted()
    with running_server() as (address, _):
        views = asyncio.run(scouted(address))
    figures: Figures = {}
    alone = None
    for visitors in levels:
        observed = _observed(views, visitors, each_view if visitors == 1 else seconds)
        values = rows.values_of(observed, alone)
        alone = values[NEW_50] if visitors == 1 else alone
        figures |= {OF_LEVEL[visitors, row]: value for row, value in values.items() if (visitors, row) in OF_LEVEL}
        _print(_who(visitors), values, bars_of(visitors), observed)
        if all_views and observed.views:
            _print_views(views, observed)
    if lecture:
        heads = [view for view in views if view.link.partition("?")[0] == "/heads"]
        observed = _observed(heads, CLASS, seconds, hand=Lecture)
        values = rows.values_of(observed)
        figures |= {figure: values[row] for row, figure in OF_LECTURE.items() if row in values}
        _print(LECTURE, values, {}, observed)
    if servers:
        figures[TWO_SERVERS] = several.main(views, seconds)
    if long:
        observed = _observed(views, CLASS, long)
        watched = rows.memory_values_of(observed)
        figures |= {OF_MEMORY[row]: value for row, value in watched.items()}
        _print(f"{_who(CLASS)} for {long / 60:g} minutes", watched, MEMORY_BARS, observed)
    return figures


def as_hosted() -> None:
    """Servers that are started from now on have a host's settings, unless others were asked for."""
    os.environ.setdefault(PRESET_VARIABLE, PRESET)  # they inherit this, and what follows
    if os.environ[PRESET_VARIABLE] == PRESET:
        os.environ |= GLIBC


def _observed(views: Sequence[Ticked], visitors: int, seconds: float, *, hand: type[Hand] = Hand) -> Observed:
    with running_server() as (address, process):
        if visitors == 1:
            return asyncio.run(one_after_the_other(address, process, views, seconds))
        spread = SOON if visitors <= FEW_VISITORS else MINUTE
        return asyncio.run(together(address, [process], views, visitors, spread=spread, seconds=seconds, hand=hand))


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


def _print_views(views: Sequence[Ticked], observed: Observed) -> None:
    told = []
    for view in views:
        of_view = observed.views[view.link]
        kept, pictures = of_view.kept, of_view.kept.pictures
        median = f"{1000 * percentile(pictures, 50):.0f}" if pictures else ""
        moved = view.control if view.follows else f"{view.control} (no picture follows)"
        pages = f"{1000 * percentile(kept.pages, 50):.0f}" if kept.pages else ""
        each = kept.answered_bytes / max(1, kept.moves) / 1000
        told.append([view.link, moved, view.pictures, median, pages, f"{1000 * of_view.tick:.0f}", f"{each:.0f}"])
    heads = ["link", "moved", "pictures", "p50 (ms)", "page (ms)", "processor (ms)", "kB a move"]
    show("Each view, for a single visitor", heads, told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--visitors", type=int, nargs="*", choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--lecture", action="store_true", help="measure a class that follows a lecturer, too")
    parser.add_argument("--servers", type=int, choices=(1, 2), default=1, help="2: measure two servers beside one, too")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of several visitors, when all are there")
    parser.add_argument("--each-view", type=float, default=EACH_VIEW, help="seconds of a view, for a single visitor")
    parser.add_argument("--memory-minutes", type=float, default=0, help="watch the memory for so long; by default not")
    parser.add_argument("--all-views", action="store_true", help="print a table of all views for a single visitor")
    parser.add_argument("--preset", default=PRESET, help="the servers' settings: local or hosted")
    asked = parser.parse_args()
    os.environ[PRESET_VARIABLE] = asked.preset
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that servers are ended
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no browser
    minutes = 60 * asked.memory_minutes
    main(
        asked.visitors,
        asked.seconds,
        asked.each_view,
        minutes,
        all_views=asked.all_views,
        lecture=asked.lecture,
        servers=asked.servers == 2,
    )
