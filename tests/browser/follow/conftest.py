"""A page with one picture, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route

from tests.browser.follow.following import PAGE, SCRIPT, Refusals, shows
from tfm_ui.pictures.canvas import encode

ASSETS = Path(__file__).parents[3] / "assets"


@pytest.fixture
def refusals() -> Refusals:
    """What the server answers to the next questions, in place of pictures."""
    return []


@pytest.fixture(scope="package")
def window(browser: Browser) -> Iterator[Page]:
    """One for all of these tests: each opens the page in it anew."""
    page = browser.new_page()
    yield page
    page.close()


@pytest.fixture
def page(window: Page, refusals: Refusals) -> Iterator[Page]:
    def answer(route: Route) -> None:
        url = route.request.url
        if route.request.method == "POST":
            if refusals:
                status, words, headers = refusals.pop()
                route.fulfill(status=status, body=words, headers=headers, content_type="text/plain")
                return
            data = encode({"query": route.request.post_data or ""}, np.zeros(0, np.float32))
            parts = len(url.rsplit("/", 1)[1].split("+"))
            route.fulfill(
                body=(len(data).to_bytes(4, "little") + data) * parts, content_type="application/octet-stream"
            )
        elif url.endswith(".js"):
            route.fulfill(path=ASSETS / url.removeprefix("http://page.test/"), content_type="text/javascript")
        else:
            route.fulfill(body=PAGE, content_type="text/html")

    window.route("**", answer)
    window.goto("http://page.test/")
    window.evaluate(SCRIPT)
    shows(window, "")
    yield window
    window.unroute_all(behavior="ignoreErrors")
