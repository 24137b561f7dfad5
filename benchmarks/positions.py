"""The Positions lens at its largest beside a small table: a tick of the base, from the request until all is drawn."""

import itertools
import statistics
from functools import partial
from urllib.parse import urlencode

from benchmarks.live.serve import chromium, running_app
from benchmarks.live.ticks import opened, tick
from benchmarks.measure import Figure, Figures, interleaved, ratio, show, verdict
from tfm_ui.lenses import lens
from tfm_ui.pictures.registry import made

SIZES = {"128 × 64": (128, 64), "4,096 × 512": (4096, 512)}
PAIRS = (("sinusoidal", "nothing"), ("sinusoidal", "rope"), ("sinusoidal", "learned"))
BAR = 2.0
BASE = "positions_base"
FIGURES = [
    Figure(f"A tick of the dragged base on Positions, {a} beside {b}, {large} positions × dimensions", small)
    for a, b in PAIRS
    for small, large in [tuple(SIZES)]
]


def main(rounds: int = 25) -> Figures:
    """Measure each pair of schemes at both sizes, in turns; no base is used twice."""
    rows = []
    told: list[float] = []
    with running_app() as app, chromium() as browser:
        for a, b in PAIRS:
            bases = itertools.count(9000)
            pages = {name: opened(browser, app + link(a, b, name)) for name in SIZES}
            for page in pages.values():
                tick(page, BASE, next(bases))
            milliseconds: dict[str, list[float]] = {name: [] for name in SIZES}
            for number in range(rounds):
                for name in list(SIZES)[:: 1 if number % 2 else -1]:
                    milliseconds[name].append(tick(pages[name], BASE, next(bases)))
            for page in pages.values():
                page.context.close()
            small, large = milliseconds.values()
            measured = ratio(large, small)
            told.append(measured.median)
            medians = [f"{statistics.median(numbers):.0f}" for numbers in (small, large)]
            rows.append([f"{a}, {b}", *medians, measured, verdict(measured, BAR)])
    show("A tick of the base in the view see, ms until drawn", ["A, B", *SIZES, "ratio (quartiles)", "bar"], rows)
    served()
    return dict(zip(FIGURES, told, strict=True))


def served(rounds: int = 25) -> None:
    """Measure the part of the time that the server takes for the heatmap."""
    bases = itertools.count(1000)  # four digits, as a link carries no more
    lens("positions")  # registers its pictures

    def ask(name: str) -> bytes:
        return made("positions_encode_a", link("sinusoidal", "nothing", name, base=next(bases)).partition("?")[2])

    seconds = interleaved({name: partial(ask, name) for name in SIZES}, rounds=rounds)
    medians = [f"{1000 * statistics.median(numbers):.1f}" for numbers in seconds.values()]
    show("Of it, the heatmap's bytes in the server, ms", list(SIZES), [medians])


def link(a: str, b: str, size: str, **more: object) -> str:
    """The link to the view."""
    length, width = SIZES[size]
    given = {"a": a, "b": b, "length": length, "max_len": length, "width": width, **more}
    return f"/positions?{urlencode({f'positions_{name}': value for name, value in given.items()})}"
