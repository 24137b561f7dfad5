"""Firefox and WebKit: pictures of every kind are drawn, and can be worked with; nothing goes wrong."""

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any
from weakref import WeakKeyDictionary

import pytest

from benchmarks.live.serve import AT_REST
from tests.browser.others.firefox import Firefox, firefox
from tests.browser.others.webkit import WebKit, webkit
from tests.browser.stage import path_of, question_of
from tfm_ui.lenses import lens, lenses
from tfm_ui.page.questions import Question
from tfm_ui.pictures.panel import panels_in
from tfm_ui.pictures.registry import PICTURES
from tfm_ui.state.model_state import ModelState

PATIENCE = 60.0  # seconds
Browser = Firefox | WebKit
BROWSERS: dict[str, Any] = {"firefox": firefox, "webkit": webkit}
PLAIN = {"table", "roofline", "surprise"}  # tables; a chart once it is measured; a text
# How many colours each canvas of the main picture has, of which three are enough, how many marks each chart,
# and how many pieces a text that is cut.
DRAWN = """(() => {
  const within = (node, what) => [...node.querySelectorAll("*")].flatMap(e => [
    ...e.matches(what) ? [e] : [], ...e.shadowRoot ? within(e.shadowRoot, what) : []])
  const stage = document.querySelector(".st-key-stage")
  const colours = canvas => {
    const found = new Set()
    for (const colour of new Uint32Array(
      canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer)) {
      found.add(colour)
      if (found.size > 2) break
    }
    return found.size
  }
  return [
    ...within(stage, "canvas").filter(canvas => canvas.width * canvas.height && canvas.offsetParent).map(colours),
    ...within(stage, ".cuts").map(cuts => cuts.querySelectorAll(".chip").length),
    ...within(stage, ".plot").filter(plot => plot.offsetHeight).map(plot => plot.querySelectorAll("path, text").length),
  ]
})()"""
NUMBER = "document.querySelector('.st-key-_questions').innerText.trim().split(' ')[0]"
ASK = "document.querySelector('.ask')?.innerText"
PUSH = """(link => {
  history.pushState(null, "", link)
  dispatchEvent(new PopStateEvent("popstate", { state: history.state }))
})"""
# Where the slider of layers is, at which step its thumb stands, and how many steps there are.
LAYERS = """(() => {
  const inside = [...document.querySelectorAll(".st-key-num_layers *")].map(({ shadowRoot }) => shadowRoot)
  const input = inside.map(root => root?.querySelector("input[type=range]")).find(Boolean)
  const { left, top, width, height } = input.getBoundingClientRect()
  return [left, width, top + height / 2, +input.value, +input.max]
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


def told(browser: Browser) -> str:
    """Where a browser is, for whoever reads that a test has failed."""
    return f"at {browser.evaluate('location.href')}, asked {browser.evaluate(ASK)}, problems: {browser.problems}"


def until(browser: Browser, expression: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not browser.evaluate(expression):
        assert time.monotonic() < give_up, f"never true: {expression}; {told(browser)}"
        time.sleep(0.05)


def rest(browser: Browser) -> None:
    """Wait until the page rests, and what is done next is another act: of fast ones the history makes one entry."""
    until(browser, f"({AT_REST})() && !window.attentionLabHistory?.pushed")


def wait_until_drawn(browser: Browser, fewest: int = 1) -> None:
    """Wait until the main picture has this many canvases and charts, and each is drawn."""
    rest(browser)
    until(browser, f"(counts => counts.length >= {fewest} && counts.every(count => count > 2))({DRAWN})")


def firsts() -> dict[str, list[str]]:
    """The first view of each lens, and the views whose main picture is the first of its kind: a kind is a script."""
    drawn: set[str] = set()
    chosen: dict[str, list[str]] = {}
    for each in lenses():
        for view, about in each.views.items():
            question = question_of(each, view)
            main, *_ = about.shown(ModelState(**question.model), each.state(**question.controls))
            kinds = {PICTURES[panel.picture_name].canvas.name for panel in panels_in([main]) if panel.picture_name}
            if view == next(iter(each.views)) or kinds - drawn:
                chosen.setdefault(each.name, []).append(view)
            drawn |= kinds
    return chosen


FIRSTS = firsts()
VISITED: WeakKeyDictionary[Browser, set[str]] = WeakKeyDictionary()  # the lenses that a browser has shown


def go(browser: Browser, address: str, name: str, view: str) -> None:
    """Go to the first question about a view, if possible within the open page: building that takes seconds.

    A lens that was visited keeps what a link leaves out, so its first view, whose link names none, is opened anew.
    """
    visited = VISITED.setdefault(browser, set())
    anew = name in visited and view == next(iter(lens(name).views))
    visited.add(name)
    link = address + path_of(name, view)
    if anew or browser.evaluate("location.origin") != address or browser.problems:
        browser.open(link)
    else:
        rest(browser)  # of what the test before has asked for
        browser.evaluate(f"{PUSH}({json.dumps(link)})")
    asked(browser, question_of(lens(name), view))


def asked(browser: Browser, question: Question) -> None:
    """Wait until the page asks this: from then on it is that of the new link, though it may still be running."""
    # Before a word that is explained; or its title, where the model of the page before is not what it speaks of.
    texts = json.dumps([question.ask[:20], f"{question.name} asks about"])
    until(browser, f"{texts}.some(text => {ASK}?.startsWith(text))")


@pytest.mark.parametrize("name", FIRSTS)
def test_pictures_of_every_kind_are_drawn_and_what_is_done_changes_the_page(
    browser: Browser, address: str, name: str, request: pytest.FixtureRequest
) -> None:
    """Every view of every lens is opened with --all, also by its tab, and every lens then gets a click, a drag and
    Back. Otherwise one lens is enough for these: sidebar, questions and tabs are the same on all lenses.
    """
    everything = request.config.getoption("all_combinations")
    for view in lens(name).views if everything else FIRSTS[name]:
        go(browser, address, name, view)
        wait_until_drawn(browser, 0 if view in PLAIN else 1)
    if everything:
        for view in reversed(lens(name).views if len(lens(name).views) > 1 else []):
            open_view(browser, name, view)
    elif name == "attention":
        open_view(browser, name, "arcs")
    if name == "heads":
        go(browser, address, name, FIRSTS[name][0])
        wait_until_drawn(browser)
        a_head_that_is_clicked_is_locked(browser)
    if everything or name == "heads":
        a_click_a_drag_and_back_work(browser, name)
    assert browser.problems == []


def a_click_a_drag_and_back_work(browser: Browser, name: str) -> None:
    first, number = browser.evaluate("location.href"), browser.evaluate(NUMBER)
    browser.drag(browser.evaluate(f"{MIDDLE}('.st-key-_next_question button')"))
    until(browser, f"{NUMBER} !== '{number}'")
    wait_until_drawn(browser)
    asked(browser, lens(name).questions[1])
    drag_layers(browser, name)
    go_back_to(browser, first)
    until(browser, f"{NUMBER} === '{number}'")


def open_view(browser: Browser, name: str, view: str) -> None:
    """Open a view by its tab, and by the choice under it where the tab is another view's."""
    tab = lens(name).tab_of(view)
    for key, opened in [(f"_view_{tab}", tab)] + [(f"_view_in_tab_{view}", view)] * (view != tab):
        browser.drag(browser.evaluate(f"{MIDDLE}('.st-key-{key} button')"))
        until(browser, f"document.querySelector('.st-key-{key} button').getAttribute('kind') === 'primary'")
        wait_until_drawn(browser, 0 if opened in PLAIN else 1)


def drag_layers(browser: Browser, name: str) -> None:
    """Drag the slider of layers, if no trained weights lock it."""
    if "weights" in lens(name).questions[1].model:
        return
    left, width, y, before, steps = browser.evaluate(LAYERS)
    place = left + 8 + (width - 16) * before / steps
    browser.drag((place, y), (left + width / 2, y), (left + width / 2 + 20, y))
    until(browser, f"{LAYERS}[3] !== {before}")
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


def a_head_that_is_clicked_is_locked(browser: Browser) -> None:
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
