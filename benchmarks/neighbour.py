"""What a visitor of /heads feels of another who measures: a tick of a slider during a profile, over one without."""

import itertools
import statistics
from collections.abc import Iterator

from playwright.sync_api import Browser, Page

from benchmarks.live.press import Clocked, Tick, link
from benchmarks.live.serve import chromium, running_app
from benchmarks.measure import Figure, Figures, ratio, show, verdict
from benchmarks.streamlit_private.dom import PROGRESS

BAR = 3.0  # times the latency while nobody measures
TOKENS = 64
PATIENCE = 60_000  # ms
SHOWN = (("first picture", "first"), ("all pictures", "all"))
FIGURES = [
    Figure(f"Key press on Heads while another visitor measures, {name}", "the same press while nobody measures")
    for name, _ in SHOWN
]
MEASURE = ".st-key-_profiling_measure button"


def main(turns: int = 6, ticks: int = 5) -> Figures:
    """Start and stop the default profile in turns, so that changes of the machine's speed affect both alike."""
    with running_app() as address, chromium() as browser:
        lens = Clocked(browser, address + link("/heads", TOKENS))
        other = _profiling(browser, address)
        seeds = itertools.count(100)
        _ticks(lens, seeds, ticks)  # to warm up
        idle: list[list[Tick]] = []
        busy: list[list[Tick]] = []
        for _ in range(turns):
            idle.append(_ticks(lens, seeds, ticks))
            other.locator(MEASURE).click()
            other.locator(PROGRESS, has_text="Measuring").wait_for(timeout=PATIENCE)
            busy.append(_ticks(lens, seeds, ticks))
            assert other.locator(PROGRESS, has_text="Measuring").count(), "it has ended meanwhile"
            other.get_by_role("button", name="Stop").click()
            other.locator(MEASURE).wait_for(timeout=PATIENCE)
    rows = []
    told: list[float] = []
    for name, of in SHOWN:
        alone, beside = ([statistics.median(getattr(t, of) for t in turn) for turn in all_] for all_ in (idle, busy))
        times = ratio(beside, alone)
        told.append(times.median)
        ms = f"{statistics.median(beside):.0f} / {statistics.median(alone):.0f}"
        worst = max(getattr(tick, of) for turn in busy for tick in turn)
        rows.append([name, times, verdict(times, BAR), ms, f"{worst:.0f}"])
    show(
        f"Key press to new pixels on /heads, {TOKENS} tokens, while another measures ({turns} turns of {ticks})",
        ["", "times the idle latency (quartiles)", "bar", "ms busy / idle", "slowest"],
        rows,
    )
    return dict(zip(FIGURES, told, strict=True))


def _profiling(browser: Browser, address: str) -> Page:
    page = browser.new_context().new_page()
    page.goto(f"{address}/profiling")
    page.locator(MEASURE).wait_for(timeout=PATIENCE)
    return page


def _ticks(lens: Clocked, seeds: Iterator[int], number: int) -> list[Tick]:
    """Steps of the Tokens slider, each with weights that are not in the cache."""
    seconds = []
    for _ in range(number):
        lens.press("Tokens", "ArrowLeft")
        lens.fill("Seed", next(seeds))
        seconds.append(lens.press("Tokens", "ArrowRight"))
    return seconds
