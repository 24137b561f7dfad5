"""A small measurement in a real browser: every run is drawn, read by keyboard, fits a phone, and comes back by link."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.charts import faults, lines

QUERY = "profiling_sizes=8,2,1,4%0A8,2,1,6&profiling_rounds=3&profiling_batch=1&profiling_backward=false"


def dots(plot: Locator) -> dict[str, list[float]]:
    """Name of each group -> all its measurements."""
    return {line["name"]: line["x"] for line in lines(plot) if line["name"] in ("forward", "forward + backward")}


NEAR = "profiling_sizes=128,8,4,1%0A128,8,4,2&profiling_batch=1&profiling_targets=with+weights,LSTM,GRU,convolution"


def points_bear_their_rows_number_and_no_tick_is_cut_off(visitor) -> None:
    visitor.back_to(f"/profiling?{NEAR}")
    for width, scheme in ((390, "dark"), (1440, "light")):
        visitor.resize(width, scheme)
        plot = visitor.chart("profiling_parameters")
        assert faults(plot) == []
        marks = plot.locator(".textpoint text").all_text_contents()
        assert set(marks) <= {str(row) for row in range(1, 9)}
        assert len(set(marks)) == len(marks) >= 6  # of points that lie upon each other, not all have room
        assert plot.evaluate("e => e.data.map(({ text }) => text)") == [str(row) for row in range(1, 9)]


def test_what_was_measured_is_drawn_read_by_keyboard_and_comes_back_by_its_link(visit):
    visitor = visit(f"/profiling?{QUERY}", width=390, height=844)
    visitor.press("Measure")
    visitor.page.wait_for_function("location.search.includes('profiling_run=')")
    plot = visitor.chart("profiling_times")
    say = plot.locator("xpath=..").locator(".say")
    plot.press("ArrowDown")
    expect(say).to_contain_text("1 · with weights, forward: ")
    plot.press("ArrowDown")
    expect(say).to_contain_text("2 · with weights, forward: ")
    measured = dots(plot)
    if measured["forward"]:  # on a busy machine there may be no clean block
        expect(say).to_contain_text(re.compile(r"\d (ms|µs)|contended|load"))
    plot.press("Escape")
    expect(say).to_have_text("")
    if measured["forward"]:
        ratios = visitor.chart("profiling_ratios")
        ratios.press("Home")
        expect(ratios.locator("xpath=..").locator(".say")).to_contain_text(re.compile("over row 1: |^$"))
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    again = visit(visitor.page.url.removeprefix(visitor.address))
    assert dots(again.chart("profiling_times")) == measured
    points_bear_their_rows_number_and_no_tick_is_cut_off(visitor)
