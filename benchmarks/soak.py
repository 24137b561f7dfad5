"""A bad night: an hour of thirty visitors, attacks in turn, and a process that is killed every five minutes.

The server is a hosted one, on this machine. Visitors move controls in all views; strangers from another network address
do one after the other of what benchmarks/live/strangers.py lists; each process but the server's own is killed in turn.
What was stored at the beginning is asked for at the end. `python -m benchmarks.soak --help` tells how to do it for a
shorter time.
"""

import argparse
import asyncio
import logging
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import numpy as np
import psutil

from benchmarks.live.crowd import Observed, together
from benchmarks.live.load_rows import CLASS, growth
from benchmarks.live.process_tree import ProcessTree
from benchmarks.live.serve import running_server
from benchmarks.live.strangers import ATTACKS, Stranger
from benchmarks.live.views import Ticked, scouted
from benchmarks.load import TOLD, as_hosted
from benchmarks.measure import Figure, Figures, show
from tfm_ui.lenses.clinic.uploads import File, as_bytes
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.local import LocalStore
from tfm_ui.store.shared import VARIABLE

MINUTES = 60.0
ARRIVAL = 60.0  # seconds within which visitors come
KILLED_EACH = 300.0  # seconds between two processes that are killed
ATTACKED_EACH = 10.0  # seconds between the end of an attack and the next one
ALIVE = 10.0  # seconds in which /live must answer
STORED = 20  # uploads
BUSY = "The server is busy"  # begins what a page says in place of an answer of 503
FORKER = "multiprocessing.forkserver"
ROLES = {"forks workers": FORKER, "tracks resources": "resource_tracker", "jobs": "jobs.worker"}

MOVES = Figure("moves of 30 visitors", "", "", "{:.0f}")
ERRORS = Figure("errors that a visitor saw", "", "", "{:.0f}")
REFUSED = Figure("answers of 503 to visitors, and pages that say so", "", "", "{:.0f}")
ATTACKED = Figure("attacks", "", "", "{:.0f}")
FAULTS = Figure("answers of 5xx to attackers, but 503", "", "", "{:.0f}")
KILLED = Figure("processes killed", "", "", "{:.0f}")
SLOWEST = Figure("/live, the slowest answer", "", "s", "{:.2f}")
LARGEST = Figure("largest memory", "", "MB", "{:.0f}")
GROWTH = Figure("growth of memory over the last half", "", "MB", "{:.0f}")
LOST = Figure("stored values that were lost", "", "", "{:.0f}")
FIGURES = [MOVES, ERRORS, REFUSED, ATTACKED, FAULTS, KILLED, SLOWEST, LARGEST, GROWTH, LOST]


@dataclass
class Night:
    """What happened beside the visitors.

    Attributes:
        attacks: name of an attack -> how often.
        killed: what a killed process did -> how often.
        live: seconds of each answer of /live.
        lost: names of stored values that are not there any more.
    """

    attacks: Counter[str] = field(default_factory=Counter)
    killed: Counter[str] = field(default_factory=Counter)
    live: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


def main(minutes: float = MINUTES, killed_each: float = KILLED_EACH) -> Figures:
    """Let it be night, for so many minutes, with a process killed each so many seconds."""
    as_hosted()
    with running_server() as (address, _):
        views = asyncio.run(scouted(address))
    with running_server(settings={"ATTENTION_LAB_JOB_WORKER": "early"}) as (address, process):
        stranger = Stranger("127.0.0.1", int(address.rpartition(":")[2]))
        observed, night = asyncio.run(_pass(address, process, views, stranger, 60 * minutes, killed_each))
    errors = [error for error in observed.errors if not error.startswith(BUSY)]
    refused = observed.opening.refused + observed.kept.refused + len(observed.errors) - len(errors)
    figures = {
        MOVES: float(observed.kept.moves),
        ERRORS: float(len(errors)),
        REFUSED: float(refused),
        ATTACKED: float(night.attacks.total()),
        FAULTS: float(sum(count for status, count in stranger.statuses.items() if status >= 500 and status != 503)),
        KILLED: float(night.killed.total()),
        SLOWEST: max(night.live),
        LARGEST: max(megabytes for _, megabytes in observed.memory),
        GROWTH: growth(observed.memory),
        LOST: float(len(night.lost)),
    }
    show(
        f"A night of {minutes:g} minutes",
        ["", "", "unit"],
        [[row.what, row.form.format(value), row.unit] for row, value in figures.items()],
    )
    print(f"  attacks: {dict(night.attacks)}")
    print(f"  killed: {dict(night.killed)}")
    print(f"  answers to attackers: {dict(sorted(stranger.statuses.items()))}")
    for error, times in Counter(errors).most_common(TOLD):
        print(f"  {times} times: {error}")
    return figures


async def _pass(
    address: str, process: int, views: Sequence[Ticked], stranger: Stranger, seconds: float, killed_each: float
) -> tuple[Observed, Night]:
    night = Night()
    beside = [
        asyncio.create_task(each)
        for each in (_attacks(stranger, night), _kills(process, killed_each, night), _watches(address, night))
    ]
    stored = await _stored(address, process)
    observed = await together(address, [process], views, CLASS, spread=ARRIVAL, seconds=seconds)
    for task in beside:
        task.cancel()
    await asyncio.wait(beside)
    for task in beside:
        if not task.cancelled() and (error := task.exception()):
            observed.kept.errors.append(f"{type(error).__name__}: {error}")
    async with aiohttp.ClientSession() as http:
        night.lost = [name for name, before in stored.items() if await _pasted(http, address, name) != before]
    return observed, night


async def _attacks(stranger: Stranger, night: Night) -> None:
    while True:
        for attack in ATTACKS:
            await attack(stranger)
            night.attacks[attack.__name__] += 1
            await asyncio.sleep(ATTACKED_EACH)


async def _kills(process: int, pause: float, night: Night) -> None:
    tree = ProcessTree(process)
    while True:
        for role in ("worker", *ROLES):
            await asyncio.sleep(pause)
            victim = next((each for each in tree.processes() if each.pid != process and _role(each) == role), None)
            if victim:
                victim.kill()
                night.killed[role] += 1


def _role(process: psutil.Process) -> str:
    """What a process of the server does."""
    try:
        parent = process.parent()
        words, above = " ".join(process.cmdline()), " ".join(parent.cmdline()) if parent else FORKER
    except psutil.Error:  # it has ended
        return ""
    role = next((role for role, word in ROLES.items() if word in words), "")
    return "worker" if role == "forks workers" and FORKER in above else role


async def _watches(address: str, night: Night) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=ALIVE)) as http:
        while True:
            begin = time.perf_counter()
            async with http.get(f"{address}/live") as answer:
                if answer.status != 200:
                    raise RuntimeError(f"expected /live to have status 200, got {answer.status}")
            night.live.append(time.perf_counter() - begin)
            await asyncio.sleep(1)


async def _stored(address: str, process: int) -> dict[str, bytes]:
    """Store masks, as pages of the server do in its store's file; name -> the picture of each."""
    child = next(each for each in psutil.Process(process).children(recursive=True) if VARIABLE in each.environ())
    store = LocalStore(Path(child.environ()[VARIABLE]))
    random = np.random.default_rng(0)
    names = [f"{number:032x}" for number in range(STORED)]
    for name in names:
        mask = str(random.integers(0, 2, (16, 16)).tolist()).encode()
        store.put(UPLOADS, name, as_bytes(File("mask.txt", mask)), "198.51.100.1 somebody")
    store.close()
    async with aiohttp.ClientSession() as http:
        return {name: await _pasted(http, address, name) for name in names}


async def _pasted(http: aiohttp.ClientSession, address: str, name: str) -> bytes:
    link = f"clinic_pasted=&clinic_upload={name}"
    async with http.post(f"{address}/pictures/clinic_mask", data=link) as answer:
        return await answer.read() if answer.status == 200 else b""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--killed-each", type=float, default=KILLED_EACH, help="seconds between two killed processes")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # an exception, so that servers are ended
    logging.getLogger("streamlit").setLevel(logging.ERROR)  # it warns that there is no browser
    main(asked.minutes, asked.killed_each)
