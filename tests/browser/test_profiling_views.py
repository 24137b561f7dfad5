"""The pictures of the Profiling lens as files, with measurements made by hand: all is drawn, and read on a phone."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.charts import faults
from tests.browser.test_standalone import drawn, opened
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling.measurements import measurements

BARS_AND_CURVES = """({ _fullData: all }) => all
  .filter(({ name, meta, type }) => type === "bar" || meta?.end !== undefined)
  .reduce((count, { type, x }) => count + (type === "bar" ? x.length : 1), 0)"""
NAMED = "({ _fullData: all }) => all.filter(({ name }) => name).length"
# View -> its panels, with how much each has drawn.
DRAWN = {
    "parts": {"profiling_parts_parameters": 6, "profiling_parts_flops": 6, "profiling_parts_time": 6},
    "length": {"profiling_length_parts": 9, "profiling_length_memory": 7, "profiling_length_time": 5},
    "roofline": {"profiling_roofline": 7},
}
NEAR = "profiling_sizes=128,8,4,1%0A128,8,4,2&profiling_batch=1"
NEAR += "&profiling_targets=with+weights,LSTM,GRU,convolution"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures of whatever is asked for, as if it had been measured."""
    monkeypatch.setattr(measurements, "find", lambda plan, name="": plausible(plan) if plan else None)


@pytest.mark.usefixtures("measured")
def test_all_that_was_measured_is_drawn_and_read_on_a_phone_in_the_dark(browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": 390, "height": 844})
    plot = page.locator(".chart .plot")
    for view, panels in DRAWN.items():
        for name, count in panels.items():
            query = f"profiling_view={view}&d_ff=100&profiling_longest=512"
            problems = opened(page, tmp_path, name, query, "dark")
            counted = NAMED if view == "roofline" else BARS_AND_CURVES
            page.wait_for_function(
                f"([e, n]) => e._fullData && ({counted})(e) === n", arg=[plot.element_handle(), count]
            )
            assert plot.evaluate("e => e._fullLayout.height > 150 && e.scrollWidth <= e.clientWidth + 1"), name
            assert faults(plot) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            if name == "profiling_length_time":
                plot.focus()
                plot.press("End")
                read = re.compile(r"forward: [\d.]+, fitted .* at length = 512$")
                expect(plot.locator("xpath=..").locator(".say")).to_have_text(read)
            assert problems == [], name
    page.close()


def test_points_bear_their_rows_number_and_no_tick_is_cut_off(browser: Browser, tmp_path: Path):
    page = browser.new_page()
    for width, mode in ((390, "dark"), (1440, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        problems = opened(page, tmp_path, "profiling_parameters", NEAR, mode)
        plot = page.locator(".chart .plot")
        page.wait_for_function("e => e._fullData", arg=plot.element_handle())
        drawn(page)
        assert faults(plot) == []
        marks = plot.locator(".textpoint text").all_text_contents()
        assert set(marks) <= {str(row) for row in range(1, 9)}
        assert len(set(marks)) == len(marks) >= 6  # of points that lie upon each other, not all have room
        assert plot.evaluate("e => e.data.map(({ text }) => text)") == [str(row) for row in range(1, 9)]
        assert problems == []
    page.close()
