"""What the positions are made of, in a real browser: dragged live, lengthened, and zoomed until it is exact."""

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Visitor
from tfm_core import sinusoidal_encoding

VALUES = "e => [...e._memory.values]"


def heatmap(visitor: Visitor) -> Locator:
    return visitor.maps("encode_a")


def until(visitor: Visitor, condition: str) -> None:
    visitor.page.wait_for_function(f"e => {{ const {{ header, values }} = e._memory; return {condition} }}",
                                   arg=heatmap(visitor).element_handle())  # fmt: skip


def a_dragged_base_is_drawn_while_it_moves_and_held_when_it_is_let_go(visitor) -> None:
    heatmap(visitor)
    knob = visitor.page.get_by_role("slider", name="Base").bounding_box()
    y = knob["y"] + knob["height"] / 2
    visitor.page.mouse.move(knob["x"] + knob["width"] * 0.6, y)
    visitor.page.mouse.down()
    visitor.page.mouse.move(knob["x"] + knob["width"] * 0.3, y, steps=5)
    until(visitor, "values[2 * 6 + 2] > Math.sin(2 / 10000 ** (2 / 6)) + .1")  # a smaller base turns faster
    assert "positions_base" not in visitor.page.url
    visitor.page.mouse.up()
    visitor.page.wait_for_function("location.search.includes('positions_base=')")
    base = float(visitor.page.get_by_role("spinbutton", name="Base, exactly").input_value())
    assert 10 < base < 1000
    until(visitor, f"e._follow.shown.includes('positions_base={base:g}')")
    values = np.array(heatmap(visitor).evaluate(VALUES)).reshape(8, 6)
    assert values == pytest.approx(sinusoidal_encoding(8, 6, base=base).numpy(), abs=1e-6)
    length = visitor.page.get_by_role("slider", name="Length")
    length.focus()
    length.press("ArrowRight")
    until(visitor, "values.length === 9 * 6")
    expect(visitor.page.locator(".said", has_text="All 54 values lie from")).to_be_visible()
    box = visitor.page.get_by_role("spinbutton", name="Length, exactly")
    box.fill("-3")
    box.press("Enter")
    expect(visitor.page.get_by_text("Length: it goes from 2 to 4096 in whole numbers.")).to_be_visible()
    expect(box).to_have_value("2")
    until(visitor, "values.length === 2 * 6")


def the_largest_table_is_pooled_and_a_zoom_is_exact_and_comes_back(visitor, visit) -> None:
    foot = heatmap(visitor).locator(".exact")
    expect(foot).to_contain_text("pooled: the value furthest from 0 of 16 × 2 cells")
    canvas = heatmap(visitor).locator("canvas").bounding_box()
    corner = heatmap(visitor).evaluate("e => e._memory.layout.origins[0]")
    x, y = canvas["x"] + corner["x"], canvas["y"] + corner["y"]
    visitor.page.mouse.move(x + 200, y + 100)
    expect(heatmap(visitor).locator(".tip")).to_contain_text("furthest from 0")
    visitor.page.mouse.down()
    visitor.page.mouse.move(x + 210, y + 108, steps=3)
    visitor.page.mouse.up()
    expect(foot).to_contain_text("one cell per number")
    visitor.page.wait_for_function("location.search.includes('positions_part=')")
    until(visitor, "header.part.block[0] === 1")

    def check(where: Visitor) -> None:
        header = heatmap(where).evaluate("e => e._memory.header")
        part, values = header["part"], np.array(heatmap(where).evaluate(VALUES), np.float32)
        rows = slice(part["top"], part["top"] + part["rows"])
        expected = sinusoidal_encoding(4096, 512)[rows, part["left"] : part["left"] + part["columns"]].numpy()
        assert 0 < part["top"] < 4000
        np.testing.assert_array_equal(values.reshape(expected.shape), expected)

    check(visitor)
    walked = heatmap(visitor).locator("canvas")
    visitor.page.mouse.move(0, 0)  # away from the cells: the first press reads the window's first
    walked.focus()
    top, rows = heatmap(visitor).evaluate("e => [e._memory.header.part.top, e._memory.header.part.rows]")
    for _ in range(rows + 20):
        walked.press("ArrowDown")  # faster than parts can come
    expect(heatmap(visitor).locator(".tip")).to_contain_text(f"position {top + rows + 19:,},")
    visitor.page.wait_for_function("top => location.search.includes(`positions_part=${top}%2C`)", arg=top + 20)
    check(visitor)
    again = visit(visitor.page.url.removeprefix(visitor.address))
    until(again, "header.part.block[0] === 1")
    check(again)
    while f"positions_part={top}%2C" not in visitor.page.url:  # the walk: several acts where the page is slow
        later = visitor.page.url
        visitor.press("Undo")
        visitor.page.wait_for_function("later => location.href !== later", arg=later)
        visitor.wait()
    expect(foot).to_contain_text(f"positions {top:,}–{top + rows - 1:,} of 4,096")
    visitor.press("Undo")  # the zoom
    expect(foot).to_contain_text("pooled: the value furthest from 0 of 16 × 2 cells")


def a_wheel_is_one_act_and_a_linked_map_follows_it(visitor) -> None:
    other = visitor.page.locator(".st-key-panel_encode_b .maps")
    expect(other.locator(".exact")).to_have_text("one cell per number, drag to zoom")
    # Four turns at once: on a slow machine Playwright's own wheel is slow too, and what rests in between is two acts.
    heatmap(visitor).locator("canvas").evaluate(
        """canvas => { const box = canvas.getBoundingClientRect()
            const turn = { deltaY: -100, ctrlKey: true, bubbles: true, cancelable: true,
                clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 }
            for (let i = 0; i < 4; i++) canvas.dispatchEvent(new WheelEvent("wheel", turn)) }"""
    )
    visitor.page.wait_for_function("location.search.includes('positions_part=')")
    for values in (heatmap(visitor), other):
        visitor.page.wait_for_function("e => e._memory.header.part.rows === 16", arg=values.element_handle())
    expect(other.locator(".exact")).to_contain_text("of 64; one cell per number")
    visitor.press("Undo")  # all turns of the wheel at once
    expect(other.locator(".exact")).to_have_text("one cell per number, drag to zoom")


def test_tables_are_changed_pooled_and_zoomed(visit):
    visitor = visit("/positions?positions_length=8&positions_width=6&positions_b=nothing")
    a_dragged_base_is_drawn_while_it_moves_and_held_when_it_is_let_go(visitor)
    visitor.back_to("/positions?positions_a=learned&positions_b=sinusoidal&positions_max_len=64")
    a_wheel_is_one_act_and_a_linked_map_follows_it(visitor)
    visitor.back_to("/positions?positions_length=4096&positions_width=512&positions_b=nothing")
    the_largest_table_is_pooled_and_a_zoom_is_exact_and_comes_back(visitor, visit)
