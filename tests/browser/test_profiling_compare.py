"""A small measurement in a real browser: every run is drawn, read by keyboard, fits a phone, and comes back by link."""

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visitor

QUERY = "profiling_sizes=8,2,1,4%0A8,2,1,6&profiling_rounds=3&profiling_batch=1&profiling_backward=false"


def strips(visitor: Visitor, panel: str) -> Locator:
    found = visitor.page.locator(f".st-key-panel_profiling_{panel} .strips")
    found.wait_for(timeout=60_000)
    visitor.page.wait_for_function("e => e._memory?.strips && e.querySelector('canvas').height > 60",
                                   arg=found.element_handle())  # fmt: skip
    return found


def dots(found: Locator) -> list[list[float]]:
    return found.evaluate("e => e._memory.strips.map(strip => strip.dots)")


def test_what_was_measured_is_drawn_read_by_keyboard_and_comes_back_by_its_link(visit):
    visitor = visit(f"/profiling?{QUERY}", width=390, height=844)
    visitor.press("Measure")
    visitor.page.wait_for_function("location.search.includes('profiling_run=')", timeout=60_000)
    found = strips(visitor, "times")
    tip, canvas = found.locator(".tip"), found.locator("canvas")
    canvas.press("ArrowDown")
    expect(tip).to_contain_text("1 · with weights, forward: ")
    canvas.press("ArrowDown")
    expect(tip).to_contain_text("2 · with weights, forward: ")
    measured = dots(found)
    if measured[1]:  # on a busy machine there may be no clean block
        canvas.press("ArrowRight")
        expect(tip).to_contain_text("2 · with weights, round ")
        expect(tip).to_contain_text(" ms")
    canvas.press("Escape")
    expect(tip).to_be_hidden()
    if measured[0]:
        ratios = strips(visitor, "ratios")
        ratios.locator("canvas").press("Home")
        expect(ratios.locator(".tip")).to_contain_text("over row 1: ")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    again = visit(visitor.page.url.removeprefix(visitor.address))
    assert dots(strips(again, "times")) == measured
