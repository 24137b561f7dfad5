"""The line above a picture that says what is read: it follows the hand, is of one height, and holds text alone."""

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import MAIN
from tests.browser.conftest import Visitor
from tests.browser.stage import top
from tests.browser.test_live_sliders import TOKENS, held
from tfm_ui.pictures.canvas import version
from tfm_ui.text import token_row

HOSTILE = "a+%3Cimg+src=x+onerror=document.title=1%3E+%3Cb%3Ec%3C/b%3E+%26amp;+%E2%80%AE+a"
READS, CHIPS, SIGNS = ".reads .tokens", ".reads .token", ".reads .signs"
CLIPPED = "e => e.scrollWidth > e.clientWidth"
# What words.js makes of a row.
DRAWN = """async ([version, items]) => {
  const { row } = await import(new URL(`assets/${version}/pictures/words.js`, document.baseURI))
  const place = document.createElement("div")
  place.append(...row(items))
  return place.innerHTML
}"""


def the_tokens_follow_the_hand_without_a_run(visitor: Visitor) -> None:
    chips, runs = visitor.page.locator(CHIPS), visitor.runs
    as_run = chips.all_inner_texts()
    with held(visitor, TOKENS, 0):
        expect(chips).to_have_count(2)
        assert visitor.runs == runs
    visitor.wait()
    assert chips.all_inner_texts() == as_run[:2]
    with held(visitor, TOKENS, 14):
        expect(chips.last).to_have_text("PAD")
        said = visitor.page.locator(READS).inner_html()
    visitor.wait()
    assert visitor.page.locator(READS).inner_html() == said  # the page writes what the browser has drawn


def a_text_stays_text(visitor: Visitor) -> None:
    visitor.back_to(f"/heads?text={HOSTILE}")
    assert visitor.page.locator(f"{READS} :is(img, script, b b)").count() == 0
    expect(visitor.page.locator(CHIPS).nth(1)).to_have_text("<")
    assert visitor.page.title() != "1"


def a_long_text_goes_on_beyond_the_edge_and_keeps_its_height(visitor: Visitor) -> None:
    visitor.back_to("/heads?text=a+b")
    row, before = visitor.page.locator(READS), top(visitor)
    assert not row.evaluate(CLIPPED)
    visitor.back_to("/heads?text=@alice&seq_len=512")
    expect(row).to_contain_text("… and 448 more")
    assert visitor.page.locator(CHIPS).count() == token_row.MOST
    assert row.evaluate(CLIPPED)
    assert row.evaluate("e => getComputedStyle(e).maskImage") != "none"
    assert top(visitor) == before
    row.focus()
    visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_function("place => document.querySelector(place).scrollLeft > 0", arg=READS)


def a_space_is_explained_and_a_view_without_a_text_says_what_it_has_instead(visitor: Visitor) -> None:
    visitor.back_to("/heads?weights=lab-gpt&text=The+sea")
    expect(visitor.page.locator(SIGNS)).to_have_text("· = a space before the word")
    expect(visitor.page.locator(CHIPS).last).to_have_text("·sea")
    visitor.back_to("/attention?attention_view=dictionary")
    expect(visitor.page.locator(READS)).to_be_hidden()
    expect(visitor.page.locator(".reads .note")).to_contain_text("No text is read here")


def test_what_is_read_stands_above_the_picture(visit):
    visitor = visit("/heads")
    the_tokens_follow_the_hand_without_a_run(visitor)
    a_text_stays_text(visitor)
    a_long_text_goes_on_beyond_the_edge_and_keeps_its_height(visitor)
    a_space_is_explained_and_a_view_without_a_text_says_what_it_has_instead(visitor)
    for items in (token_row.row(["<b>", "·cat"]), ["Look", *token_row.row(["<b>", "·cat"], [0.125, 1.0])]):
        drawn = visitor.page.evaluate(DRAWN, [version(), items])
        assert drawn.replace("&quot;", '"') == token_row.html_of(items)  # as Python writes it


def test_on_a_phone_it_is_one_line_and_the_page_is_not_wider(visit):
    visitor = visit("/heads?weights=lab-gpt", width=390, height=844)
    for path in ("/heads?weights=lab-gpt", "/masks?masks_item=1", "/masks?masks_item=2"):
        visitor.back_to(path)
        line = visitor.page.locator(".reads")
        assert line.bounding_box()["height"] <= 36
        assert visitor.page.locator(MAIN).evaluate("e => e.scrollWidth <= e.clientWidth")
