"""A lecture in a room: how long its pictures take to 30 and 100 followers, and what others on the server feel of it.

The owner opens a room and moves the seed of a model in bursts, by turns presses and a drag, and rests between them;
then goes to the page of another lens and back, twice. Each follower has a session that came in by the room's link,
and a line on which it hears where the owner is. It asks for pictures of each place as browsers do, and runs its page
when the owner rests, at a time of its own. Visitors in no room go on moving a control of another view. Each number of
followers has a server of its own with a host's settings, on the same machine.

`python -m benchmarks.room --help` tells how to measure other numbers of followers, or for longer.
"""

import argparse
import asyncio
import json
import logging
import signal
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.live.lecture import Lecture, lecture
from benchmarks.live.load_rows import DRIVER, ERRORS, OTHERS, REFUSED, TableRow, growth, percentile
from benchmarks.live.serve import running_server
from benchmarks.live.views import Ticked, scouted
from benchmarks.load import MUCH, as_hosted, print_rows
from benchmarks.measure import Figure, Figures
from tfm_ui.settings import ENTRIES

LEVELS = (30, 100)  # followers
SECONDS = 60.0  # for which the owner moves and rests: a host's caches are full after half of that
LED, OTHER = "/heads", "/positions"  # where the owner is, and where visitors are who are in no room
# All come from one address here; a host's setting is for a class behind one, with 100 tabs in all.
SETTINGS = {ENTRIES["tabs_per_address"].variable: "150"}

PICTURES_50 = TableRow("pictures of the place where the owner rests, p50")
PICTURES_95 = TableRow("pictures of the place where the owner rests, p95")
HEARD_95 = TableRow("hearing of that place, p95")
RUN_50 = TableRow("page run at that place, p50", "s", "{:.2f}")
RUN_95 = TableRow("page run at that place, p95", "s", "{:.2f}")
RUNS = TableRow("page runs of a follower for each rest", "", "{:.2f}")
IDLE_50 = TableRow("another visitor's move while the room rests, p50")
IDLE_95 = TableRow("another visitor's move while the room rests, p95")
BESIDE_50 = TableRow("another visitor's move during the lecture, p50")
BESIDE_95 = TableRow("another visitor's move during the lecture, p95")
TIMES_50 = TableRow("p50 during the lecture, over p50 before", "times", "{:.2f}")
TIMES_95 = TableRow("another visitor's move, p95 during the lecture over p95 before", "times", "{:.2f}")
PAGE_50 = TableRow("another page with its pictures, p50", "s", "{:.1f}")
PAGE_95 = TableRow("another page with its pictures, p95", "s", "{:.1f}")
TURNING_95 = TableRow("another visitor's move, p95 while the room changes the page over p95 before", "times", "{:.2f}")
THERE = TableRow("memory when all followers are there", "MB")
AFTER = TableRow("memory after the lecture", "MB")
GROWTH = TableRow("growth of memory over the last half of the lecture", "percent", "{:.1f}")
SERVER = TableRow("used by the server", "% of a core")
KEPT_ROWS = PICTURES_50, PICTURES_95, TIMES_95, PAGE_50, PAGE_95, TURNING_95, THERE, GROWTH, REFUSED, ERRORS

OF_LEVEL = {
    (followers, row): Figure(f"{followers} followers: {row.what}", "", row.unit, row.form)
    for followers in LEVELS
    for row in KEPT_ROWS
}
FIGURES = list(OF_LEVEL.values())


def main(levels: Sequence[int] = LEVELS, seconds: float = SECONDS) -> Figures:
    """Hold a lecture for each number of followers.

    Args:
        levels: numbers of followers.
        seconds: how long its owner moves and rests.
    """
    as_hosted()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with running_server(log=log) as (address, _):
            views = asyncio.run(scouted(address, (LED, OTHER)))
        figures: Figures = {}
        for followers in levels:
            held, errors = _held(views, followers, seconds, Path(folder) / f"log of {followers}")
            values = values_of(held, errors)
            figures |= {OF_LEVEL[followers, row]: values[row] for row in KEPT_ROWS if (followers, row) in OF_LEVEL}
            print_rows(f"A lecture with {followers} followers, {held.rests} rests", values, bars_of(followers), errors)
            if values[DRIVER] > MUCH:
                print(f"  These visitors took more than {MUCH} % of a core: the server had less than it could.")
    return figures


def _held(views: Sequence[Ticked], followers: int, seconds: float, log: Path) -> tuple[Lecture, list[str]]:
    """A lecture, and what went wrong: what visitors saw, and what the server has written into its log."""
    with running_server(settings=SETTINGS, log=log) as (address, process):
        held = asyncio.run(lecture(address, process, views, followers, seconds))
    return held, [error for kept in held.kept for error in kept.errors] + errors_in(log.read_text("utf-8").splitlines())


def errors_in(log: Iterable[str]) -> list[str]:
    """What a server's log says of errors. A host's settings make it lines of JSON; others may be part of an error."""
    errors = []
    for line in log:
        try:
            told = json.loads(line)
        except ValueError:
            errors.append(f"the log says: {line}")
            continue
        if told["level"] not in ("DEBUG", "INFO"):
            errors.append(f"the log says: {told['message']}")
    return errors


def values_of(held: Lecture, errors: Sequence[str]) -> dict[TableRow, float]:
    """The numbers of a lecture."""
    observed, idle, beside = held.observed, held.idle.pictures, held.beside.pictures
    (_, there), (_, after) = held.memory[0], held.memory[-1]
    followers = len(held.pictures) / held.rests
    return {
        PICTURES_50: 1000 * percentile(held.pictures, 50),
        PICTURES_95: 1000 * percentile(held.pictures, 95),
        HEARD_95: 1000 * percentile(held.hearing, 95),
        RUN_50: percentile(held.runs_after, 50),
        RUN_95: percentile(held.runs_after, 95),
        RUNS: held.runs / followers / held.rests,
        IDLE_50: 1000 * percentile(idle, 50),
        IDLE_95: 1000 * percentile(idle, 95),
        BESIDE_50: 1000 * percentile(beside, 50),
        BESIDE_95: 1000 * percentile(beside, 95),
        TIMES_50: percentile(beside, 50) / percentile(idle, 50),
        TIMES_95: percentile(beside, 95) / percentile(idle, 95),
        PAGE_50: percentile(held.pages, 50),
        PAGE_95: percentile(held.pages, 95),
        TURNING_95: percentile(held.turning.pictures, 95) / percentile(idle, 95),
        THERE: there,
        AFTER: after,
        GROWTH: 100 * growth(held.memory) / there,
        REFUSED: sum(kept.refused for kept in held.kept),
        ERRORS: len(errors),
        SERVER: 100 * observed.processor / observed.wall,
        DRIVER: 100 * observed.driver / observed.wall,
        OTHERS: 100 * observed.others / observed.wall,
    }


def bars_of(followers: int) -> Mapping[TableRow, float]:
    """The most that may be measured with this many followers.

    Of another visitor's moves it is the slowest that count: pages are run in the second or the few after each rest, so
    that half of all moves meet none of them.
    """
    bars = {TIMES_95: 3.0, GROWTH: 5.0, REFUSED: 0.0, ERRORS: 0.0}
    if limit := {30: 500.0, 100: 1500.0}.get(followers):
        bars[PICTURES_95] = limit
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.room", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--followers", type=int, nargs="*", default=list(LEVELS))
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for which the owner moves and rests")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that servers are ended
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no browser
    main(asked.followers, asked.seconds)
