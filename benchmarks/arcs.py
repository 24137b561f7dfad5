"""The arcs beside BertViz's head_view and model_view of the same weights: bytes, the first hover, each hover."""

import os
import re
import signal
import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import torch
from playwright.sync_api import Error, Page, Request, Route, WebSocket

from benchmarks.live.press import can_show, link, parameters
from benchmarks.live.serve import chromium, running_app
from benchmarks.measure import Figure, Figures, show, verdict
from benchmarks.transfer import HEADS, LAYERS, recorded
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.page.drawing import Drawing
from tfm_ui.state.model_state import ModelState

SIZES = (32, 128, 512)
PATIENCE = 60.0  # seconds; no hover within them counts as that
HOVERS = 15
HOVER = Path(__file__).parent / "live" / "hover.js"
MODULES = Path(__file__).parent / "node_modules"
MEASURES = (  # in words, the attribute of a visit, what a unit of it is, and the same in full
    ("MB, all layers", "size", 1e6, "bytes of all layers"),
    ("first hover, from the link, s", "first", 1, "first hover that answers, from the link in a new browser"),
    ("first hover, new weights, s", "again", 1, "first hover that answers on new weights in the open app"),
    ("first hover, a layer's file, s", "file", 1, "first hover that answers in a file of one layer"),
    ("one hover, ms", "hover", 1e-3, "one hover"),
)


def _figure(tokens: int, name: str) -> Figure:
    words = next(full for _, attribute, _, full in MEASURES if attribute == name)
    what = f"Arcs of {tokens} tokens, {LAYERS} x {HEADS} heads: {words}"
    return Figure(what, "BertViz's head_view and model_view, the better of them", "times less", "{:.1f}")


FIGURES = [_figure(tokens, name) for tokens in SIZES for _, name, _, _ in MEASURES]
SCRIPTS = {  # the script that BertViz's page loads -> its file below node_modules
    "require.min.js": "requirejs/require.js",
    "d3.min.js": "d3/dist/d3.min.js",
    "jquery.min.js": "jquery/dist/jquery.min.js",
}


@dataclass(frozen=True)
class Visit:
    """What was measured in one visit.

    Attributes:
        size: bytes that the browser needs to show all layers.
        first: seconds from the start of the visit until a hover works.
        again: seconds from a new seed until a hover works, in the open app; `first` for BertViz, which has no app.
        file: seconds until a hover works in a file with the first layer alone, for which no app has to start.
        hover: the median of the seconds that one hover takes.
    """

    size: int
    first: float
    again: float
    file: float
    hover: float


def main(sizes: Sequence[int] = SIZES) -> Figures:
    """Measure 4 layers x 8 heads with a causal mask, for which BertViz writes half of its numbers as 0.0."""
    try:
        bertviz = import_module("bertviz")  # has no types, and is not needed for the tests
    except ImportError:
        print("\narcs: BertViz is missing; install it with pip install -r requirements-benchmarks.txt")
        return {}
    if not all((MODULES / path).is_file() for path in SCRIPTS.values()):
        print("\narcs: BertViz's scripts are missing; npm install --prefix benchmarks --no-package-lock")
        return {}
    figures: Figures = {}
    for tokens in filter(can_show, sizes):
        more: dict[str, Any] = {"num_layers": LAYERS, "num_heads": HEADS, "causal": True}
        state = ModelState(**parameters(tokens, **more))
        lens = AttentionState(view="arcs")
        page = Drawing("arcs", ((state, ""), (lens, "attention_"))).page("Arcs", "", "light", "")
        ours = replace(visit_arcs(tokens, more), file=visit_file(page).first)
        weights, pieces = recorded(state)
        attention = [layer[None] for layer in torch.from_numpy(weights)]
        theirs = []
        for view in (bertviz.head_view, bertviz.model_view):
            whole, first = (view(layers, pieces, html_action="return").data for layers in (attention, attention[:1]))
            theirs.append(replace(visit_file(whole, SCRIPTS), file=visit_file(first, SCRIPTS).first))
        show(
            f"Arcs beside BertViz, {tokens} tokens, {LAYERS} layers x {HEADS} heads; {PATIENCE:.0f} s: none by then",
            ["what", "arcs", "head_view", "model_view", "bar: times less than the better"],
            list(compared(ours, theirs)),
        )
        figures |= {_figure(tokens, name): times_less(ours, theirs, name) for _, name, _, _ in MEASURES}
    return figures


def compared(ours: Visit, theirs: Sequence[Visit]) -> Iterator[list[str]]:
    """A row for each measure: ours is compared with the better of the others."""
    for what, name, scale, _ in MEASURES:
        values = (f"{getattr(library, name) / scale:.3g}" for library in (ours, *theirs))
        times = times_less(ours, theirs, name)
        yield [what, *values, f"{times:.1f} {verdict(times, 1, at_least=True)}"]


def times_less(ours: Visit, theirs: Sequence[Visit], name: str) -> float:
    """The smaller value of the others, over ours."""
    return float(min(getattr(library, name) for library in theirs) / getattr(ours, name))


def visit_arcs(tokens: int, more: dict[str, Any]) -> Visit:
    """Open the link in a new browser, on a server that others have visited; then change the seed."""
    received = 0

    def frame(payload: str | bytes) -> None:
        nonlocal received
        received += len(payload.encode() if isinstance(payload, str) else payload)

    def opened(socket: WebSocket) -> None:
        socket.on("framereceived", frame)

    def finished(request: Request) -> None:
        nonlocal received
        received += request.sizes()["responseBodySize"]

    address = link("/attention", tokens, **more, attention_view="arcs")
    with running_app() as app:
        with page_with_hover() as before:
            before.goto(app + link("/attention", 8, attention_view="arcs"))
            answered(before, "first")
        with page_with_hover() as page:
            page.on("websocket", opened)
            page.goto(app + address)
            first = answered(page, "first")
            page.wait_for_load_state("networkidle")
            page.on("requestfinished", finished)
            box = page.get_by_label("Seed", exact=True)
            box.fill("8")
            page.evaluate("pressed('seed=8')")
            received = 0
            box.press("Enter")
            again = answered(page, "again")
            page.wait_for_timeout(1500)
            for layer in range(2, LAYERS + 1):
                page.evaluate(f"pressed('attention_layer={layer}')")
                stepper = page.get_by_label("Layer", exact=True)
                stepper.fill(str(layer))
                stepper.press("Enter")
                answered(page, "again")
                page.wait_for_timeout(1500)
            return Visit(received, first, again, PATIENCE, each(page))


def visit_file(html: str, scripts: Mapping[str, str] = MappingProxyType({})) -> Visit:
    """Open a page from a file; the scripts that it loads come from node_modules."""
    with TemporaryDirectory() as folder, page_with_hover() as page:
        file = Path(folder) / "view.html"
        file.write_text(html if html.startswith("<!doctype") else f"<!doctype html><meta charset=utf-8>{html}", "utf-8")
        served: set[str] = set()

        def serve(route: Route) -> None:
            name = route.request.url.rsplit("/", 1)[1]
            served.add(name)
            route.fulfill(path=MODULES / scripts[name], content_type="text/javascript")

        page.route(re.compile("^https:"), serve)
        try:
            page.goto(file.as_uri(), wait_until="commit", timeout=PATIENCE * 1000)
            first = answered(page, "first")
        except Error:  # it took too long, or the tab ran out of memory
            assert served == set(scripts), f"the page asked for {', '.join(sorted(served))} alone: it had no chance"
            return Visit(len(html), PATIENCE, PATIENCE, PATIENCE, PATIENCE)
        try:
            return Visit(len(html), first, first, first, each(page))
        except Error:
            return Visit(len(html), first, first, first, PATIENCE)


@contextmanager
def page_with_hover() -> Iterator[Page]:
    """A page in a new browser, so that it does not inherit another page's memory."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(path=HOVER)
        try:
            yield page
        finally:  # a busy tab would prevent the browser from closing
            processes = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
            for process in processes:
                if process["type"] == "renderer":
                    os.kill(process["id"], signal.SIGKILL)


def answered(page: Page, what: str) -> float:
    """Seconds until a hover worked; `what` is the variable in which hover.js notes the time."""
    page.wait_for_function(f"window.{what} !== null", timeout=PATIENCE * 1000)
    return float(page.evaluate(f"window.{what}")) / 1000


def each(page: Page) -> float:
    """The median of the seconds that one hover takes."""
    page.evaluate(f"void hovers({HOVERS})")
    page.wait_for_function("window.times !== null", timeout=PATIENCE * 1000)
    times: list[float] = page.evaluate("window.times")
    return statistics.median(times) / 1000
