"""Attention in a notebook's cell: ours beside BertViz and CircuitsVis, of the same weights, in one run.

All get the same random weights, 12 layers of 12 heads, causal. Each makes a cell in a process of its own, and the page
of the cell is opened from a file in a new Chromium. What a page asks other machines for comes from node_modules, at
once. CircuitsVis's cell is timed as it is without a network, with its script in it; what counts are the bytes of the
smaller one, which asks for the script. Its heads of all layers stand side by side, as it has no layers.

`python -m benchmarks.notebook heads 128 cell.html` makes one cell alone.
"""

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from playwright.sync_api import Error, Page, Route, ViewportSize
from torch import Tensor

from benchmarks.live.serve import ROOT, chromium
from benchmarks.measure import Figure, FiguresOrWords, show

SIZES = (32, 128, 512)
LAYERS, HEADS = 12, 12
PATIENCE = 60.0  # seconds, for the picture
MAKING = 180.0  # seconds, for the cell
HOVERS = 20
VIEWPORT: ViewportSize = {"width": 1440, "height": 900}
MB = 1e6
PROBE = Path(__file__).parent / "live" / "answers.js"
MODULES = Path(__file__).parent / "node_modules"
SCRIPTS = {  # the script that BertViz's page loads -> its file below node_modules
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}
TOO_LONG, NO_MEMORY, REFUSED, NOT_TRIED = f"more than {PATIENCE:.0f} s", "out of memory", "refused", "not tried"


@dataclass(frozen=True)
class Cell:
    """The output of a notebook's cell.

    Attributes:
        saved: bytes of it in a saved notebook.
        page: HTML that shows it.
        seconds: from the call until Python has made it.
    """

    saved: int
    page: str
    seconds: float


@dataclass(frozen=True)
class Measure:
    """What is measured of a cell.

    Attributes:
        what: it is, as a row of the table says it.
        unit: of the number.
        form: the format of the number.
    """

    what: str
    unit: str
    form: str


SAVED = Measure("the cell in a saved notebook", "MB", "{:,.2f}")
MADE = Measure("from the call until Python has made it", "s", "{:.2f}")
FIRST = Measure("from opening its page to the first hover that is answered", "s", "{:.2f}")
HOVER = Measure("one hover", "ms", "{:.0f}")
MEASURES = (SAVED, MADE, FIRST, HOVER)


def bertviz_cell(view: str, weights: Tensor, tokens: Sequence[str]) -> Cell:
    """A cell of BertViz, `head_view` or `model_view`."""
    draw = getattr(import_module("bertviz"), view)  # has no types
    begin = time.perf_counter()
    shown = draw([layer[None] for layer in weights], list(tokens), html_action="return")
    return Cell(_saved({"text/html": shown.data, "text/plain": repr(shown)}), shown.data, time.perf_counter() - begin)


def circuitsvis_cell(view: str, weights: Tensor, tokens: Sequence[str]) -> Cell:
    """A cell of CircuitsVis, `attention_heads`."""
    draw = getattr(import_module("circuitsvis.attention"), view)
    names = [f"{layer + 1}.{head + 1}" for layer in range(LAYERS) for head in range(HEADS)]
    begin = time.perf_counter()
    shown = draw(weights.flatten(0, 1), list(tokens), attention_head_names=names)
    seconds = time.perf_counter() - begin
    return Cell(_saved({"text/html": shown.cdn_src, "text/plain": object.__repr__(shown)}), shown.local_src, seconds)


def our_cell(view: str, weights: Tensor, tokens: Sequence[str]) -> Cell:
    """A cell of attention_lab, with the state of its widget, which is saved beside it."""
    draw = getattr(import_module("attention_lab"), view)
    begin = time.perf_counter()
    widget = draw(weights, list(tokens))
    bundle = widget._repr_mimebundle_()
    seconds = time.perf_counter() - begin
    state = import_module("ipywidgets.embed").dependency_state(widget, drop_defaults=False)  # has no types
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    return Cell(_saved(data) + _saved(state), widget.to_html(), seconds)


def _saved(part: Any) -> int:
    return len(json.dumps(part).encode())


@dataclass(frozen=True)
class Contender:
    """A view of a library.

    Attributes:
        view: its function, by which answers.js knows where to point at.
        library: whose it is.
        cell: makes its cell.
    """

    view: str
    library: str
    cell: Callable[[str, Tensor, Sequence[str]], Cell]

    @property
    def title(self) -> str:
        """How it is called in tables."""
        return f"{self.library} {self.view}"


CONTENDERS = (
    Contender("heads", "attention_lab", our_cell),
    Contender("arcs", "attention_lab", our_cell),
    Contender("head_view", "BertViz", bertviz_cell),
    Contender("model_view", "BertViz", bertviz_cell),
    Contender("attention_heads", "CircuitsVis", circuitsvis_cell),
)
MODULES_OF = {bertviz_cell: "bertviz", circuitsvis_cell: "circuitsvis", our_cell: "anywidget"}


def _figure(tokens: int, measure: Measure, contender: Contender) -> Figure:
    what = f"{tokens} tokens: {measure.what}"
    return Figure(what, "", measure.unit, measure.form, column=contender.title)


FIGURES = [_figure(tokens, measure, contender) for tokens in SIZES for measure in MEASURES for contender in CONTENDERS]


def main(sizes: Sequence[int] = SIZES) -> FiguresOrWords:
    """Measure each view with each number of tokens; one that was too slow is not tried with more."""
    if missing := [name for name in MODULES_OF.values() if not find_spec(name)]:
        print(f"\nnotebook: {', '.join(missing)} missing; pip install -r requirements-benchmarks.txt")
        return {}
    if not all((MODULES / path).is_file() for path in SCRIPTS.values()):
        print("\nnotebook: BertViz's scripts are missing; npm install --prefix benchmarks --no-package-lock")
        return {}
    figures: dict[Figure, float | str] = {}
    failed: dict[Contender, str] = {}
    for tokens in sizes:
        for contender in CONTENDERS:
            values = measured(contender, tokens, failed.get(contender, ""))
            if isinstance(values[FIRST], str):
                failed[contender] = str(values[FIRST])
            figures |= {_figure(tokens, measure, contender): value for measure, value in values.items()}
        rows = [
            [measure.what, measure.unit, *(_told(figures[_figure(tokens, measure, c)], measure) for c in CONTENDERS)]
            for measure in MEASURES
        ]
        title = f"{tokens} tokens, {LAYERS} layers x {HEADS} heads, causal"
        show(title, ["", "", *(contender.title for contender in CONTENDERS)], rows)
    return figures


def _told(value: float | str, measure: Measure) -> str:
    return value if isinstance(value, str) else measure.form.format(value)


def measured(contender: Contender, tokens: int, failed: str = "") -> dict[Measure, float | str]:
    """What is measured of a cell: a number, or why there is none.

    Args:
        contender: whose cell.
        tokens: how many.
        failed: why it has not shown fewer tokens; then it is not tried with more.
    """
    if failed:
        return {SAVED: NOT_TRIED, MADE: NOT_TRIED, FIRST: failed, HOVER: failed}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "cell.html"
        made = _made(contender, tokens, file)
        if isinstance(made, str):
            return dict.fromkeys(MEASURES, made)
        saved, seconds = made
        with opened() as page:
            shown = visit(page, contender, file)
    return dict(zip(MEASURES, (saved / MB, seconds, *shown), strict=True))


def _made(contender: Contender, tokens: int, file: Path) -> tuple[int, float] | str:
    """Bytes and seconds of a cell that a new process makes; or why there is none."""
    command = [sys.executable, "-m", "benchmarks.notebook", contender.view, str(tokens), str(file)]
    try:
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=MAKING)
    except subprocess.TimeoutExpired:
        return f"more than {MAKING:.0f} s"
    if told.returncode:
        print(f"  {contender.title}, {tokens} tokens: {(told.stderr.splitlines() or [str(told.returncode)])[-1]}")
        return NO_MEMORY if told.returncode < 0 or "MemoryError" in told.stderr else REFUSED
    saved, seconds = json.loads(told.stdout.splitlines()[-1])
    return saved, seconds


def make(view: str, tokens: int, file: Path) -> None:
    """Write the page of a cell, and print its bytes in a saved notebook, and the seconds that it took."""
    contender = next(each for each in CONTENDERS if each.view == view)
    cell = contender.cell(view, random_weights(tokens), [f"token{number}" for number in range(1, tokens + 1)])
    page = cell.page if cell.page.startswith("<!doctype") else f"<!doctype html><meta charset=utf-8>{cell.page}"
    file.write_text(page, "utf-8")
    print(json.dumps([cell.saved, cell.seconds]))


def random_weights(tokens: int) -> Tensor:
    """Causal weights (layer, head, query, key)."""
    scores = torch.randn(LAYERS, HEADS, tokens, tokens, generator=torch.Generator().manual_seed(0))
    return scores.masked_fill(~torch.ones(tokens, tokens, dtype=torch.bool).tril(), -torch.inf).softmax(-1)


def visit(page: Page, contender: Contender, file: Path) -> tuple[float | str, float | str]:
    """Seconds until the first hover is answered, and milliseconds of one hover; or why there are none."""
    crashes: list[Page] = []
    unknown: list[str] = []

    def serve(route: Route) -> None:
        if path := SCRIPTS.get(route.request.url.rsplit("/", 1)[1]):
            route.fulfill(path=MODULES / path, content_type="text/javascript")
        else:
            unknown.append(route.request.url)
            route.abort()

    first: float | str = TOO_LONG
    page.on("crash", lambda page: crashes.append(page))
    page.route(re.compile("^https?:"), serve)
    start = f"addEventListener('DOMContentLoaded', () => answers.start('{contender.view}'))"
    page.add_init_script(f"{PROBE.read_text('utf-8')}\n{start}")
    try:
        page.goto(file.as_uri(), wait_until="commit", timeout=1000 * PATIENCE)
        page.wait_for_function("window.answers?.first !== null", timeout=1000 * PATIENCE)
        first = page.evaluate("answers.first") / 1000
        before = page.screenshot(timeout=1000 * PATIENCE)
        _repeat(page, contender.view, 1)
        if page.screenshot(timeout=1000 * PATIENCE) == before:
            raise AssertionError(f"{contender.title}: expected a hover to change the picture's pixels")
        return first, statistics.median(_repeat(page, contender.view, HOVERS))
    except Error:  # it took too long, or the tab ran out of memory
        if unknown:
            raise AssertionError(f"{contender.title} asked for {unknown}: it had no chance") from None
        why = NO_MEMORY if crashes else TOO_LONG
        return (why if isinstance(first, str) else first), why


def _repeat(page: Page, view: str, count: int) -> list[float]:
    """Milliseconds of each of some hovers."""
    page.evaluate(f"answers.times = null; void answers.repeat('{view}', {count}, {1000 * PATIENCE})")
    page.wait_for_function("answers.times !== null", timeout=1000 * PATIENCE)
    times: list[float] = page.evaluate("answers.times")
    return times


@contextmanager
def opened() -> Iterator[Page]:
    """A page in a new browser, so that it does not inherit another page's memory."""
    with chromium() as browser:
        page = browser.new_page(viewport=VIEWPORT)
        try:
            yield page
        finally:  # a busy tab would prevent the browser from closing
            processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
            for process in processes:
                if process["type"] == "renderer":
                    os.kill(process["id"], signal.SIGKILL)


if __name__ == "__main__":
    make(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
