"""A measurement in real windows, by a real worker: progress, another visitor who joins, Stop, and what stays.

Whether a block is clean depends on what else this machine does: both outcomes are told, and either is right.
"""

import re

from playwright.sync_api import expect

PATH = "/profiling?profiling_view=length&profiling_longest=256&profiling_backward=false"


def test_a_measurement_is_followed_by_two_stopped_by_both_and_one_comes_to_its_end(visit):
    one = visit(f"{PATH}&profiling_rounds=30")
    below = one.page.locator(".st-key-measure ~ * , .st-key-measure").last.element_handle()
    one.page.get_by_role("button", name="Measure").click()
    expect(one.page.locator(".stProgress")).to_contain_text(re.compile(r"Measuring: \d+%"))
    other = visit(f"{PATH}&profiling_rounds=30")
    expect(other.page.locator(".stProgress")).to_contain_text(re.compile(r"Someone is measuring this now: \d+%"))
    other.press("Join")
    expect(other.page.locator(".stProgress")).to_contain_text("Measuring:")
    assert below.evaluate("e => e.isConnected")  # what stands around it was not mounted anew
    one.page.get_by_role("button", name="Stop").click()
    expect(one.page.locator(".stProgress")).to_contain_text("Someone is measuring this now")
    other.page.get_by_role("button", name="Stop").click()
    for visitor in (one, other):
        expect(visitor.page.get_by_role("button", name="Measure")).to_be_visible()
    expect(other.page.locator(".facts")).to_contain_text(
        re.compile(r"What was done stays\.|Nothing was measured by then\.")
    )
    rounds = one.page.get_by_label("Rounds", exact=True)
    rounds.fill("3")
    rounds.press("Enter")
    one.wait()
    one.page.get_by_role("button", name="Measure").click()
    expect(one.page.get_by_role("button", name="Measure again")).to_be_visible(timeout=60_000)
    expect(one.page.locator(".facts")).to_contain_text(
        re.compile(r"\d+ blocks, all clean|blocks contended|No clean block")
    )
    assert re.search(r"profiling_run=\w+", one.page.url)
    again = visit(one.page.url.removeprefix(one.address))
    assert again.page.locator(".facts").inner_text() == one.page.locator(".facts").inner_text()
