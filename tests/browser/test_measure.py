"""A measurement in real windows, by a real worker: progress, another visitor who joins, Stop, and what stays.

Whether a block is clean depends on what else this machine does: both outcomes are told, and either is right.
"""

import re

from playwright.sync_api import Locator, expect

from benchmarks.streamlit_private.dom import PROGRESS
from tests.browser.conftest import Visitor

LONG = "/profiling?profiling_rounds=30"
SHORT = "/profiling?profiling_rounds=3&profiling_backward=false&profiling_sizes=8,1,1,4"
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


def test_a_measurement_is_followed_by_two_stopped_by_both_and_another_comes_to_its_end(visit):
    first, other = visit(LONG), visit(LONG)
    several_stop_it_each_once_though_one_has_reloaded(first, other)
    another_comes_to_its_end_and_another_tab_shows_the_same_run(first)
