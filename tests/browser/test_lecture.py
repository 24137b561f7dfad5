"""A lecture in a browser: collected on several pages, put in order, presented by keys, followed by a speaker."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import barriers
from tests.browser.conftest import PHONE

STORED = "attention-lab-lecture"
ROW = ".st-key-lesson"


def begin(visit, path: str, **window):
    """Open a page in a browser that has kept no lecture."""
    visitor = visit(path, **window)
    visitor.page.evaluate(f"() => localStorage.removeItem('{STORED}')")
    return visitor.open(path)


def add(visitor) -> None:
    """Press “Add to lecture” beside what is asked."""
    visitor.page.get_by_role("button", name="Add to lecture", exact=True).click()
    expect(visitor.page.get_by_text("of your lecture").last).to_be_visible()
    visitor.wait()


def kept(visitor) -> dict:
    """What the browser keeps of the lecture."""
    return json.loads(visitor.page.evaluate(f"() => localStorage.getItem('{STORED}') ?? '{{}}'"))


def headings(visitor) -> list[str]:
    """The headings on the page of the lecture, in their order."""
    return [box.input_value() for box in visitor.page.get_by_label("Heading", exact=True).all()]


def a_question_and_a_page_are_added(visitor) -> None:
    add(visitor)
    visitor.go("Masks")
    visitor.wait()
    add(visitor)
    visitor.page.get_by_role("button", name="Lecture", exact=True).click()
    visitor.page.get_by_text("Add this page as it is").click()
    expect(visitor.page.get_by_text("is step 3 of your lecture")).to_be_visible()
    visitor.wait()
    visitor.page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{STORED}')).text.split('## ').length === 4")


def it_is_opened_from_the_same_menu(visitor) -> None:
    visitor.page.get_by_role("button", name="Lecture", exact=True).click()
    visitor.page.get_by_text("Open your lecture").click()
    expect(visitor.page.get_by_label("Heading", exact=True)).to_have_count(3)
    visitor.wait()


def steps_are_moved_and_get_notes(visitor) -> None:
    first, second, third = headings(visitor)
    visitor.page.locator(".st-key-_down_0 button").click()
    expect(visitor.page.get_by_label("Heading", exact=True).first).to_have_value(second)
    visitor.wait()
    assert headings(visitor) == [second, first, third]
    visitor.page.get_by_text("Words, notes, place").first.click()
    notes = visitor.page.get_by_label("Notes: what you want to say. The speaker’s view shows them.")
    notes.fill("Ask who has seen a mask before.")
    notes.press("Control+Enter")
    visitor.page.wait_for_function(f"() => localStorage.getItem('{STORED}').includes('Ask who has seen')")
    visitor.wait()


def it_gets_a_short_link(visitor) -> str:
    visitor.press("Keep it on this server")
    link = visitor.page.get_by_text(re.compile(r"/learn\?lesson=brought-[a-z2-7]{16}$"))
    expect(link).to_be_visible()
    visitor.wait()
    return link.inner_text()


def the_speakers_link(visitor) -> str:
    visitor.press("Speaker’s view")
    link = visitor.page.get_by_role("link", name="Open it in a second window").get_attribute("href")
    visitor.page.keyboard.press("Escape")
    visitor.wait()
    return link


def test_a_lecture_from_the_first_question_to_the_hall(visit):
    visitor = begin(visit, "/heads")
    a_question_and_a_page_are_added(visitor)
    it_is_opened_from_the_same_menu(visitor)
    steps_are_moved_and_get_notes(visitor)
    short = it_gets_a_short_link(visitor)
    phone = visitor.page.context.new_page()
    phone.goto(the_speakers_link(visitor))
    expect(phone.get_by_text("Nothing is presented yet.")).to_be_visible()
    first, second, _ = headings(visitor)
    visitor.press("Present")
    expect(visitor.page.locator(ROW)).to_contain_text(first)
    expect(phone.get_by_text("Ask who has seen a mask before.")).to_be_visible()
    expect(phone.locator(".clock")).to_contain_text("this step 0:")
    visitor.wait()
    visitor.page.keyboard.press("n")
    expect(visitor.page.locator(ROW)).to_contain_text(second)
    expect(phone.get_by_role("heading", name=second)).to_be_visible()
    phone.close()
    visitor.open("/learn?" + short.partition("?")[2])
    expect(visitor.page.locator(".st-key-learn")).to_contain_text("3 steps")


def test_what_is_added_in_a_tab_is_known_in_the_other(visit):
    visitor = begin(visit, "/heads")
    other = visitor.page.context.new_page()
    other.goto(visitor.page.url)
    other.locator(".st-key-question").wait_for()
    add(visitor)
    other.wait_for_timeout(500)
    other.get_by_role("button", name="Add to lecture", exact=True).click()
    expect(other.get_by_text("is step 2 of your lecture")).to_be_visible()
    other.close()
    visitor.page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{STORED}')).text.split('## ').length === 3")


def test_it_is_there_another_day(visit):
    visitor = begin(visit, "/heads")
    add(visitor)
    assert "## " in kept(visitor)["text"]
    visitor.open("/lecture")
    expect(visitor.page.get_by_label("Heading", exact=True)).to_have_count(1)


@pytest.mark.parametrize("window", [{}, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_nothing_keeps_anybody_from_giving_a_lecture(visit, window, color_scheme):
    visitor = begin(visit, "/heads", color_scheme=color_scheme, **window)
    add(visitor)
    visitor.open("/lecture")
    expect(visitor.page.get_by_label("Heading", exact=True)).to_have_count(1)
    visitor.wait()
    assert barriers(visitor) == []
    assert visitor.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
