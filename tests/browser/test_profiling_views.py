"""The views length, parts and roofline in a real browser, with measurements made by hand: all is drawn, and it fits."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling import measurements
from tfm_ui.pictures.registry import made

DRAWN = {
    "parts": {"profiling_parts_parameters": 6, "profiling_parts_flops": 6, "profiling_parts_time": 6},
    "roofline": {"profiling_roofline": 7},
    "length": {"profiling_length_time": 5, "profiling_length_memory": 7, "profiling_length_parts": 9},
}
COUNT = """e => e._memory?.charts?.flatMap(c => c.lines).filter(l => l.name).length ?? e._memory?.shares?.length"""


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
        visitor.open(f"/profiling?profiling_view={view}&d_ff=100&profiling_longest=512")
        for name, count in panels.items():
            picture = page.locator(f".st-key-panel_{name} [data-picture]")
            picture.wait_for()
            page.wait_for_function(f"([e, n]) => ({COUNT})(e) === n", arg=[picture.element_handle(), count])
            assert picture.evaluate("e => e.querySelector('canvas').height > 200 && e.scrollWidth <= e.clientWidth + 1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
    times = page.locator(".st-key-panel_profiling_length_time [data-picture]")
    times.locator("canvas").focus()
    times.locator("canvas").press("End")
    expect(times.locator(".say")).to_have_text(re.compile(r"forward: [\d.]+, fitted .* at length = 512$"))
