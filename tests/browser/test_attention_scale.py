"""Charts of lines in a real browser: read by mouse and keys, and they follow the controls."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.charts import faults, hover, lines, tips
from tfm_core import scale_experiment

LINK = "/attention?attention_view=scale&attention_draws=30"


def last(plot: Locator) -> dict[str, float]:
    """The last y of each line of the first chart."""
    return {line["name"]: line["y"][-1] for line in lines(plot) if line["xaxis"] == "x"}


def said(plot: Locator) -> Locator:
    return plot.locator("xpath=..").locator(".say")


def the_mouse_reads_all_lines_at_one_width_and_all_charts_are_said(visitor) -> None:
    plot = visitor.chart("scale")
    experiment = scale_experiment([64], draws=30)
    entropy = {name: experiment.entropy[name].item() for name in ("scaled", "unscaled")}
    frames = visitor.messages_sent
    hover(plot, 64, axis="2")
    expect(said(plot)).to_contain_text("at dₖ = 64")
    expect(plot.locator(".hoverlayer .legendtext").first).to_be_visible()
    shown = tips(plot)
    assert shown[0] == "dₖ = 64"
    read = dict(line.rsplit(" : ", 1) for line in shown[1:])
    assert {name: float(read[name]) for name in entropy} == pytest.approx(entropy, rel=1e-3)
    assert "the most possible" in read
    heard = said(plot).inner_text()
    for heading in ("variance of the scores: ", "entropy of the weights, nats: ", "largest gradient, median: "):
        assert heading in heard
    assert f"unscaled: {entropy['unscaled']:.4g}" in heard
    tip = plot.locator(".hoverlayer .legend .bg").bounding_box()
    assert tip["x"] >= 0
    assert tip["x"] + tip["width"] <= 1440
    visitor.page.mouse.move(5, 5)
    expect(said(plot)).to_have_text("")
    assert visitor.messages_sent == frames


def arrow_keys_walk_the_widths_and_a_screen_reader_hears_them(visitor) -> None:
    plot = visitor.chart("scale")
    plot.focus()
    for key, width in (("ArrowRight", 1), ("ArrowRight", 2), ("End", 256), ("ArrowLeft", 128), ("Home", 1)):
        visitor.page.keyboard.press(key)
        expect(said(plot)).to_contain_text(re.compile(rf"at dₖ = {width}$"))
        expect(plot.locator(".hoverlayer text").first).to_contain_text(f"dₖ = {width}")
    assert said(plot).inner_text().count("unscaled: ") == 3  # one for each chart
    visitor.page.keyboard.press("Escape")
    expect(said(plot)).to_have_text("")
    expect(plot.locator(".hoverlayer text")).to_have_count(0)
    assert "Arrow keys read the values" in plot.get_attribute("aria-label")


def another_seed_of_the_draws_is_another_measurement_in_the_link(visitor) -> None:
    before = last(visitor.chart("scale"))
    box = visitor.page.get_by_role("spinbutton", name="Seed of the draws")
    box.fill("4")
    box.press("Enter")
    expect(visitor.page).to_have_url(re.compile("attention_draw_seed=4"))
    visitor.wait()
    expected = scale_experiment([256], draws=30, seed=4).variance.item()
    after = last(visitor.chart("scale"))
    assert after["unscaled"] == pytest.approx(expected)
    assert after["unscaled"] != before["unscaled"]
    assert after["the law: dₖ"] == before["the law: dₖ"] == 256


def charts_stand_beside_each_other_where_they_have_room_and_none_is_cut(visitor) -> None:
    plot = visitor.chart("scale")
    for width in (1440, 1024, 390):
        visitor.resize(width)
        tops = (
            "([e, tops]) => new Set([1, 2, 3].map(i => e._fullLayout[`yaxis${i > 1 ? i : ''}`]._offset)).size === tops"
        )
        visitor.page.wait_for_function(tops, arg=[plot.element_handle(), 1 if width == 1440 else 3])
        fits = "e => Math.abs(e._fullLayout.width - e.closest('[data-picture]').clientWidth) < 2"
        visitor.page.wait_for_function(fits, arg=plot.element_handle())
        assert min(plot.evaluate("e => ['', 2, 3].map(i => e._fullLayout[`xaxis${i}`]._length)")) > 150, width
        assert faults(plot) == [], width
        assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_charts_of_lines_are_read_fit_their_room_and_follow_the_controls(visit):
    visitor = visit(LINK)
    arrow_keys_walk_the_widths_and_a_screen_reader_hears_them(visitor)
    the_mouse_reads_all_lines_at_one_width_and_all_charts_are_said(visitor)
    charts_stand_beside_each_other_where_they_have_room_and_none_is_cut(visitor)
    visitor.resize(1440)
    another_seed_of_the_draws_is_another_measurement_in_the_link(visitor)
