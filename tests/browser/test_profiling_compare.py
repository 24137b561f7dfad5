"""A small measurement in a real browser: every run is drawn, read by keyboard, fits a phone, and comes back by link."""

from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visitor

QUERY = "profiling_sizes=8,2,1,4%0A8,2,1,6&profiling_rounds=3&profiling_batch=1&profiling_backward=false"


def strips(visitor: Visitor, panel: str) -> Locator:
    picture = visitor.page.locator(f".st-key-panel_profiling_{panel} .strips")
    picture.wait_for(timeout=60_000)
    visitor.page.wait_for_function("e => e._memory?.strips && e.querySelector('canvas').height > 60",
                                   arg=picture.element_handle())  # fmt: skip
    return picture


def dots(picture: Locator) -> list[list[float]]:
    return picture.evaluate("e => e._memory.strips.map(strip => strip.dots)")


NEAR = "profiling_sizes=128,8,4,1%0A128,8,4,2&profiling_batch=1&profiling_targets=with+weights,LSTM,GRU,convolution"


def points(visitor: Visitor) -> Locator:
    picture = visitor.page.locator(".st-key-panel_profiling_parameters .lines")
    picture.wait_for(timeout=60_000)
    visitor.page.wait_for_function("e => e._memory?.charts?.[0].left", arg=picture.element_handle())
    return picture


def test_points_bear_their_rows_number_no_ring_stands_beside_them_and_no_tick_is_cut_off(visit):
    for width, scheme in ((390, "dark"), (1440, "light")):
        visitor = visit(f"/profiling?{NEAR}", width=width, color_scheme=scheme)
        picture = points(visitor)
        first, marks = picture.evaluate(
            """e => { const c = e._memory.charts[0], context = e.querySelector("canvas").getContext("2d")
                context.font = "13px " + getComputedStyle(e).fontFamily
                const grouped = String(c.horizontal.ticks[0]).replace(/(?=(...)+$)/g, "\u202f").trim()
                const middle = c.left + c.horizontal.to(c.horizontal.ticks[0]) * c.width
                return [middle - context.measureText(grouped).width / 2 - c.x0, c.lines.map(line => line.mark)] }"""
        )
        assert first >= -0.5
        assert marks == [str(row) for row in range(1, 9)]
        runs = picture.evaluate(
            """e => { // how long the strokes of colour are, down the middle of what stands before names above the axis
                const c = e._memory.charts[0], canvas = e.querySelector("canvas"), k = devicePixelRatio
                const x = Math.round((c.left + c.width + 12) * k), y = Math.round((c.top - 12) * k)
                const { data } = canvas.getContext("2d").getImageData(x, y, 1, Math.round((c.height + 12) * k))
                const paper = canvas.getContext("2d").getImageData(1, 1, 1, 1).data, runs = []
                for (let i = 0, run = 0; i < data.length; i += 4) {
                    const drawn = [0, 1, 2].some(n => Math.abs(data[i + n] - paper[n]) > 40)
                    if (drawn) run++
                    else { if (run) runs.push(run / k); run = 0 }
                }
                return runs }"""
        )
        assert len(runs) == 8  # one for each name: a ring has two
        assert all(run > 6 for run in runs)


def test_what_was_measured_is_drawn_read_by_keyboard_and_comes_back_by_its_link(visit):
    visitor = visit(f"/profiling?{QUERY}", width=390, height=844)
    visitor.press("Measure")
    visitor.page.wait_for_function("location.search.includes('profiling_run=')", timeout=60_000)
    picture = strips(visitor, "times")
    tip, canvas = picture.locator(".tip"), picture.locator("canvas")
    canvas.press("ArrowDown")
    expect(tip).to_contain_text("1 · with weights, forward: ")
    canvas.press("ArrowDown")
    expect(tip).to_contain_text("2 · with weights, forward: ")
    measured = dots(picture)
    if measured[1]:  # on a busy machine there may be no clean block
        canvas.press("ArrowRight")
        expect(tip).to_contain_text("2 · with weights, round ")
        expect(tip).to_contain_text(" ms")
    canvas.press("Escape")
    expect(tip).to_be_hidden()
    if measured[0]:
        ratios = strips(visitor, "ratios")
        ratios.locator("canvas").press("Home")
        expect(ratios.locator(".tip")).to_contain_text("over row 1: ")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") == 390
    again = visit(visitor.page.url.removeprefix(visitor.address))
    assert dots(strips(again, "times")) == measured
