"""How smooth the app is in the browser: the longest tasks of the main thread, foreign addresses, console errors."""

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from playwright.sync_api import Browser

from benchmarks.live.press import link
from benchmarks.live.serve import FLOOR, Window, chromium, running_app
from benchmarks.measure import Figure, Figures, show, verdict
from benchmarks.streamlit_private.dom import HEADER

SIZES = (64, 1024)
BAR = 200  # milliseconds
VISITS = {
    visit: Figure(f"Longest task in the browser after the first paint, {where}", "", "ms", "{:.0f}")
    for visit, where in (("/", "Home"), *((f"/heads, {n} tokens", f"Heads, {n:,} tokens") for n in SIZES))
}
FIGURES = list(VISITS.values())
OBSERVE = """
window.tasks = []
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) tasks.push([entry.startTime, entry.duration])
}).observe({type: "longtask", buffered: true})
"""
# Only tasks after the first paint count: before it, there is nothing to click on.
TASKS = """() => {
  const paint = performance.getEntriesByName("first-paint")[0].startTime
  return tasks.filter(([start]) => start >= paint)
}"""
Acts = Mapping[str, Callable[[Window], None]]
Longest = dict[str, float]  # act -> milliseconds of its longest task; browsers report none below 50: that is 0


def main(sizes: Sequence[int] = SIZES, rounds: int = 2) -> Figures:
    """Visit pages and do everything there is to do; the floor's page shows what Streamlit itself takes."""
    heads = {f"/heads, {tokens} tokens": link("/heads", tokens) for tokens in sizes}
    measured: dict[str, list[Longest]] = {}
    problems: list[str] = []
    foreign: list[str] = []
    with running_app() as app, running_app(script=FLOOR) as floor, chromium() as browser:
        visits: dict[str, tuple[str, str, Acts]] = {
            "floor": (floor, "/", {"ten presses": partial(press, label="Value")}),
            "/": (app, "/", HOME),
            **{name: (app, path, LENS) for name, path in heads.items()},
        }
        for _ in range(rounds):
            for name, (address, path, acts) in visits.items():
                longest, window = visit(browser, address, path, acts)
                measured.setdefault(name, []).append(longest)
                problems += window.problems
                foreign += window.foreign
    rows = [row(name, longest) for name, longest in measured.items()]
    show(
        f"Longest task after the first paint in ms: median of {rounds} visits (worst); below 50 is not counted",
        ["visit", "load", *LENS, "bar (of the medians)"],
        rows,
    )
    for what, all_of_them in (("console errors", problems), ("foreign addresses", foreign)):
        print(f"  {what}: {verdict(len(all_of_them), 0)}", *sorted(set(all_of_them)), sep="\n    ")
    return {VISITS[name]: longest_of(longest) for name, longest in measured.items() if name in VISITS}


def row(name: str, rounds: Sequence[Longest]) -> list[str]:
    """One line of the table."""
    medians = {act: statistics.median(longest[act] for longest in rounds) for act in rounds[0]}
    cells = {act: f"{medians[act]:.0f} ({max(longest[act] for longest in rounds):.0f})" for act in medians}
    bar = verdict(longest_of(rounds), BAR) if name != "floor" else ""
    return [name, *(cells.get(act, "") for act in ("load", *LENS)), bar]


def longest_of(rounds: Sequence[Longest]) -> float:
    """The median, in ms, of the act whose median over the rounds is the largest."""
    return max(statistics.median(longest[act] for longest in rounds) for act in rounds[0])


def visit(browser: Browser, address: str, path: str, acts: Acts) -> tuple[Longest, Window]:
    """Open a page and do these acts one after the other; return the longest task of each act, and the window."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script(OBSERVE)
    window = Window(context.new_page(), address)
    window.page.goto(address + path)
    begins = {"load": 0.0}
    window.wait()
    window.page.wait_for_load_state("networkidle")  # scripts that load late count as well
    for name, act in acts.items():
        window.wait()
        begins[name] = window.page.evaluate("performance.now()")
        act(window)
    window.wait()
    tasks: list[tuple[float, float]] = window.page.evaluate(TASKS)
    context.close()
    ends = [*list(begins.values())[1:], float("inf")]
    return {
        name: max((duration for start, duration in tasks if begin <= start < end), default=0)
        for (name, begin), end in zip(begins.items(), ends, strict=True)
    }, window


def hover(window: Window) -> None:
    """Hover over the thumbnails, and over the cells of the large map."""
    buttons = window.page.locator(".cells button")
    for i in range(min(4, buttons.count())):
        buttons.nth(i).hover()
    box = window.page.locator(".st-key-panel_head").bounding_box() if path_of(window) == "/heads" else None
    for step in range(12 if box else 0):
        assert box is not None
        window.page.mouse.move(box["x"] + box["width"] * (0.25 + step / 24), box["y"] + box["height"] * 0.5)
        window.page.wait_for_timeout(30)


def click(window: Window) -> None:
    """Lock three other heads."""
    for i in (1, 2, 5):
        window.page.locator(".cells button").nth(i).click()
        window.wait()


def press(window: Window, label: str = "Tokens") -> None:
    """Ten steps of a slider, without waiting for the pictures between them."""
    slider = window.page.get_by_role("slider", name=label)
    slider.focus()
    for key in ["ArrowLeft"] * 5 + ["ArrowRight"] * 5:
        slider.press(key)
        window.page.wait_for_timeout(120)


def switch(window: Window) -> None:
    """Go to the other page and back."""
    here = path_of(window)
    for name in ("Home", "Heads") if here == "/heads" else ("Heads", "Home"):
        window.page.locator(HEADER).get_by_role("link", name=name, exact=True).click()
        window.page.wait_for_url(re.compile(r"/heads(\?|$)" if name == "Heads" else r"/(\?|$)"))
        window.wait()


def path_of(window: Window) -> str:
    """Which page is open."""
    return window.page.url.removeprefix(window.address).split("?")[0]


LENS: Acts = {"hover": hover, "click": click, "ten presses": press, "pages": switch}
HOME: Acts = {name: act for name, act in LENS.items() if name != "click"}  # on Home, a click opens the other page
