"""A running app and a real Chromium. Nothing is skipped: without a browser these tests fail."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, WebSocketRoute, expect

from benchmarks.live.serve import Window, chromium, running_app

expect.set_options(timeout=15_000)  # a machine that runs all tests at once is slow


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with running_app() as url:
        yield url


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


class Visitor(Window):
    """One browser window, with what went wrong in it."""

    def __init__(self, page: Page, address: str) -> None:
        super().__init__(page, address)
        self.frames_sent = 0
        page.on(
            "websocket", lambda ws: ws.on("framesent", lambda _: setattr(self, "frames_sent", self.frames_sent + 1))
        )

    def open(self, path: str) -> "Visitor":
        self.page.goto(self.address + path)
        self.page.locator("h1").first.wait_for(timeout=60_000)  # before its first run a page says that none is running
        self.wait()
        return self

    def behind(self) -> Callable[[float], int]:
        """From now on the page hears nothing of the server, until the function that is returned lets it.

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

    def go(self, name: str) -> None:
        """To another page by the bar at the top."""
        self.page.get_by_role("link", name=name, exact=True).click()

    def head(self, layer: int, head: int) -> Locator:
        """A head's button in the grid."""
        return self.page.get_by_role("button", name=f"layer {layer} · head {head}.")

    def map(self) -> Locator:
        """The large map of one head, once it is drawn."""
        found = self.page.locator(".map")
        found.wait_for(timeout=30_000)
        self.page.wait_for_function("e => e._memory?.layout", arg=found.element_handle())
        return found

    def maps(self, panel: str) -> Locator:
        """The maps of a panel that stand beside each other, once they are drawn."""
        found = self.page.locator(f".st-key-panel_{panel} .maps")
        found.wait_for(timeout=30_000)
        self.page.wait_for_function("e => e._memory?.layout", arg=found.element_handle())
        return found

    def weights(self) -> list[list[float]]:
        """The numbers that the large map was drawn from; masked ones are zeros."""
        return self.map().evaluate(
            """e => { const { weights, header } = e._memory, k = header.keys.length
                return header.queries.map((_, q) => Array.from(weights.slice(q * k, q * k + k), w => Math.max(w, 0)))
            }"""
        )

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
        return self.page.locator(".st-key-panel_head h3").inner_text()


@pytest.fixture(scope="session")
def profiles(browser: Browser) -> Iterator[dict[str, BrowserContext]]:
    """Browsers that have been here before, by their kind: with scripts in their cache a page opens in half the time."""
    found: dict[str, BrowserContext] = {}
    yield found
    for context in found.values():
        context.close()


@pytest.fixture
def visit(browser: Browser, address: str, profiles: dict[str, BrowserContext]) -> Iterator:
    """Open windows: `visit("/heads", width=390, color_scheme="dark")`. At the end none may have had a problem.

    The first is that of a browser which has forgotten all but its cache, each other one that of a new browser.
    """
    visitors, contexts = [], []

    def opened(path: str = "/heads", *, at: str = address, width: int = 1440, height: int = 900, **more) -> Visitor:
        size = {"width": width, "height": height}
        kind = repr(sorted(more.items()))
        if visitors or kind not in profiles:
            context = browser.new_context(viewport=size, **more)
            if not visitors:
                profiles[kind] = context
            else:
                contexts.append(context)
        else:
            context = profiles[kind]
        page = context.new_page()
        page.set_viewport_size(size)
        visitors.append(Visitor(page, at))
        return visitors[-1].open(path)

    yield opened
    for visitor in visitors[:1]:
        visitor.page.evaluate("() => { try { localStorage.clear() } catch {} }")  # about:blank has none
        visitor.page.context.clear_cookies()
        visitor.page.close()
    for context in contexts:
        context.close()
    assert [problem for visitor in visitors for problem in visitor.problems] == []
    assert [url for visitor in visitors for url in visitor.foreign] == []
