"""Presenting, and the way from lens to lens."""

import re

import pytest
from playwright.sync_api import expect


def test_lenses_lead_to_one_another_in_a_fixed_order_and_keep_the_model(visit):
    visitor = visit("/?seed=5")
    visitor.page.get_by_role("link", name="Heads →").click()
    visitor.page.get_by_text("Layer 1, head 1").wait_for()
    visitor.page.get_by_role("link", name="← Home").click()
    visitor.page.get_by_text("What it looks at").wait_for()
    visitor.wait()
    expect(visitor.page.get_by_label("Seed", exact=True)).to_have_value("5")
    expect(visitor.page).to_have_url(visitor.address + "/?seed=5")


def where(visitor) -> str:
    visitor.wait()
    return visitor.page.locator(".where").inner_text()


def test_a_presenter_needs_the_keys_alone(visit):
    visitor = visit("/?seed=5")
    size = "getComputedStyle(document.querySelector('h1')).fontSize"
    small = float(visitor.page.evaluate(size)[:-2])
    visitor.press("Present")
    visitor.page.locator(".where").wait_for()
    assert where(visitor) == "Home 1 of 6"
    assert float(visitor.page.evaluate(size)[:-2]) == pytest.approx(1.4 * small)
    for chrome in (".stSidebar", "[data-testid=stHeader]", "[class*=st-key-actions_]", ".st-key-_present"):
        expect(visitor.page.locator(chrome).first).to_be_hidden()
    for key, place in (
        ("ArrowRight", "Heads 2 of 6"), ("ArrowRight", "Attention 3 of 6"), ("ArrowRight", "Positions 4 of 6"),
        ("ArrowRight", "Masks 5 of 6"), ("ArrowRight", "Profiling 6 of 6"), ("ArrowRight", "Profiling 6 of 6"),
        ("PageUp", "Masks 5 of 6"), ("PageUp", "Positions 4 of 6"),
        ("PageUp", "Attention 3 of 6"), ("PageUp", "Heads 2 of 6"),
        ("PageUp", "Home 1 of 6"), ("PageUp", "Home 1 of 6"),
        ("PageDown", "Heads 2 of 6"), ("ArrowLeft", "Home 1 of 6"), ("ArrowRight", "Heads 2 of 6"),
    ):  # fmt: skip
        visitor.page.keyboard.press(key)
        visitor.page.get_by_text(place).wait_for()
        assert where(visitor) == place
        expect(visitor.page).to_have_url(re.compile("seed=5"))
        expect(visitor.page).to_have_url(re.compile("present=true"))
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.get_by_text("Why could no training change that?").wait_for()
    visitor.page.keyboard.press("ArrowDown")
    visitor.page.get_by_text("How could this model ever tell who saw whom?").wait_for()
    visitor.page.keyboard.press("ArrowUp")
    visitor.page.get_by_text("Why could no training change that?").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(".stSidebar").wait_for()
    visitor.wait()
    expect(visitor.page).to_have_url(visitor.address + "/heads")


def test_the_grid_keeps_its_keys_but_for_the_presenters(visit):
    visitor = visit("/heads?present=true")
    visitor.head(1, 1).focus()
    for key in ("ArrowRight", "ArrowDown"):
        visitor.page.keyboard.press(key)
    assert where(visitor) == "Heads 2 of 6"
    expect(visitor.page.locator(".try")).to_contain_text("Try this")
    visitor.page.keyboard.press("Enter")
    visitor.page.get_by_text("Layer 2, head 2").wait_for()
    visitor.page.keyboard.press("Escape")
    assert where(visitor) == "Heads 2 of 6"
    visitor.page.keyboard.press("PageUp")
    visitor.page.get_by_text("Home 1 of 6").wait_for()
    visitor.wait()


def test_a_head_clicked_on_home_is_presented(visit):
    visitor = visit("/?present=true")
    visitor.head(2, 3).click()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    assert where(visitor) == "Heads 2 of 6"


@pytest.mark.parametrize("path", ["/", "/heads"])
@pytest.mark.parametrize("width", [1024, 1440])
def test_presenting_fits_the_screen(visit, path, width):
    visitor = visit(path + "?present=true", width=width)
    visitor.page.locator(".cells canvas").wait_for()
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= width
    inside = "e => [...e.querySelectorAll('.stMainBlockContainer')].every(b => b.scrollWidth <= b.clientWidth + 1)"
    assert visitor.page.locator("body").evaluate(inside)


def test_the_sidebar_needs_no_scrolling_at_900(visit):
    visitor = visit("/heads", height=900)
    bottom = visitor.page.get_by_role("button", name="Reset", exact=True).bounding_box()
    assert bottom["y"] + bottom["height"] < 900


def test_on_a_phone_presets_scroll_in_one_row(visit):
    visitor = visit("/heads", width=390)
    row = visitor.page.locator(".st-key-presets")
    row.get_by_role("button").last.wait_for()
    assert row.bounding_box()["height"] < 60
    assert row.evaluate(
        "e => [e, ...e.querySelectorAll('*')].some(inner => inner.scrollWidth > inner.clientWidth + 50)"
    )
