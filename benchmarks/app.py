"""How fast the app answers, beside the least that a Streamlit page can be (live/floor.py), in real Chromium."""

import statistics
import time
from collections.abc import Sequence
from contextlib import ExitStack

from playwright.sync_api import Browser

from benchmarks.live.press import Clocked, Tick, link
from benchmarks.live.serve import FLOOR, chromium, running_app
from benchmarks.measure import Figure, Figures, ratio, show, verdict

BARS: dict[int, float] = {64: 2, 256: 3}  # tokens -> times the floor
TEXT_WITHIN, PICTURE_WITHIN = 1.5, 3.0  # seconds of a cold start
TICKS = {
    tokens: Figure(
        f"Key press to all new pixels on Heads, {tokens} tokens, nothing cached",
        "the same of a Streamlit page with one slider and a line of text",
    )
    for tokens in BARS
}
STARTS = {
    "server": Figure("Server start: from the command until it answers", "", "s"),
    "text": Figure("First visit of that server, on the same machine: from the link to the first text", "", "s"),
    "canvas": Figure("The same, to the first picture", "", "s"),
    "all": Figure("Both together: from the command to the first picture", "", "s"),
}
FIGURES = [*TICKS.values(), *STARTS.values()]


def main(sizes: dict[int, float] = BARS, rounds: int = 6, starts: int = 3) -> Figures:
    """Measure from a key press to new pixels, and from a link to the first pixels."""
    with chromium() as browser:
        return ticks(browser, sizes, rounds) | cold_start(browser, starts)


def ticks(browser: Browser, sizes: dict[int, float], rounds: int) -> Figures:
    """Measure steps of the Tokens slider on Heads, which change every picture, but no weight and no layout.

    Before each step the seed is changed, so that only the model itself is in the cache. Then the same step is repeated,
    now from the cache. The floor's slider is pressed between the two.
    """
    rows: list[Sequence[object]] = []
    figures: Figures = {}
    for tokens, bar in sizes.items():
        with ExitStack() as open_windows:
            lens = Clocked(browser, open_windows.enter_context(running_app()) + link("/heads", tokens))
            open_windows.callback(lens.close)
            floor = Clocked(browser, open_windows.enter_context(running_app(script=FLOOR)))
            open_windows.callback(floor.close)
            new: list[Tick] = []
            known: list[Tick] = []
            least: list[float] = []
            for number in range(rounds + 1):
                lens.press("Tokens", "ArrowLeft")
                lens.fill("Seed", 100 + number)
                new.append(lens.press("Tokens", "ArrowRight"))
                least.append(floor.press("Value", "ArrowRight").all)
                if number <= rounds // 2:  # fewer rounds are enough for these
                    lens.press("Tokens", "ArrowLeft")
                    known.append(lens.press("Tokens", "ArrowRight"))
        for name, costs in (
            ("first picture, computed", [tick.first for tick in new]),
            ("all pictures, computed", [tick.all for tick in new]),
            ("all pictures, from the cache", [tick.all for tick in known]),
        ):
            ours, floors = costs[1:], least[1 : len(costs)]  # the first round warmed up
            times = ratio(ours, floors)
            if name == "all pictures, computed":
                figures[TICKS[tokens]] = times.median
            within = verdict(times, bar)
            ms = f"{statistics.median(ours):.0f} / {statistics.median(floors):.0f}"
            rows.append([tokens, name, times, within, ms])
    show(
        f"Key press to new pixels on /heads, 2 layers x 4 heads, in times the floor ({rounds} rounds)",
        ["tokens", "", "median (quartiles)", "bar", "ms here / floor"],
        rows,
    )
    return figures


def cold_start(browser: Browser, rounds: int) -> Figures:
    """Measure the first visit of a new server with a new browser: from following the link to the first pixels.

    The start of the server, which answers before the visit begins, is measured separately. Browser and server are on
    the same machine, so a network's time is not included.
    """
    boots: dict[str, list[float]] = {"app.py": [], FLOOR: []}
    visits: dict[str, list[dict[str, float]]] = {"app.py": [], FLOOR: []}
    for _ in range(rounds):
        for script, path in (("app.py", "/heads"), (FLOOR, "")):
            begin = time.perf_counter()
            with running_app(script=script) as address:
                boots[script].append(time.perf_counter() - begin)
                page = Clocked(browser, address + path)
                visits[script].append(page.first_seen())
                page.close()

    rows: list[Sequence[object]] = []
    for name, of, bar in (("text", "text", TEXT_WITHIN), ("first canvas picture", "canvas", PICTURE_WITHIN)):
        ours = [visit[of] for visit in visits["app.py"]]
        floor = [visit["text"] for visit in visits[FLOOR]]
        median = statistics.median(ours)
        rows.append([name, f"{median:.2f} s", _range(ours), verdict(median, bar), ratio(ours, floor)])
    ours, floor = boots["app.py"], boots[FLOOR]
    rows.append(["(before: server start)", f"{statistics.median(ours):.2f} s", _range(ours), "", ratio(ours, floor)])
    show(
        f"Cold start of /heads ({rounds} new servers)",
        ["until", "median", "range", "bar (s)", "times the floor's text"],
        rows,
    )
    seconds_until = {of: [visit[of] for visit in visits["app.py"]] for of in ("text", "canvas")}
    both = [boot + picture for boot, picture in zip(ours, seconds_until["canvas"], strict=True)]
    seconds = {"server": ours, **seconds_until, "all": both}
    return {STARTS[of]: statistics.median(values) for of, values in seconds.items()}


def _range(seconds: Sequence[float]) -> str:
    return f"{min(seconds):.2f} to {max(seconds):.2f}"
