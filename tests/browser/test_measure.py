"""A measurement in real windows, by a real worker: progress, who joins, Stop, what stays, and its charts.

Whether a block is clean depends on what else this machine does: both outcomes are told, and either is right.
"""

import re

from playwright.sync_api import Locator, expect

from benchmarks.streamlit_private.dom import PROGRESS
from tests.browser.charts import lines
from tests.browser.conftest import Visitor

LONG = "/profiling?profiling_rounds=30"
SHORT = "/profiling?profiling_sizes=8,2,1,4%0A8,2,1,6&profiling_rounds=3&profiling_batch=1&profiling_backward=false"
RUN = "new URL(location).searchParams.get('profiling_run')"  # the measurement that the link names


def measure(visitor: Visitor) -> Locator:
    return visitor.page.locator(".st-key-_profiling_measure button")


def several_stop_it_each_once_though_one_has_reloaded(first: Visitor, other: Visitor) -> None:
    """Both are at the same link. Nothing is mounted anew but by the reload."""
    lines = [visitor.page.locator(".st-key-line_measure").element_handle() for visitor in (first, other)]
    measure(first).click()
    expect(first.page.locator(PROGRESS)).to_contain_text(re.compile(r"Measuring: \d+%"))
    assert lines[0].evaluate("e => e.isConnected")
    first.page.reload()
    expect(first.page.locator(PROGRESS)).to_contain_text("Measuring:")
    lines[0] = first.page.locator(".st-key-line_measure").element_handle()
    other.back_to(LONG)
    expect(other.page.locator(PROGRESS)).to_contain_text(re.compile(r"Someone is measuring this now: \d+%"))
    other.press("Join")
    expect(other.page.locator(PROGRESS)).to_contain_text("Measuring:")
    first.page.get_by_role("button", name="Stop").click()
    expect(first.page.locator(PROGRESS)).to_contain_text("Someone is measuring this now")
    other.page.get_by_role("button", name="Stop").click()
    for visitor in (first, other):
        expect(measure(visitor)).to_be_visible()
    expect(other.page.locator(".facts")).to_contain_text("Stopped.")
    how = re.compile(r"What was done stays\.|Nothing was measured by then\.|Not kept: ")
    expect(other.page.locator(".facts")).to_contain_text(how)
    assert all(line.evaluate("e => e.isConnected") for line in lines)
    first.page.wait_for_timeout(1500)  # it stays so: nothing takes the job up again
    for visitor in (first, other):
        expect(measure(visitor)).to_be_visible()


def another_comes_to_its_end_and_another_tab_shows_the_same_run(first: Visitor) -> None:
    first.back_to(SHORT)
    # The link of a page that opens with another visitor's measurement names that one.
    earlier = first.page.evaluate(RUN)
    measure(first).click()
    first.page.wait_for_function(f"earlier => {RUN} && {RUN} !== earlier", arg=earlier)
    expect(measure(first)).to_contain_text("Measure again")
    expect(first.page.locator(".facts")).to_contain_text(re.compile(r"UTC, in [\d.,]+ m?s"))
    assert re.search(r"profiling_run=\w+", first.page.url)
    tab = Visitor(first.page.context.new_page(), first.address).open(SHORT)
    tab.page.wait_for_function(f"run => {RUN} === run", arg=first.page.evaluate(RUN))
    assert tab.page.url == first.page.url
    assert not tab.problems
    tab.page.close()


def dots(visitor: Visitor) -> dict[str, list[float]]:
    """Name of each group -> all its measurements."""
    drawn = lines(visitor.chart("profiling_times"))
    return {line["name"]: line["x"] for line in drawn if line["name"] in ("forward", "forward + backward")}


def it_is_drawn_read_by_keyboard_and_comes_back_by_its_link(visitor: Visitor, other: Visitor) -> None:
    visitor.resize(390, height=844)
    plot = visitor.chart("profiling_times")
    say = plot.locator("xpath=..").locator(".say")
    plot.press("ArrowDown")
    expect(say).to_contain_text("1 · with weights, forward: ")
    plot.press("ArrowDown")
    expect(say).to_contain_text("2 · with weights, forward: ")
    measured = dots(visitor)
    if measured["forward"]:  # on a busy machine there may be no clean block
        expect(say).to_contain_text(re.compile(r"\d (ms|µs)|contended|load"))
    plot.press("Escape")
    expect(say).to_have_text("")
    if measured["forward"]:
        ratios = visitor.chart("profiling_ratios")
        ratios.press("Home")
        expect(ratios.locator("xpath=..").locator(".say")).to_contain_text(re.compile("over row 1: |^$"))
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    other.open(visitor.page.url.removeprefix(visitor.address))
    assert dots(other) == measured


def test_a_measurement_is_followed_stopped_and_drawn_and_another_comes_to_its_end(visit):
    first, other = visit(LONG), visit(LONG)
    several_stop_it_each_once_though_one_has_reloaded(first, other)
    another_comes_to_its_end_and_another_tab_shows_the_same_run(first)
    it_is_drawn_read_by_keyboard_and_comes_back_by_its_link(first, other)
