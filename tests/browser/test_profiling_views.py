"""The views length, parts and roofline in a real browser, with measurements made by hand: all is drawn, and it fits."""

import re

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.charts import faults
from tests.browser.test_standalone import opened
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.pictures.registry import made

DRAWN = {
    "parts": {"profiling_parts_parameters": 6, "profiling_parts_flops": 6, "profiling_parts_time": 6},
    "length": {"profiling_length_time": 5, "profiling_length_memory": 7, "profiling_length_parts": 9},
}
COUNT = """({ _fullData: all }) => all.filter(({ name, meta, type }) => type === "bar" || meta?.end !== undefined)
  .reduce((count, { type, x }) => count + (type === "bar" ? x.length : 1), 0)"""


@pytest.fixture
def measured(monkeypatch):
    """Pictures of whatever is asked for, as if it had been measured."""
    monkeypatch.setattr(measurements, "find", lambda plan, name="": plausible(plan) if plan else None)

    def answer(route: Route) -> None:
        names = route.request.url.rsplit("/", 1)[1].split("+")
        pictures = [made(name, route.request.post_data or "") for name in names]
        route.fulfill(body=b"".join(len(picture).to_bytes(4, "little") + picture for picture in pictures))

    return answer


def test_the_views_are_drawn_and_fit_a_phone_in_the_dark(visit, measured):
    visitor = visit("/heads", width=390, color_scheme="dark")
    page = visitor.page
    page.route(visitor.address + "/pictures/*", measured)
    for view, panels in DRAWN.items():
        visitor.back_to(f"/profiling?profiling_view={view}&d_ff=100&profiling_longest=512")
        for name, count in panels.items():
            plot = visitor.chart(name)
            page.wait_for_function(f"([e, n]) => ({COUNT})(e) === n", arg=[plot.element_handle(), count])
            assert plot.evaluate("e => e._fullLayout.height > 150 && e.scrollWidth <= e.clientWidth + 1")
            assert faults(plot) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    times = visitor.chart("profiling_length_time")
    times.focus()
    times.press("End")
    said = re.compile(r"forward: [\d.]+, fitted .* at length = 512$")
    expect(times.locator("xpath=..").locator(".say")).to_have_text(said)


def test_the_roofline_is_drawn_and_fits_a_phone_in_the_dark(browser: Browser, measured, tmp_path):
    page = browser.new_page(
        viewport={"width": 390, "height": 844}
    )  # a file, as its page has a table until it is measured
    problems = opened(page, tmp_path, "profiling_roofline", "profiling_view=roofline&d_ff=100", "dark")
    plot = page.locator(".chart .plot")
    page.wait_for_function("e => e._fullData?.filter(({ name }) => name).length === 7", arg=plot.element_handle())
    assert faults(plot) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert problems == []
    page.close()
