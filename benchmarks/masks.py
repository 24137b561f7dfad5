"""The Masks lens while a mask's number is dragged: a tick at several lengths of text, until all pictures are drawn."""

import itertools
import statistics
from urllib.parse import urlencode

from benchmarks.live.serve import chromium, running_app
from benchmarks.live.ticks import opened, tick
from benchmarks.measure import Figure, Figures, ratio, show

LENGTHS = (10, 64, 256, 1024)
MASK = "masks_mask"
FIGURES = [
    Figure(f"A tick of a dragged window on Masks, {LENGTHS[0]} tokens, until all is drawn", "", "ms", "{:.0f}"),
    *(Figure(f"The same at {length:,} tokens", f"{LENGTHS[0]} tokens") for length in LENGTHS[1:]),
]


def main(rounds: int = 25) -> Figures:
    """Measure all lengths, in turns; no mask is used twice."""
    with running_app() as app, chromium() as browser:
        pages = {length: opened(browser, app + link(length)) for length in LENGTHS}
        masks = map("window {} and padding".format, itertools.count(2))
        for page in pages.values():
            tick(page, MASK, next(masks))
        milliseconds: dict[int, list[float]] = {length: [] for length in LENGTHS}
        for number in range(rounds):
            for length in LENGTHS[:: 1 if number % 2 else -1]:
                milliseconds[length].append(tick(pages[length], MASK, next(masks)))
    first = milliseconds[LENGTHS[0]]
    rows = [[length, f"{statistics.median(times):.0f}", ratio(times, first)] for length, times in milliseconds.items()]
    show("A tick of a dragged window in the view see, ms until drawn", ["tokens", "ms", "ratio (quartiles)"], rows)
    times = [ratio(milliseconds[length], first).median for length in LENGTHS[1:]]
    return dict(zip(FIGURES, [statistics.median(first), *times], strict=True))


def link(length: int) -> str:
    """The link to the view, with the sidebar's text, which is taken from a book."""
    given = {"text": "@alice", "seq_len": length, "causal": "false", "masks_item": 1, MASK: "window 1 and padding"}
    return f"/masks?{urlencode(given)}"
