"""Thirty visitors who drag a slider on Heads at once: how long their pictures take, and the server's largest memory.

The visitors ask only for pictures, over plain HTTP: no page runs, and nothing is drawn. They are threads on the same
machine.
"""

import random
import statistics
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from urllib.parse import urlsplit

from benchmarks.live.serve import running_server
from benchmarks.measure import Figure, Figures, show

VISITORS = 30
ROUNDS, PAUSE = 10, (1.0, 3.0)  # requests of a visitor after the first one, and seconds between two requests
PATIENCE = 120  # seconds that an answer may take
PICTURES = "/pictures/heads+head"  # those of the Heads lens
AT_ONCE, IN_TURN = "all at the same moment", f"one every {sum(PAUSE) / 2:g} s each"
TIMES = {
    (when, percent): Figure(f"Both pictures of Heads, {VISITORS} visitors, {when}, p{percent}", "", "ms", "{:.0f}")
    for when in (AT_ONCE, IN_TURN)
    for percent in (50, 95)
}
REFUSED = Figure(f"Refused of {VISITORS * (1 + ROUNDS)} questions", "", "answers of 503", "{:.0f}")
MEMORY = Figure("The server's largest memory in all of this", "", "MB", "{:.0f}")
FIGURES = [*TIMES.values(), REFUSED, MEMORY]

Times = dict[str, list[float]]  # when -> seconds of each answer


def main(visitors: int = VISITORS) -> Figures:
    """Ask for default models that are not cached: first all visitors at the same moment, then each in its own time."""
    begin = Barrier(visitors, timeout=PATIENCE)
    with running_server() as (address, process), ThreadPoolExecutor(visitors) as threads:
        answers = list(threads.map(lambda number: visit(address, number, begin), range(visitors)))
        memory = largest_memory(process)
    refused = sum(kinds[503] for _, kinds in answers)
    figures: Figures = {REFUSED: refused}
    for when in (AT_ONCE, IN_TURN):
        seconds = [second for times, _ in answers for second in times[when]]
        percentiles = statistics.quantiles(seconds, n=100, method="inclusive")
        figures |= {TIMES[when, percent]: 1000 * percentiles[percent - 1] for percent in (50, 95)}
    if memory is not None:
        figures[MEMORY] = memory
    rows = [[figure.what, figure.form.format(value), figure.unit] for figure, value in figures.items()]
    show(f"Load of {visitors} visitors", ["", "", "unit"], rows)
    return figures


def visit(address: str, number: int, begin: Barrier) -> tuple[Times, Counter[int]]:
    """Make one visitor's requests, one after the other; the times of pictures, and a count of all statuses."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    chance, kinds = random.Random(number), Counter[int]()
    times: Times = {AT_ONCE: [], IN_TURN: []}
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    # All visitors share an address here, so the server tells them apart by this cookie, as with browsers.
    cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
    begin.wait()
    for turn in range(1 + ROUNDS):
        if turn:
            time.sleep(chance.uniform(*PAUSE))
        since = time.perf_counter()
        connection.request("POST", PICTURES, f"seed={1000 + number * (1 + ROUNDS) + turn}", cookie)
        answer = connection.getresponse()
        answer.read()
        kinds[answer.status] += 1
        if answer.status == 200:
            times[IN_TURN if turn else AT_ONCE].append(time.perf_counter() - since)
        elif answer.status != 503:
            raise ValueError(f"{PICTURES}: expected 200 or 503, got {answer.status}")
    connection.close()
    return times, kinds


def largest_memory(process: int) -> float | None:
    """The most memory that a process has used, in MB; None on systems other than Linux."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6
