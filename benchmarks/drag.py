"""Sliders of the model panel while they are dragged: pictures a second on each lens, and what another visitor feels.

The hand never rests and is at another value every frame: more than any hand does. Another visitor asks for the pictures
of Heads over plain HTTP, for weights that are in no cache; so does the hand beside that visitor, one question after the
other: its browser would need the same two cores, and is on another machine in real life.
"""

import itertools
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Event, Thread
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser

from benchmarks.live.drags import Drag, drag, opened
from benchmarks.live.press import link, parameters
from benchmarks.live.serve import Window, chromium, running_app
from benchmarks.measure import Figure, Figures, ratio, show, verdict
from benchmarks.streamlit_private.protocol import HEALTH
from tfm_ui.lenses import lenses

TOKENS, SECONDS = 64, 1.5
LEAST, MOST = 15.0, 2.0  # pictures a second; another visitor's tick over the same without a drag
SLIDERS = {
    "seq_len": tuple(range(TOKENS, TOKENS - 8, -1)),
    "num_layers": tuple(range(1, 9)),
    "num_heads": (1, 2, 4, 8, 16),
    "d_model": tuple(range(32, 257, 32)),
}
# Sliders of the sidebar's model: what shows no such model follows none of them, and weights that a lens opens with lock
# them. Home has random weights here.
LENSES = {
    lens.title: "/" if number == 0 else f"/{lens.name}"
    for number, lens in enumerate(lenses())
    if any(view.uses_model for view in lens.views.values()) and (number == 0 or not lens.opens_with)
}
RATES = {
    (title, slider): Figure(f"{slider} is dragged on {title}, {TOKENS} tokens: pictures", "", "a second", "{:.0f}")
    for title in LENSES
    for slider in SLIDERS
}
GAPS = {
    title: Figure(f"On {title}, the longest time without a new picture, whichever is dragged", "", "ms", "{:.0f}")
    for title in LENSES
}
BESIDE = {
    slider: Figure(f"Both pictures of Heads while another visitor drags {slider}", "the same while nobody does")
    for slider in SLIDERS
}
MODEL_MOST = 1.5  # a new picture of the whole machine over one of Heads
MODEL = {
    slider: Figure(f"From one picture to the next on Model while {slider} is dragged", "the same on Heads")
    for slider in ("num_layers", "num_heads")
}
FIGURES = [*RATES.values(), *GAPS.values(), *MODEL.values(), *BESIDE.values()]
PICTURES = "/pictures/heads+head"
FRAME = 1 / 60


def main(seconds: float = SECONDS, turns: int = 5, ticks: int = 5) -> Figures:
    """Drag each slider on each lens, then beside another visitor."""
    with running_app() as address, chromium() as browser:
        dragged = {title: drags(browser, address + link(path, TOKENS), seconds) for title, path in LENSES.items()}
    with running_app() as address:
        figures = beside(address, turns, ticks)
    rows = []
    for title, by_slider in dragged.items():
        figures[GAPS[title]] = max(seen.gap for seen in by_slider.values())
        figures |= {RATES[title, slider]: seen.rate for slider, seen in by_slider.items()}
        slowest = min(seen.rate for seen in by_slider.values())
        cells = [f"{seen.rate:.0f} ({seen.gap:.0f})" for seen in by_slider.values()]
        rows.append([title, *cells, verdict(slowest, LEAST, at_least=True)])
    figures |= {
        figure: dragged["Heads"][slider].rate / dragged["Model"][slider].rate for slider, figure in MODEL.items()
    }
    times = [
        [slider, f"{figures[figure]:.2f}", verdict(figures[figure], MODEL_MOST)] for slider, figure in MODEL.items()
    ]
    show("From one picture to the next on Model, over the same on Heads", ["dragged", "times", "bar"], times)
    show("Pictures a second during a drag (longest gap in ms)", ["", *SLIDERS, "bar (of the slowest)"], rows)
    return figures


def drags(browser: Browser, url: str, seconds: float) -> dict[str, Drag]:
    """Drag each slider on a page: once to warm up, as the first picture of a kind takes longer, and once in earnest."""
    seen = {}
    for slider in SLIDERS:
        page = opened(browser, url)
        drag(page, slider, seconds=seconds / 3)
        Window(page, url).wait()
        seen[slider] = drag(page, slider, seconds=seconds)
        page.context.close()
    return seen


def beside(address: str, turns: int, ticks: int) -> Figures:
    """Another visitor's ticks with and without a drag, in turns."""
    figures: Figures = {}
    rows = []
    seeds = itertools.count(1000)
    visitor = Visitor(address)
    for _ in range(ticks):
        visitor.ask(seed=next(seeds))
    for slider, values in SLIDERS.items():
        idle: list[float] = []
        busy: list[float] = []
        for turn in range(turns):
            idle.append(statistics.median(visitor.ask(seed=next(seeds)) for _ in range(ticks)))
            with dragging(address, slider, values, seed=turn + 1):
                busy.append(statistics.median(visitor.ask(seed=next(seeds)) for _ in range(ticks)))
        measured = ratio(busy, idle)
        figures[BESIDE[slider]] = measured.median
        ms = f"{1000 * statistics.median(busy):.0f} / {1000 * statistics.median(idle):.0f}"
        rows.append([slider, measured, verdict(measured, MOST), ms])
    show("Another visitor's tick beside a drag, over the same without", ["", "times", "bar", "ms busy / idle"], rows)
    return figures


class Visitor:
    """A browser of its own, as the server tells by its cookie."""

    def __init__(self, address: str) -> None:
        self.connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
        self.connection.request("GET", HEALTH)
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}

    def ask(self, **more: object) -> float:
        """The seconds until the pictures of Heads are there."""
        since = time.perf_counter()
        self.connection.request("POST", PICTURES, urlencode(parameters(TOKENS, **more)), self.cookie)
        answer = self.connection.getresponse()
        answer.read()
        assert answer.status == 200, f"{PICTURES}: expected 200, got {answer.status}"
        return time.perf_counter() - since


@contextmanager
def dragging(address: str, slider: str, values: tuple[object, ...], **more: object) -> Iterator[None]:
    """Another visitor drags up and down: the next question a frame after each answer, which is when it is drawn."""
    over = Event()

    def hand() -> None:
        visitor = Visitor(address)
        for value in itertools.cycle([*values, *values[-2:0:-1]]):
            if over.wait(FRAME):
                return
            visitor.ask(**more, **{slider: value})

    thread = Thread(target=hand)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
