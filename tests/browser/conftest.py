"""Windows of a real Chromium. Nothing is skipped: without a browser these tests fail."""

from base64 import b64decode
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect

from benchmarks.live.serve import Window
from benchmarks.streamlit_private.dom import HEADER

PATIENCE = 60_000  # ms: a machine that runs all tests at once is slow
expect.set_options(timeout=PATIENCE)
NO_MOTION = """() => document.getAnimations().every(({ playState, timeline }) =>
  playState !== "running" || timeline !== document.timeline)"""  # what follows scrolling always runs, and stands still
# What `visit` needs for a window of a phone. It is the same in all tests, as the first page in a window of another kind
# takes twice the time of the next.
PHONE = {
    "width": 390,
    "height": 844,
    "has_touch": True,
    "is_mobile": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 15) Mobile Safari/537.36",
}
FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Visitor(Window):
    """One browser window, with what went wrong in it."""

    def __init__(self, page: Page, address: str) -> None:
        super().__init__(page, address)
        self.spoilt = False  # whether the next test would notice

    def leave(self) -> None:
        """The window is left as if nobody had been in it."""
        self.forget()
        self.page.unroute_all()
        self.page.evaluate("() => { try { localStorage.clear(); sessionStorage.clear() } catch {} }")  # about:blank
        self.page.goto("about:blank")
        self.page.mouse.up()
        self.page.mouse.move(0, 0)
        self.page.context.clear_cookies()
        self.page.context.new_cdp_session(self.page).send("Page.resetNavigationHistory")

    def open(self, path: str) -> "Visitor":
        self.page.goto(self.address + path)
        self.page.locator("h1").first.wait_for()  # before its first run a page says that none is running
        self.wait()
        return self

    def back_to(self, path: str) -> None:
        """Go to another link within the open page, as the browser's Back does: building a page anew takes long.

        Before that the page rests: an act that it has not been run for yet would take it back.
        """
        self.wait()
        self.page.evaluate(
            """path => { history.pushState(null, "", path)
                dispatchEvent(new PopStateEvent("popstate", { state: history.state })) }""",
            path,
        )
        self.wait()

    def resize(self, width: int, color_scheme: str = "light", *, height: int = 900) -> None:
        """Give the window another size, until the sidebar has folded and all pictures are drawn for it."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.emulate_media(color_scheme=color_scheme)
        self.page.wait_for_function(NO_MOTION)
        self.page.evaluate(FRAMES)  # in the first of them pictures hear of their new size
        self.wait()

    def behind(self) -> Callable[[float], int]:
        """Keep all that the server says from the page, until the function that is returned lets it through.

        That one takes a pause between two messages, in ms, and tells how many there were. The page is opened anew, as
        a socket is routed when it is opened.
        """
        held: list[tuple[WebSocketRoute, str | bytes]] = []
        holding = False

        def hold(socket: WebSocketRoute) -> None:
            server = socket.connect_to_server()
            server.on_message(lambda message: held.append((socket, message)) if holding else socket.send(message))

        def release(pause: float) -> int:
            nonlocal holding
            for socket, message in held:  # what comes meanwhile is held behind them
                socket.send(message)
                self.page.wait_for_timeout(pause)
            holding = False
            return len(held)

        self.spoilt = True
        self.page.route_web_socket("**", hold)
        self.page.reload()
        self.wait()
        self.page.locator("[data-picture] canvas").first.wait_for()
        holding = True
        return release

    def press(self, name: str, panel: str = "") -> None:
        """A button of the frame or a panel. Exact: the sentence on a head's button may hold any word of the text."""
        where = self.page.locator(f".st-key-panel_{panel}") if panel else self.page
        where.get_by_role("button", name=name, exact=True).click()

    def choose_seed(self, seed: int) -> None:
        """Other weights."""
        box = self.page.get_by_label("Seed", exact=True)
        box.fill(str(seed))
        box.press("Enter")

    def link(self) -> str:
        """The link that the page offers, from beside its QR code."""
        self.press("QR code")
        box = self.page.locator("[role=dialog] code")
        box.wait_for()
        link = box.inner_text()
        self.page.keyboard.press("Escape")
        box.wait_for(state="hidden")
        return link

    def ask(self, name: str) -> None:
        """A question of the list."""
        self.page.locator(".st-key-_questions button").click()
        self.page.get_by_role("menuitem", name=name).click()

    def go(self, name: str) -> None:
        """Go to another page by the bar at the top."""
        self.page.locator(HEADER).get_by_role("link", name=name, exact=True).click()

    def head(self, layer: int, head: int) -> Locator:
        """A head's button in the grid."""
        return self.page.get_by_role("button", name=f"layer {layer} · head {head}.")

    def map(self) -> Locator:
        """The large map of one head, once it is drawn."""
        element = self.page.locator(".map")
        element.wait_for()
        self.page.wait_for_function("e => e._memory?.layout", arg=element.element_handle())
        return element

    def maps(self, panel: str) -> Locator:
        """The maps of a panel that stand beside each other, once they are drawn."""
        element = self.page.locator(f".st-key-panel_{panel} .maps")
        element.wait_for()
        self.page.wait_for_function("e => e._memory?.layout", arg=element.element_handle())
        return element

    def chart(self, panel: str) -> Locator:
        """The chart of a panel, once Plotly has drawn it and stands still; it has Plotly's own `data` and `layout`."""
        plot = self.page.locator(f".st-key-panel_{panel} .chart .plot")
        plot.scroll_into_view_if_needed()  # of a chart out of view nothing may be drawn yet
        self.page.wait_for_function(
            "e => e._fullLayout && !e._transitioning && 'settled' in e.closest('[data-picture]').dataset",
            arg=plot.element_handle(),
        )
        return plot

    def weights(self) -> list[list[float]]:
        """The numbers that the large map was drawn from; masked ones are zeros."""
        columns, text = self.map().evaluate(
            """e => { const { weights, header } = e._memory, count = header.queries.length * header.keys.length
                const bytes = new Uint8Array(Float32Array.from(weights.slice(0, count)).buffer)
                return [header.keys.length, btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""))]
            }"""
        )  # as text: Playwright takes ten seconds over half a million numbers
        numbers = np.frombuffer(b64decode(text), np.float32).reshape(-1, columns)
        return np.maximum(numbers, 0).tolist()

    def cell(self, query: int, key: int) -> dict[str, float]:
        """Where the middle of a cell is in the window, counted from 1; for the mouse."""
        return self.map().evaluate(
            """(e, [q, k]) => { const { layout, view } = e._memory
                const box = e.querySelector("canvas").getBoundingClientRect()
                return { x: box.left + layout.x + (k - 0.5 - view.left) * layout.cell,
                         y: box.top + layout.y + (q - 0.5 - view.top) * layout.cell } }""",
            [query, key],
        )

    def heading(self) -> str:
        return self.page.locator(".st-key-panel_head h2").inner_text()


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Iterator[dict[str, Page]]:
    """Windows that tests leave to each other, by their kind: with scripts that are compiled a page opens in a third
    of the time. Each belongs to a browser of its own."""
    kept: dict[str, Page] = {}
    yield kept
    for page in kept.values():
        page.context.close()


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest, windows: dict[str, Page]) -> Iterator:
    """Open windows: `visit("/heads", width=390, color_scheme="dark")`. At the end none may have had a problem.

    Each is that of another browser, which has forgotten all but its cache. It asks for no motion: while a page waits,
    Streamlit and we move something, and on a busy machine to draw that takes as long as the rest of a page.
    """
    visitors: dict[str, Visitor] = {}

    def opened(
        path: str = "/heads", *, at: str = "", width: int = 1440, height: int = 900,
        color_scheme: str = "light", reduced_motion: str = "reduce", **more
    ) -> Visitor:  # fmt: skip
        kind = f"{len(visitors)} {sorted(more.items())}"
        if kind not in windows:
            context = browser.new_context(**more)
            context.set_default_timeout(PATIENCE)
            windows[kind] = context.new_page()
        windows[kind].set_viewport_size({"width": width, "height": height})
        windows[kind].emulate_media(color_scheme=color_scheme, reduced_motion=reduced_motion)
        visitors[kind] = Visitor(windows[kind], at or request.getfixturevalue("address"))
        return visitors[kind].open(path)

    yield opened
    for kind, visitor in visitors.items():
        visitor.leave()
        if visitor.spoilt:
            windows.pop(kind).context.close()
    assert [problem for visitor in visitors.values() for problem in visitor.problems] == []
    assert [url for visitor in visitors.values() for url in visitor.foreign] == []
