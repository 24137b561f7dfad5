"""Handing a page on from a phone: the system's sheet, or a copy; and no word that only a mouse would understand."""

import re

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import HEADER, MAIN, UNFOLD
from tests.browser.conftest import PHONE, Visitor
from tests.browser.stage import path_of
from tests.tfm_ui.text.test_by_hand import OF_A_MOUSE
from tfm_ui.lenses import lenses

# A sheet that keeps what it is given, and opens, is put away or is refused; and a clipboard that keeps it.
SHEET = """window.shared = []
navigator.share = async given => {
  window.shared.push(given)
  if (window.answer) throw new DOMException("", window.answer)
}
window.copied = []
Object.defineProperty(navigator, "clipboard", { value: { writeText: async text => { window.copied.push(text) } } })"""
NO_SHEET = "delete Navigator.prototype.share"
SAID = ".st-key-copy_link span"


def opened(visit, script: str, path: str, **window) -> Visitor:
    """A phone's window on which this script runs before the page."""
    visitor = visit("/heads", **PHONE)
    visitor.spoilt = True
    visitor.page.add_init_script(script)
    if window:
        visitor.page.set_viewport_size(window)
    return visitor.open(path)


def handed_on(visitor: Visitor) -> tuple[list[dict[str, str]], list[str]]:
    """What the sheet was given, and what was copied."""
    shared, copied = visitor.page.evaluate("[window.shared, window.copied]")
    return shared, copied


def test_a_phone_opens_the_systems_sheet_and_copies_where_that_is_refused(visit):
    visitor = opened(visit, SHEET, "/heads?seed=5")
    expect(visitor.page.locator(SAID)).to_have_text("Share")
    visitor.page.get_by_role("button", name="Share", exact=True).tap()
    visitor.page.wait_for_function("window.shared.length")
    link = visitor.page.url
    assert handed_on(visitor) == ([{"title": "Heads · Attention Lab", "url": link}], [])
    expect(visitor.page.locator(SAID)).to_have_text("Share")  # the sheet says all that is to be said
    visitor.page.evaluate("window.answer = 'AbortError'")
    visitor.page.get_by_role("button", name="Share", exact=True).tap()
    visitor.page.wait_for_function("window.shared.length === 2")
    expect(visitor.page.locator(SAID)).to_have_text("Share")  # who has put it away wants nothing
    assert handed_on(visitor)[1] == []
    visitor.page.evaluate("window.answer = 'NotAllowedError'")
    visitor.page.get_by_role("button", name="Share", exact=True).tap()
    expect(visitor.page.locator(SAID)).to_have_text("Link copied")
    expect(visitor.page.locator(SAID)).to_be_visible()
    assert handed_on(visitor)[1] == [link]


def test_without_a_sheet_a_phone_copies_the_link(visit):
    visitor = opened(visit, NO_SHEET, "/heads?seed=5")
    expect(visitor.page.locator(SAID)).to_have_text("Copy link")


def is_at_hand_and_covers_nothing(visitor: Visitor, path: str) -> None:
    visitor.back_to(path)
    page = visitor.page
    width, height = page.viewport_size["width"], page.viewport_size["height"]
    button = page.get_by_role("button", name="Share", exact=True).bounding_box()
    assert button["x"] >= 0, path
    assert button["x"] + button["width"] <= width, path
    assert button["y"] >= 0, path
    assert button["y"] + button["height"] <= height / 10, path  # in the bar, wherever one has scrolled to
    assert min(button["width"], button["height"]) >= 44, path
    assert button["x"] >= (box := page.locator(UNFOLD).bounding_box())["x"] + box["width"], path
    links = page.locator(".st-key-lens_links").bounding_box()
    assert button["y"] + button["height"] <= links["y"], path


@pytest.mark.parametrize("width", [390, 360, 320])
def test_a_phones_share_button_is_at_hand_on_every_page(visit, width):
    visitor = opened(visit, SHEET, "/", width=width, height=740)
    for path in ["/", "/learn", *(f"/{each.name}" for each in lenses()[1:])]:
        is_at_hand_and_covers_nothing(visitor, path)
    visitor.page.locator(MAIN).evaluate("e => e.scrollBy(0, 600)")
    expect(visitor.page.get_by_role("button", name="Share", exact=True)).to_be_in_viewport()
    assert visitor.page.locator(f"{HEADER} img").bounding_box()["width"] < width / 2


# All that is read on the page, also beside pictures, behind their shadow roots.
READ = """() => {
  const texts = node => [...node.children].flatMap(child => [child, ...texts(child.shadowRoot ?? child)])
  return texts(document.body).filter(e => e.checkVisibility() && ![...e.children].some(c => c.checkVisibility()))
    .map(e => e.textContent).join("\\n")
}"""


def test_nothing_that_a_phone_shows_is_about_a_mouse(visit):
    visitor = visit("/heads", **PHONE)
    for each in lenses():
        for view in each.views:
            visitor.back_to(path_of(each.name, view))
            told = [visitor.page.evaluate("document.body.innerText"), visitor.page.evaluate(READ)]
            assert each.title in told[0]
            for text in told:
                assert [*re.findall(rf".*{OF_A_MOUSE.pattern}.*", text, re.IGNORECASE)] == [], (each.name, view)
