"""Two servers behind nginx, each on a core of its own, beside one on one core: how many moves are answered in a second.

The set-up is that of hosting/compose.yaml: nginx, Redis, and servers with a host's settings. More visitors move than
can be answered, so that what is answered is what the servers can do. A core carries its server's visitors, too: those
of a single server are on its core, and those of two, with nginx and Redis, on both.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.live.crowd import Observed, together
from benchmarks.live.replicas import NAMES, Replicas, behind_nginx, free_ports, program, running
from benchmarks.live.views import Ticked
from benchmarks.measure import show, verdict

EACH = 100  # visitors of each server: more moves in a second than a core answers
BAR = 1.8
# A core each has one worker; all visitors come from one address here, and so from one that counts as a network.
SETTINGS = {
    "STREAMLIT_SERVER_COOKIE_SECRET": "the same for all servers",
    "ATTENTION_LAB_WORKERS": "1",
    "ATTENTION_LAB_TABS_PER_ADDRESS": "400",
    "ATTENTION_LAB_WAITING_PER_ADDRESS": "400",
    "ATTENTION_LAB_WAITING": "400",
}
SPREAD = 60.0  # seconds within which visitors come


def main(views: Sequence[Ticked], seconds: float) -> float:
    """How many times as many moves two servers answer as one.

    Args:
        views: what visitors open.
        seconds: how long each is measured.
    """
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2 or not shutil.which("taskset"):
        raise ValueError(f"expected two cores and the program taskset, got {len(cores)} cores")
    answered = {}
    rows = []
    for number in (1, 2):
        observed = _observed(views, number, cores, seconds)
        many = len(observed.kept.pictures) + len(observed.kept.known)
        answered[number] = many / observed.wall
        used = [100 * part / observed.wall for part in (observed.processor, observed.driver, observed.others)]
        rows.append([number, f"{answered[number]:.1f}", *(f"{percent:.0f}" for percent in used), len(observed.errors)])
    times = answered[2] / answered[1]
    rows.append(["2 over 1", f"{times:.2f}", verdict(times, BAR, at_least=True)])
    heads = ["servers", "moves answered in a second", "servers (% of a core)", "visitors", "nginx and others", "errors"]
    show(f"Servers on a core each, {EACH} visitors a server", heads, rows)
    return times


def _observed(views: Sequence[Ticked], number: int, cores: Sequence[int], seconds: float) -> Observed:
    with ExitStack() as stack:
        stack.enter_context(_on(cores[:number]))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        [port] = free_ports(1)
        redis = [program("redis-server"), "--port", str(port), "--save", "", "--dir", str(folder)]
        stack.enter_context(running(*redis, "--maxmemory-policy", "noeviction", port=port))
        settings = SETTINGS | {"ATTENTION_LAB_STORE": f"redis://127.0.0.1:{port}/0"}
        replicas = Replicas(folder, settings, dict(zip(NAMES, cores, strict=True)), alone=number == 1)
        address = stack.enter_context(behind_nginx(replicas))
        crowd = together(address, replicas.processes, views, number * EACH, spread=SPREAD, seconds=seconds)
        return asyncio.run(crowd)


@contextmanager
def _on(cores: Collection[int]) -> Iterator[None]:
    """Run on these cores alone, with all that is started meanwhile and not put elsewhere."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
