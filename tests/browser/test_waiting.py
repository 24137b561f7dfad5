"""Who waits for a full server reads about how long: for the page, of which nothing is there yet, and for pictures."""

import re

from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Visitor

NOTICE = ".full_server"


def colours(page: Page, what: str) -> list[str]:
    """The colours of the paper and of the letters."""
    script = "element => [getComputedStyle(element).backgroundColor, getComputedStyle(element).color]"
    of_element: list[str] = page.locator(what).evaluate(script)
    return of_element


def says(page: Page, what: str) -> None:
    words = f"The server is full: your {what} comes in about 8 seconds."
    expect(page.locator(NOTICE)).to_have_text(words, timeout=10_000)
    box = page.locator(NOTICE).bounding_box()
    assert box
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= page.viewport_size["width"]


def test_a_full_server_says_when_a_picture_comes(visit):
    visitor: Visitor = visit("/heads")
    page, held, full = visitor.page, list[Route](), [True]
    page.route("**/waiting", lambda route: route.fulfill(json={"seconds": 8.2 if full else 0}))
    page.route("**/pictures/*", lambda route: held.append(route) if full else route.fallback())
    visitor.resize(1440, "dark")
    visitor.choose_seed(5)
    says(page, "picture")
    assert colours(page, NOTICE) == colours(page, "body") != ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    full.clear()
    for route in held:
        route.fallback()
    expect(page.locator(NOTICE)).to_have_count(0, timeout=10_000)
    visitor.wait()
    page.unroute_all()


def test_a_full_server_says_when_a_page_comes_of_which_nothing_is_there(visit):
    visitor: Visitor = visit("/heads")
    page = visitor.page.context.new_page()
    page.route("**/waiting", lambda route: route.fulfill(json={"seconds": 8.2}))
    page.route_web_socket(re.compile("stream"), lambda socket: None)  # nobody answers
    page.goto(visitor.page.url)
    says(page, "page")
    page.close()


def test_the_server_tells_how_long_this_visitor_waits(visit):
    visitor: Visitor = visit("/heads")
    assert visitor.page.evaluate("fetch('waiting').then(answer => answer.json())") == {"seconds": 0}
