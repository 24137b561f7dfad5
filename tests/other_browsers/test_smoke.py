"""Every view in Firefox and in WebKit: its pictures are drawn, and can be worked with; nothing goes wrong."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from benchmarks.live.serve import AT_REST, running_app
from tests.other_browsers.firefox import Firefox, firefox
from tests.other_browsers.webkit import WebKit, webkit
from tfm_ui.lenses import lens, lenses
from tfm_ui.state.fields import controls_of

pytestmark = pytest.mark.browser
PATIENCE = 60.0  # seconds
Browser = Firefox | WebKit
BROWSERS: dict[str, Any] = {"firefox": firefox, "webkit": webkit}
VIEWS = [
    f"/{'' if each.name == 'home' else each.name}"
    + (f"?{each.prefix}view={view}" if "view" in controls_of(each.state) else "")
    for each in lenses()
    for view in each.views
]
PLAIN = {"/positions?positions_view=table", "/profiling?profiling_view=roofline"}  # tables; a chart once it is measured
# How many colours each canvas of the main picture has, and how many marks each chart.
DRAWN = """(() => {
  const within = (node, what) => [...node.querySelectorAll("*")].flatMap(e => [
    ...e.matches(what) ? [e] : [], ...e.shadowRoot ? within(e.shadowRoot, what) : []])
  const stage = document.querySelector(".st-key-stage")
  const colours = canvas => new Set(new Uint32Array(
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size
  return [
    ...within(stage, "canvas").filter(canvas => canvas.width * canvas.height && canvas.offsetParent).map(colours),
    ...within(stage, ".plot").filter(plot => plot.offsetHeight).map(plot => plot.querySelectorAll("path, text").length),
  ]
})()"""
MIDDLE = """(selector => {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect()
  return [left + width / 2, top + height / 2]
})"""


@pytest.fixture(scope="module", params=list(BROWSERS))
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened: AbstractContextManager[Browser] = BROWSERS[request.param](tmp_path_factory.mktemp(request.param))
    with opened as window:
        yield window


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_app() as url:
        yield url


def until(browser: Browser, expression: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not browser.evaluate(expression):
        assert time.monotonic() < give_up, f"never true: {expression}; problems: {browser.problems}"
        time.sleep(0.1)


def rest(browser: Browser) -> None:
    until(browser, f"({AT_REST})()")


@pytest.mark.parametrize("path", VIEWS)
def test_every_view_is_drawn(browser: Browser, address: str, path: str) -> None:
    browser.open(address + path)
    until(browser, "!!document.querySelector('.st-key-stage')")
    rest(browser)
    drawn = browser.evaluate(DRAWN)
    assert path in PLAIN or drawn
    assert all(count > 2 for count in drawn), drawn
    assert browser.problems == []


@pytest.mark.parametrize("name", [each.name for each in lenses()])
def test_a_click_a_drag_and_back(browser: Browser, address: str, name: str) -> None:
    browser.open(f"{address}/{'' if name == 'home' else name}")
    until(browser, "!!document.querySelector('.st-key-stage')")
    rest(browser)
    first = browser.evaluate("location.href")
    browser.drag(browser.evaluate(f"{MIDDLE}('.st-key-_next_question button')"))
    until(browser, "document.querySelector('.st-key-_questions').innerText.trim().startsWith('2 of')")
    rest(browser)
    assert browser.evaluate("document.querySelector('.ask').innerText")[:30] == lens(name).questions[1].ask[:30]
    x, y = browser.evaluate(f"{MIDDLE}('.st-key-num_layers [role=group]')")
    place = browser.evaluate(f"{MIDDLE}('.st-key-num_layers [data-testid=stSliderThumbValue]')")
    before = browser.evaluate("document.querySelector('.st-key-num_layers input').value")
    browser.drag((place[0], y), (x, y), (x + 20, y))
    until(browser, f"document.querySelector('.st-key-num_layers input').value !== '{before}'")
    until(browser, "location.search.includes('num_layers=')")
    rest(browser)
    assert all(count > 2 for count in browser.evaluate(DRAWN))
    for _ in range(4):
        if browser.evaluate("location.href") == first:
            break
        browser.back()
        time.sleep(0.3)
        rest(browser)
    until(browser, f"location.href === '{first}'")
    until(browser, "document.querySelector('.st-key-_questions').innerText.trim().startsWith('1 of')")
    assert browser.problems == []


def test_a_head_that_is_clicked_is_locked(browser: Browser, address: str) -> None:
    browser.open(f"{address}/heads")
    until(browser, "!!document.querySelector('.st-key-stage')")
    rest(browser)
    place = """(() => {
      const within = node => [...node.querySelectorAll("*")]
        .flatMap(e => [e, ...e.shadowRoot ? within(e.shadowRoot) : []])
      const head = within(document).find(e => e.ariaLabel?.startsWith("layer 2 · head 3."))
      const { left, top, width, height } = head.getBoundingClientRect()
      return [left + width / 2, top + height / 2]
    })()"""
    browser.drag(browser.evaluate(place))
    until(browser, "location.search.includes('heads_head=3')")
    rest(browser)
    assert "Layer 2, head 3" in browser.evaluate("document.querySelector('.st-key-panel_head').innerText")
    assert browser.problems == []
