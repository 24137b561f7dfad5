"""Charts of lines in a real browser: read by mouse and keys, and they follow the controls."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import NO_MOTION
from tfm_core import scale_experiment

LINK = "/attention?attention_view=scale&attention_draws=30"


def charts(visitor):
    """What the picture was drawn from, once it is."""
    lines = visitor.page.locator(".lines")
    lines.wait_for()
    visitor.page.wait_for_function("e => e._memory?.charts?.[0].at", arg=lines.element_handle())
    return lines


def ends(visitor) -> list[float]:
    """The last y of each line of the first chart."""
    return charts(visitor).evaluate("e => e._memory.charts[0].lines.map(line => line.y.at(-1))")


def test_the_mouse_reads_all_lines_of_all_charts_at_one_width(visit):
    visitor = visit(LINK)
    lines = charts(visitor)
    at = lines.evaluate("""e => {
        const chart = e._memory.charts[1], box = e.querySelector("canvas").getBoundingClientRect()
        return { x: box.left + chart.at(64, 1)[0] + 3, y: box.top + chart.top + 20 } }""")
    visitor.page.mouse.move(**at)
    experiment = scale_experiment([64], draws=30)
    tips = lines.locator(".tip").all_inner_texts()
    assert len(tips) == 3
    assert all(tip.startswith("dₖ = 64\n") for tip in tips)
    shown = [float(line.split(": ")[1]) for line in tips[1].split("\n") if line.startswith(("scaled", "unscaled"))]
    assert shown == pytest.approx([experiment.entropy[name].item() for name in ("scaled", "unscaled")], rel=1e-3)
    frames = visitor.messages_sent
    visitor.page.mouse.move(at["x"], at["y"] - 250)
    expect(lines.locator(".tip").first).to_be_hidden()
    assert visitor.messages_sent == frames


def test_arrow_keys_walk_the_widths_and_a_screen_reader_hears_them(visit):
    visitor = visit(LINK)
    lines = charts(visitor)
    lines.locator("canvas").focus()
    for key, width in (("ArrowRight", 1), ("ArrowRight", 2), ("End", 256), ("ArrowLeft", 128), ("Home", 1)):
        visitor.page.keyboard.press(key)
        expect(lines.locator(".say")).to_contain_text(f"at dₖ = {width}")
    assert lines.locator(".say").inner_text().count(" at dₖ = 1") == 3
    visitor.page.keyboard.press("Escape")
    expect(lines.locator(".say")).to_have_text("")
    assert "Arrow keys read the values" in lines.locator("canvas").get_attribute("aria-label")


def test_another_seed_of_the_draws_is_another_measurement_in_the_link(visit):
    visitor = visit(LINK)
    before = ends(visitor)
    box = visitor.page.get_by_role("spinbutton", name="Seed of the draws")
    box.fill("4")
    box.press("Enter")
    visitor.page.wait_for_function(
        "([e, before]) => e._memory.charts[0].lines[2].y.at(-1) !== before",
        arg=[charts(visitor).element_handle(), before[2]],
    )
    expected = scale_experiment([256], draws=30, seed=4).variance.item()
    assert ends(visitor)[2] == pytest.approx(expected)
    visitor.wait()
    expect(visitor.page).to_have_url(re.compile("attention_draw_seed=4"))


def test_charts_stand_beside_each_other_where_they_have_room_and_none_is_cut(visit):
    visitor = visit(LINK)
    lines = charts(visitor)
    room = lines.evaluate("e => e.clientWidth")
    for width in (1440, 1024, 390):
        visitor.page.set_viewport_size({"width": width, "height": 900})
        narrower = "([e, before]) => innerWidth === 1440 || e.clientWidth < before"
        visitor.page.wait_for_function(narrower, arg=[lines.element_handle(), room])
        visitor.page.wait_for_function(NO_MOTION)  # the sidebar folds, and what is drawn follows
        visitor.wait()
        rows = "([e, rows]) => new Set(e._memory.charts.map(chart => chart.y0)).size === rows"
        visitor.page.wait_for_function(rows, arg=[lines.element_handle(), 1 if width == 1440 else 3])
        places = lines.evaluate("e => e._memory.charts.map(c => [c.x0, c.each, c.width, e.clientWidth])")
        room = places[0][-1]
        assert all(x + each <= room + 1 and plot > 150 for x, each, plot, _ in places), width
        assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
