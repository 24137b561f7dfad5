"""assets/pictures/follow.js: questions that have no answer, and what stands in the picture's place."""

import numpy as np
from playwright.sync_api import Page, Route

from tests.browser.follow.following import SECOND, both_show, shows
from tfm_ui.pictures.canvas import encode


def problem(page: Page) -> str:
    """What stands in the picture's place."""
    return page.locator(".problem").inner_text() if page.locator(".problem").count() else ""


def test_a_picture_that_failed_says_so_in_its_place_and_is_not_asked_for_again(page, refusals):
    page.evaluate("""() => {
      const real = setTimeout
      window.setTimeout = (act, ms) => real(act, Math.min(ms, 20)) // what it waits for is over soon
    }""")
    refusals.append((500, "Not computed; reference 12ab.", {}))
    page.evaluate("acts.preview({ weight: 0.4 })")
    page.wait_for_function("document.querySelector('.problem')?.textContent")
    assert problem(page) == "Not computed; reference 12ab."
    failed = page.locator("[data-picture][data-failed]")  # canvas.css hides it
    assert failed.count() == 1, "an older picture would pass for this one"
    page.wait_for_timeout(300)
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
      window.setTimeout = (act, ms) => (ms >= 1000 && waits.push(ms), real(act, 0)) // marks wait less
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
    page.evaluate("says('seed=3', 0); says2('seed=3', 0)")
    shows(page, "seed=3")
    page.wait_for_function("[...document.querySelectorAll('.problem')].some(e => e.textContent === 'Why.')")
    assert page.evaluate("drawn2") == [""]
