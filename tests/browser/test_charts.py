"""Charts in a real browser: what the reader zooms or switches off stays, files are made, Plotly's script comes once."""

import re

from playwright.sync_api import Locator, expect

from tests.browser.charts import ranges
from tests.browser.conftest import PHONE, Visitor
from tfm_ui.text import colours

LINK = "/attention?attention_view=scale&attention_draws=10"
SCRIPT = "plotly-basic"


def drag(plot: Locator, axis: str = "2") -> None:
    """Draw a box over the middle of one of the charts."""
    box = plot.evaluate(
        """(plot, axis) => {
            const box = plot.querySelector(".main-svg").getBoundingClientRect()
            const { [`xaxis${axis}`]: across, [`yaxis${axis}`]: up } = plot._fullLayout
            return [box.left + across._offset, box.top + up._offset, across._length, up._length] }""",
        axis,
    )
    x, y, width, height = box
    mouse = plot.page.mouse
    mouse.move(x + 0.3 * width, y + 0.3 * height)
    mouse.down()
    mouse.move(x + 0.7 * width, y + 0.7 * height, steps=5)
    mouse.up()


def tick(visitor: Visitor, seed: int) -> None:
    """Other draws: another measurement in the same charts."""
    box = visitor.page.get_by_role("spinbutton", name="Seed of the draws")
    box.fill(str(seed))
    box.press("Enter")
    expect(visitor.page).to_have_url(re.compile(f"attention_draw_seed={seed}"))
    visitor.wait()


def switched_off(plot: Locator) -> list[str]:
    """The names that the reader has switched off."""
    return plot.evaluate(
        "e => [...new Set(e._fullData.filter(t => t.visible === 'legendonly').map(t => t.name))].sort()"
    )


def what_is_zoomed_stays_as_numbers_change_and_a_double_click_brings_all_back(visitor) -> None:
    plot = visitor.chart("scale")
    whole = ranges(plot)
    drag(plot, axis="")
    zoomed = ranges(plot)
    across = ("xaxis", "xaxis2", "xaxis3")
    assert all(zoomed[axis] == zoomed["xaxis"] != whole[axis] for axis in across)  # charts of one x are zoomed together
    assert zoomed["yaxis"] != whole["yaxis"]
    assert zoomed["yaxis2"] == whole["yaxis2"]
    before = plot.evaluate("e => e.data[2].y")
    for seed in (3, 4):
        tick(visitor, seed)
        assert plot.evaluate("e => e.data[2].y") != before
        after = ranges(plot)
        assert [after[axis] for axis in (*across, "yaxis")] == [zoomed[axis] for axis in (*across, "yaxis")]
    box = plot.locator(".nsewdrag").nth(1).bounding_box()
    visitor.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    visitor.page.wait_for_function(
        """e => {
            const { layout } = e.closest("[data-picture]")._memory.header.figure
            const axes = Object.keys(layout).filter(key => /^[xy]axis/.test(key))
            return axes.every(key => `${e._fullLayout[key].range}` === `${layout[key].range}`) }""",
        arg=plot.element_handle(),
    )
    tick(visitor, 5)
    assert ranges(plot)["yaxis"] not in (zoomed["yaxis"], whole["yaxis"])  # what is not zoomed follows the numbers


def test_a_tap_reads_a_chart_and_dragging_scrolls_the_page(visit):
    visitor = visit("/positions?positions_view=beyond", **PHONE)
    plot = visitor.chart("positions_beyond")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    visitor.page.touchscreen.tap(box["x"] + 0.5 * box["width"], box["y"] + 120)
    expect(plot.locator(".hoverlayer .hovertext, .hoverlayer .legend")).not_to_have_count(0)
    expect(plot.locator("xpath=..").locator(".say")).to_contain_text("at position = ")
    assert plot.evaluate("e => e._fullLayout.dragmode") is False


def the_legend_switches_a_line_off_or_shows_it_alone_and_that_stays(visitor) -> None:
    plot = visitor.chart("scale")
    scaled = plot.locator(".legend .traces").filter(has_text=re.compile("^scaled$")).locator(".legendtoggle")
    scaled.click()
    off = "([e, n]) => new Set(e._fullData.filter(t => t.visible === 'legendonly').map(t => t.name)).size === n"
    visitor.page.wait_for_function(off, arg=[plot.element_handle(), 1])
    assert switched_off(plot) == ["scaled"]
    assert "scaled" not in " ".join(plot.locator(".annotation-text").all_text_contents()).replace("unscaled", "")
    tick(visitor, 5)
    assert switched_off(plot) == ["scaled"]
    visitor.page.wait_for_timeout(400)  # the next click is none of a double click
    scaled.click()
    visitor.page.wait_for_function(off, arg=[plot.element_handle(), 0])
    visitor.page.wait_for_timeout(400)
    scaled.dblclick()
    visitor.page.wait_for_function("([e]) => e._fullData.filter(t => t.visible === true).length === 3",
                                   arg=[plot.element_handle()])  # fmt: skip
    assert "scaled" not in switched_off(plot)
    tick(visitor, 6)
    shown = plot.evaluate("e => e._fullData.filter(t => t.visible === true).map(t => t.name)")
    assert shown == ["scaled"] * 3


def it_is_saved_as_png_and_as_svg(visitor) -> None:
    plot = visitor.chart("scale")
    for ending, begins in (("png", b"\x89PNG"), ("svg", b"<svg")):
        with visitor.page.expect_download() as download:
            plot.evaluate("(e, name) => e.closest('[data-picture]').savePicture(name)", f"scale.{ending}")
        assert download.value.suggested_filename == f"scale.{ending}"
        content = download.value.path().read_bytes()
        assert content.startswith(begins)
    assert "entropy of the weights, nats" in content.decode()


def a_chart_of_rows_is_read_by_mouse_and_by_keys(visitor) -> None:
    plot = visitor.chart("next")
    say = plot.locator("xpath=..").locator(".say")
    names = plot.evaluate("e => e.layout.yaxis.ticktext")
    plot.focus()
    last = len(names) - 1
    for key, row in (("ArrowDown", 0), ("ArrowDown", 1), ("End", last), ("ArrowUp", last - 1), ("Home", 0)):
        visitor.page.keyboard.press(key)
        expect(say).to_contain_text(f"{names[row]}: ")
    visitor.page.keyboard.press("Escape")
    expect(say).to_have_text("")
    plot.locator(".bars .point").nth(1).hover(force=True)  # Plotly reads what is below its own layer
    expect(say).to_contain_text(f"{names[1]}: ")
    expect(plot.locator(".hoverlayer .hovertext")).to_contain_text(f"{names[1]}: ")


def test_plotlys_script_is_fetched_once_where_a_chart_is_and_nowhere_else_and_rows_are_read(visit):
    visitor = visit("/heads")
    fetched = visitor.page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert [url for url in fetched if SCRIPT in url] == []
    asked: list[str] = []
    visitor.page.on("request", lambda request: asked.append(request.url))
    visitor.back_to(LINK)
    visitor.chart("scale")
    visitor.go("Positions")
    visitor.page.locator(".chart .main-svg").first.wait_for()
    visitor.go("Home")
    visitor.chart("next")
    (script,) = [url for url in asked if SCRIPT in url]
    assert script.startswith(visitor.address)
    assert not [url for url in asked if not url.startswith((visitor.address, "data:", "blob:"))]
    visitor.back_to("/?weights=random")  # whose bars are all wide enough to be pointed at
    a_chart_of_rows_is_read_by_mouse_and_by_keys(visitor)


def it_has_the_colours_of_the_page_and_follows_when_they_change(visitor) -> None:
    plot = visitor.chart("scale")
    line = "e => e._fullData.find(({ name }) => name === 'scaled').line.color.toUpperCase()"
    assert plot.evaluate(line) == colours.HEADS["light"][0].upper()
    for scheme in ("dark", "light"):
        visitor.page.emulate_media(color_scheme=scheme)
        visitor.page.wait_for_function(
            f"([e, colour]) => ({line})(e) === colour", arg=[plot.element_handle(), colours.HEADS[scheme][0].upper()]
        )
        ink, paper = plot.evaluate("""e => [getComputedStyle(e.querySelector(".legendtext")).fill,
            getComputedStyle(e.querySelector(".main-svg")).backgroundColor]""")
        dark = [sum(map(float, re.findall(r"[\d.]+", colour)[:3])) < 380 for colour in (ink, paper)]
        assert dark == [scheme == "light", scheme == "dark"]
    visitor.wait()


def test_a_chart_is_saved_coloured_zoomed_and_its_lines_switched_off(visit):
    visitor = visit(LINK)
    it_is_saved_as_png_and_as_svg(visitor)
    it_has_the_colours_of_the_page_and_follows_when_they_change(visitor)
    what_is_zoomed_stays_as_numbers_change_and_a_double_click_brings_all_back(visitor)
    the_legend_switches_a_line_off_or_shows_it_alone_and_that_stays(visitor)


def test_a_chart_out_of_view_is_not_at_rest_until_it_has_the_width_of_its_place(visit):
    visitor = visit("/positions", height=400)
    visitor.page.evaluate("() => { window.acts = []; window.requestIdleCallback = act => acts.push(act) }")
    visitor.page.set_viewport_size({"width": 900, "height": 400})
    visitor.page.wait_for_function("acts.length")
    waiting = visitor.page.locator("[data-picture]:not([data-settled])")
    expect(waiting).not_to_have_count(0)
    visitor.page.evaluate("() => { window.requestIdleCallback = act => act(); acts.forEach(act => act()) }")
    expect(waiting).to_have_count(0)
    visitor.wait()
    plots = visitor.page.locator(".chart .plot:visible")
    wide = "plots => plots.map(e => e._fullLayout.width - e.closest('[data-picture]').clientWidth)"
    assert max(plots.evaluate_all(wide)) < 2
