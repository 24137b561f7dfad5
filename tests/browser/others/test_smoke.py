"""Firefox and WebKit: pictures of every kind are drawn, and can be worked with; nothing goes wrong."""

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest

from benchmarks.live.serve import AT_REST
from tests.browser.others.firefox import Firefox, firefox
from tests.browser.others.webkit import WebKit, webkit
from tfm_ui.lenses import lens, lenses
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.state.model_state import ModelState

PATIENCE = 60.0  # seconds
Browser = Firefox | WebKit
BROWSERS: dict[str, Any] = {"firefox": firefox, "webkit": webkit}
PLAIN = {"table", "roofline", "surprise"}  # tables; a chart once it is measured; a text
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
NUMBER = "document.querySelector('.st-key-_questions').innerText.trim().split(' ')[0]"
MIDDLE = """(selector => {
  const { left, top, width, height } = document.querySelector(selector).getBoundingClientRect()
  return [left + width / 2, top + height / 2]
})"""


@pytest.fixture(scope="module", params=list(BROWSERS))
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened: AbstractContextManager[Browser] = BROWSERS[request.param](tmp_path_factory.mktemp(request.param))
    with opened as window:
        yield window


def until(browser: Browser, expression: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not browser.evaluate(expression):
        assert time.monotonic() < give_up, f"never true: {expression}; problems: {browser.problems}"
        time.sleep(0.1)


def rest(browser: Browser) -> None:
    until(browser, f"({AT_REST})()")


def wait_until_drawn(browser: Browser, fewest: int = 1) -> None:
    """Wait until the main picture has this many canvases and charts, and each is drawn."""
    rest(browser)
    until(browser, f"(counts => counts.length >= {fewest} && counts.every(count => count > 2))({DRAWN})")


def firsts() -> dict[str, list[str]]:
    """Of each lens the first view, and those whose main picture is the first of its kind: a kind is a script."""
    drawn: set[str] = set()
    chosen: dict[str, list[str]] = {}
    for each in lenses():
        for view, about in each.views.items():
            question = next(q for q in each.questions if len(each.views) == 1 or q.view(each.state) == view)
            main, *_ = about.shown(ModelState(**question.model), each.state(**question.page))
            kinds = {PICTURES[panel.picture].canvas.name for panel in panels_in([main]) if panel.picture}
            if view == next(iter(each.views)) or kinds - drawn:
                chosen.setdefault(each.name, []).append(view)
            drawn |= kinds
    return chosen


FIRSTS = firsts()
DRAGGED = ("home", "heads", "masks")  # lenses whose page a dragged slider changes; the sidebar is the same on all


@pytest.mark.parametrize("name", FIRSTS)
def test_pictures_of_every_kind_are_drawn_and_a_click_a_drag_and_back_work(
    browser: Browser, address: str, name: str, request: pytest.FixtureRequest
) -> None:
    """With --all: each view of each lens, and a drag on each lens."""
    everything = request.config.getoption("all_combinations")
    browser.open(f"{address}/{'' if name == 'home' else name}")
    until(browser, "!!document.querySelector('.st-key-stage')")
    wait_until_drawn(browser)
    views = list(lens(name).views) if everything else FIRSTS[name]
    for view in reversed(views if len(views) > 1 else []):
        open_view(browser, view)
    first, number = browser.evaluate("location.href"), browser.evaluate(NUMBER)
    browser.drag(browser.evaluate(f"{MIDDLE}('.st-key-_next_question button')"))
    until(browser, f"{NUMBER} !== '{number}'")
    wait_until_drawn(browser)
    assert browser.evaluate("document.querySelector('.ask').innerText")[:30] == lens(name).questions[1].ask[:30]
    if everything or name in DRAGGED:
        drag_layers(browser, name)
        go_back_to(browser, first)
        until(browser, f"{NUMBER} === '{number}'")
    assert browser.problems == []


def open_view(browser: Browser, view: str) -> None:
    """Open a view by its tab."""
    browser.drag(browser.evaluate(f"{MIDDLE}('.st-key-_view_{view} button')"))
    until(browser, f"document.querySelector('.st-key-_view_{view} button').getAttribute('kind') === 'primary'")
    wait_until_drawn(browser, 0 if view in PLAIN else 1)


def drag_layers(browser: Browser, name: str) -> None:
    """Drag the slider of layers, if no trained weights lock it."""
    if "weights" in lens(name).questions[1].model:
        return
    x, y = browser.evaluate(f"{MIDDLE}('.st-key-num_layers [role=group]')")
    place = browser.evaluate(f"{MIDDLE}('.st-key-num_layers [data-testid=stSliderThumbValue]')")
    before = browser.evaluate("document.querySelector('.st-key-num_layers input').value")
    browser.drag((place[0], y), (x, y), (x + 20, y))
    until(browser, f"document.querySelector('.st-key-num_layers input').value !== '{before}'")
    until(browser, "location.search.includes('num_layers=')")
    wait_until_drawn(browser)


def go_back_to(browser: Browser, link: str) -> None:
    """Press Back until this link is reached, four times at most."""
    for _ in range(4):
        if browser.evaluate("location.href") == link:
            break
        before = browser.evaluate("location.href")
        browser.back()
        until(browser, f"location.href !== '{before}'")
        rest(browser)
    until(browser, f"location.href === '{link}'")


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
