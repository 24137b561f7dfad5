"""assets/pictures/follow.js between a page and a server that answer as they are told, in any order: no app."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, Route

from tfm_ui.pictures.canvas import encode

ASSETS = Path(__file__).parents[2] / "assets"
PAGE = "<!doctype html><body><div id=page><div data-picture>picture</div></div>"
# says(query, heard): the page has run; acts: what a picture may do; drawn: the queries whose pictures were drawn
SCRIPT = """async () => {
  const { follow } = await import("/pictures/follow.js"), parentElement = document.querySelector("#page")
  Object.assign(window, { drawn: [], late: [], told: [], breaks: 0 })
  const picture = acts => {
    window.acts = acts
    if (breaks-- > 0) throw new Error("a picture that cannot be drawn")
    drawn.push(acts.header.query)
    late.push(acts.late)
  }
  window.says = (query, heard) => follow({
    data: { name: "it", early: false, query, heard }, parentElement, setTriggerValue: (_, wish) => told.push(wish),
  }, picture)
  says("", 0)
}"""


Refusals = list[tuple[int, str, dict[str, str]]]  # status, words and headers of the answers to come, the last one first


@pytest.fixture
def refusals() -> Refusals:
    """What the server answers to the next questions, in place of pictures."""
    return []


@pytest.fixture
def page(browser: Browser, refusals: Refusals) -> Iterator[Page]:
    window = browser.new_page()

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
    window.close()


def shows(page: Page, query: str) -> None:
    page.wait_for_function("query => drawn.at(-1) === query", arg=query, timeout=8000)


def test_what_is_committed_is_drawn_at_once_and_stays_when_the_page_has_heard(page):
    page.evaluate("acts.commit({ step: 'key' })")
    shows(page, "step=key")
    assert page.evaluate("told") == [{"changes": {"step": "key"}, "number": 1}]
    page.evaluate("says('step=key', 1)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn") == ["", "step=key"]


def test_a_page_that_has_heard_is_right_whatever_else_it_says(page):
    page.evaluate("acts.commit({ key: 3 })")
    shows(page, "key=3")
    page.evaluate("says('key=3&head=2', 1)")  # another control was moved meanwhile
    shows(page, "key=3&head=2")
    page.evaluate("acts.commit({ key: 4 })")
    page.evaluate("says('key=4&head=1', 2)")  # before the picture is there
    shows(page, "key=4&head=1")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "key=4&head=1"


def test_a_page_that_is_behind_changes_nothing_though_it_says_what_is_shown(page):
    page.evaluate("says('step=heads', 0)")
    shows(page, "step=heads")
    for step in ("output", "heads"):
        page.evaluate("step => acts.commit({ step })", step)
        shows(page, f"step={step}")
    for heard, step in enumerate(("heads", "output", "heads")):
        page.evaluate("([step, heard]) => says(`step=${step}`, heard)", [step, heard])
        page.wait_for_timeout(100)
    assert page.evaluate("drawn") == ["", "step=heads", "step=output", "step=heads"]


def test_while_something_is_dragged_the_page_waits_and_what_is_retracted_is_gone(page):
    page.evaluate("acts.preview({ weight: 0.4 })")
    shows(page, "weight=0.4")
    page.evaluate("says('head=2', 0)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "weight=0.4"
    page.evaluate("acts.retract()")
    shows(page, "head=2")
    assert page.evaluate("told") == []


def test_a_retraction_goes_back_to_what_the_page_was_told_last(page):
    page.evaluate("acts.commit({ weight: 0.4 }); acts.preview({ weight: 0.7 })")
    shows(page, "weight=0.7")
    page.evaluate("acts.retract()")
    shows(page, "weight=0.4")
    page.evaluate("says('weight=0.4', 1)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn.at(-1)") == "weight=0.4"


def test_after_a_picture_that_could_not_be_drawn_the_next_is(page):
    page.evaluate("breaks = 1; acts.preview({ weight: 0.4 }); 0")
    page.wait_for_timeout(100)
    page.evaluate("acts.preview({ weight: 0.5 })")
    shows(page, "weight=0.5")


def test_numbers_that_a_newer_wish_has_overtaken_say_so(page):
    page.evaluate("acts.commit({ step: 'key' }); acts.commit({ step: 'value' })")
    shows(page, "step=value")
    assert page.evaluate("drawn") == ["", "step=key", "step=value"]
    assert page.evaluate("late") == [False, True, False]


# A second picture of the page: drawn2, says2.
SECOND = """async () => {
  const { follow } = await import("/pictures/follow.js"), parentElement = document.createElement("div")
  parentElement.innerHTML = "<div data-picture></div>"
  document.body.append(parentElement)
  window.drawn2 = []
  const draw = acts => { drawn2.push(acts.header.query) }
  window.says2 = (query, heard, slow = false) => follow(
    { data: { name: "that", early: false, slow, query, heard }, parentElement }, draw)
  says2("", 0)
}"""


def both_show(page: Page, query: str) -> None:
    shows(page, query)
    page.wait_for_function("query => drawn2.at(-1) === query", arg=query, timeout=8000)


def test_what_is_dragged_for_all_moves_all_pictures_and_is_gone_when_retracted(page):
    page.evaluate(SECOND)
    both_show(page, "")
    for base in (20, 30, 40):
        page.evaluate("base => acts.preview({ base }, true)", base)
    both_show(page, "base=40")
    page.evaluate("acts.retract(true)")
    both_show(page, "")
    assert page.evaluate("told") == []
    page.evaluate("says2('', 0, true); acts.preview({ base: 50 }, true)")
    shows(page, "base=50")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn2.at(-1)") == "", "a picture that takes long waits for the commit"
    page.evaluate("acts.commit({ base: 50 }, true)")
    both_show(page, "base=50")


def test_a_commit_for_all_is_told_once_and_an_older_page_does_not_undo_it(page):
    page.evaluate(SECOND)
    both_show(page, "")
    page.evaluate("acts.commit({ base: 20 }, true)")
    both_show(page, "base=20")
    assert page.evaluate("told") == [{"changes": {"base": 20}, "number": 1}]
    page.evaluate("says('', 0); says2('', 0)")  # a page that was on its way
    page.wait_for_timeout(100)
    both_show(page, "base=20")
    page.evaluate("acts.preview({ base: 30 }, true); acts.retract(true)")
    both_show(page, "base=20")
    page.evaluate("says('base=20', 1); says2('base=20', 1)")
    page.evaluate("says('base=20&seed=3', 1); says2('base=20&seed=3', 1)")
    both_show(page, "base=20&seed=3")
    assert len(page.evaluate("told")) == 1


def test_another_picture_is_not_taken_back_by_a_page_that_was_behind(page):
    page.evaluate(SECOND)
    both_show(page, "")
    for base in (20, 30):
        page.evaluate("base => acts.commit({ base }, true)", base)
        both_show(page, f"base={base}")
    page.evaluate("says('base=30', 2)")  # the first run was stopped on its way, and the second has only begun to speak
    page.evaluate("says2('base=20', 1)")
    page.wait_for_timeout(100)
    page.evaluate("says2('base=30', 2)")
    page.wait_for_timeout(100)
    assert page.evaluate("drawn2") == ["", "base=20", "base=30"]


def problem(page: Page) -> str:
    """What stands in the picture's place."""
    return page.locator(".problem").inner_text() if page.locator(".problem").count() else ""


def test_a_picture_that_failed_says_so_in_its_place_and_is_not_asked_for_again(page, refusals):
    refusals.append((500, "Not computed; reference 12ab.", {}))
    page.evaluate("acts.preview({ weight: 0.4 })")
    page.wait_for_function("document.querySelector('.problem')?.textContent")
    assert problem(page) == "Not computed; reference 12ab."
    failed = page.locator("[data-picture][data-failed]")  # canvas.css hides it
    assert failed.count() == 1, "an older picture would pass for this one"
    page.wait_for_timeout(1500)
    assert page.evaluate("drawn") == [""]
    page.evaluate("acts.preview({ weight: 0.5 })")
    shows(page, "weight=0.5")
    assert problem(page) == ""
    assert failed.count() == 0


def test_words_of_the_server_are_text(page, refusals):
    refusals.append((422, "expected a number, got <img src=x onerror=alert(1)> http://evil.test", {}))
    page.evaluate("acts.preview({ weight: 0.4 })")
    page.wait_for_function("document.querySelector('.problem')?.textContent")
    assert "<img" in problem(page)
    assert page.locator(".problem *").count() == 0


def test_a_busy_server_is_asked_again_later_and_later_and_never_sooner_than_it_says(page, refusals):
    page.evaluate("""() => {
      window.waits = []
      const real = setTimeout
      window.setTimeout = (act, ms) => (ms && waits.push(ms), real(act, 0)) // the mark of rest waits for no time
    }""")
    refusals.extend([(503, "The server is busy.", {"Retry-After": "3"})] * 7)
    page.evaluate("says('seed=3', 0)")
    shows(page, "seed=3")
    waits = page.evaluate("waits")[:7]
    due = [3000, 3000, 4000, 8000, 16_000, 30_000, 30_000]  # and up to a quarter more, so that not all ask at once
    assert all(first <= wait <= 1.25 * first for first, wait in zip(due, waits, strict=True)), waits
    assert problem(page) == ""


def test_one_of_several_pictures_may_fail_alone(page):
    page.evaluate(SECOND)
    both_show(page, "")
    page.unroute("**")

    def answer(route: Route) -> None:
        good, bad = (encode(header, np.zeros(0, np.float32)) for header in ({"query": "seed=3"}, {"problem": "Why."}))
        body = b"".join(len(part).to_bytes(4, "little") + part for part in (good, bad))
        route.fulfill(body=body, content_type="application/octet-stream")

    page.route("**", answer)
    page.evaluate("says('seed=3', 0); says2('seed=3')")
    shows(page, "seed=3")
    page.wait_for_function("[...document.querySelectorAll('.problem')].some(e => e.textContent === 'Why.')")
    assert page.evaluate("drawn2") == [""]
