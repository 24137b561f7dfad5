"""Visits: links, other browsers, hostile text."""

import re
from urllib.parse import quote

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import APP
from tests.browser.plain_text import ADDRESSES, HURTS, made_of_it

LINK = "/heads?text=one+link%2C+one+picture&seq_len=7&num_heads=8&seed=3&positional=rope&heads_head=5"


def test_links_are_mended_in_the_address_bar_copied_and_bring_back_the_picture(visit):
    visitor = visit("/heads?num_heads=7&seq_len=10000&heads_head=99")
    visitor.page.wait_for_function("location.search.includes('heads_head=8')")
    expect(visitor.page).to_have_url(re.compile("num_heads=8"))
    expect(visitor.page).to_have_url(re.compile("seq_len=1024"))
    expect(visitor.page.get_by_text("The link asked for num_heads = 7")).to_have_count(1)
    visitor.open(LINK)
    link = visitor.link()
    assert link.startswith(visitor.address + "/heads?")
    again = visit(link.removeprefix(visitor.address))
    assert again.weights() == visitor.weights()


def paper_is_that_of_the_system(visitor) -> None:
    """tests/browser/test_stage.py has the widths of windows, on each lens."""
    app = visitor.page.locator(APP)
    for scheme, paper in {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 19, 25)"}.items():
        visitor.resize(1440, scheme)
        expect(app).to_have_css("background-color", paper)


def hostile_text_is_shown_and_never_run(visitor) -> None:
    visitor.page.locator(".cells canvas").wait_for()
    visitor.head(1, 2).hover()
    assert visitor.page.evaluate("window.hurt") is None
    assert made_of_it(visitor.page) == []


def test_pages_are_light_and_dark_and_run_no_text(visit):
    hostile = f"text={quote(HURTS + '<b>bold</b> ' + ADDRESSES)}&seq_len=256&tokenizer=character"
    visitor = visit(f"/heads?{hostile}")
    hostile_text_is_shown_and_never_run(visitor)
    visitor.back_to(f"/?{hostile}")
    hostile_text_is_shown_and_never_run(visitor)
    paper_is_that_of_the_system(visitor)
