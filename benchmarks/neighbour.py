"""What a visitor of /heads feels of another who measures: both pictures of a tick during a profile, over one without.

The visitor asks over plain HTTP, as in `drag`: a browser of that visitor's own would need the same cores.
"""

import itertools
import statistics

from playwright.sync_api import Browser, Page

from benchmarks.drag import TOKENS, Visitor
from benchmarks.live.serve import chromium, running_app
from benchmarks.measure import Figure, Figures, ratio, show, verdict
from benchmarks.streamlit_private.dom import PROGRESS

BAR = 3.0  # times the latency while nobody measures
PATIENCE = 60_000  # ms
BESIDE = Figure("Both pictures of Heads while another visitor measures", "the same while nobody does")
FIGURES = [BESIDE]
MEASURE = ".st-key-_profiling_measure button"


def main(turns: int = 6, ticks: int = 9) -> Figures:
    """Start and stop the default profile in turns, so that changes of the machine's speed affect both alike."""
    idle: list[float] = []
    busy: list[float] = []
    worst = 0.0
    with running_app() as address, chromium() as browser:
        visitor, other, seeds = Visitor(address), _profiling(browser, address), itertools.count(1000)
        for _ in range(ticks):
            visitor.ask(seed=next(seeds))  # to warm up
        for _ in range(turns):
            idle.append(statistics.median(visitor.ask(seed=next(seeds)) for _ in range(ticks)))
            other.locator(MEASURE).click()
            measuring = other.locator(PROGRESS, has_text="Measuring")
            measuring.wait_for(timeout=PATIENCE)
            beside = [visitor.ask(seed=next(seeds)) for _ in range(ticks)]
            assert measuring.count(), "it has ended meanwhile"
            busy.append(statistics.median(beside))
            worst = max(worst, *beside)
            other.get_by_role("button", name="Stop").click()
            other.locator(MEASURE).wait_for(timeout=PATIENCE)
    times = ratio(busy, idle)
    ms = f"{1000 * statistics.median(busy):.0f} / {1000 * statistics.median(idle):.0f}"
    show(
        f"Both pictures of /heads, {TOKENS} tokens, while another measures ({turns} turns of {ticks})",
        ["times the idle latency (quartiles)", "bar", "ms busy / idle", "slowest"],
        [[times, verdict(times, BAR), ms, f"{1000 * worst:.0f}"]],
    )
    return {BESIDE: times.median}


def _profiling(browser: Browser, address: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(f"{address}/profiling")
    page.locator(MEASURE).wait_for(timeout=PATIENCE)
    return page
