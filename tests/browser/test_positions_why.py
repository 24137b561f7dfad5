"""Why positions work, in a real browser: hands and shifts are moved, and the numbers that are drawn follow."""

import math
import re

import pytest
from playwright.sync_api import expect

from tests.browser.charts import lines, tips
from tfm_core import sinusoidal_encoding
from tfm_core.study.position_laws import shift_error
from tfm_ui.text.colours import SIGNED

WHY, BEYOND = "/positions?positions_view=why", "/positions?positions_view=beyond"


def the_hands_turn_while_a_slider_is_dragged_and_both_move_as_one(visitor) -> None:
    clocks = visitor.page.locator(".clocks")
    clocks.wait_for()
    hands = "(e, at) => e._memory?.header?.at.query === at.query && e._memory.header.at.key === at.key"

    def stand(query: int, key: int) -> list[float]:
        visitor.page.wait_for_function(
            f"([e, at]) => ({hands})(e, at)", arg=[clocks.element_handle(), {"query": query, "key": key}]
        )
        return clocks.evaluate("e => [...e._memory.clocks[1].hands]")

    theta = 10000 ** (-2 / 64)
    assert stand(12, 4)[:2] == pytest.approx([math.cos(12 * theta), math.sin(12 * theta)], abs=1e-5)
    frames = visitor.messages_sent
    slider = clocks.locator(".query input")
    box = slider.bounding_box()
    visitor.page.mouse.move(box["x"] + 8 + (box["width"] - 16) * 12 / 63, box["y"] + box["height"] / 2)
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] + box["width"], box["y"] + box["height"] / 2, steps=4)
    dragged = stand(63, 4)
    assert dragged[:2] == pytest.approx([math.cos(63 * theta), math.sin(63 * theta)], abs=1e-4)
    assert dragged[4] == pytest.approx(59 * theta, rel=1e-5)
    assert visitor.messages_sent == frames
    visitor.page.mouse.up()
    expect(visitor.page).to_have_url(re.compile("positions_position=63"))
    clocks.get_by_role("button", name="Move both").click()
    slider.focus()
    visitor.page.keyboard.press("ArrowLeft")
    assert stand(62, 3)[4] == pytest.approx(59 * theta, rel=1e-5)
    expect(visitor.page).to_have_url(re.compile("positions_position=62.*positions_key=3"))
    expect(visitor.page.locator(".st-key-panel_clocks_a .said")).to_contain_text("Query at m = 62, key at n = 3")


def another_shift_is_measured_anew_and_its_error_read(visitor) -> None:
    plot = visitor.chart("positions_shift_errors")
    slider = visitor.page.get_by_role("slider", name="Shift k")
    slider.focus()
    for _ in range(2):
        visitor.page.keyboard.press("ArrowRight")
    heading = "e => e.layout.annotations.some(({ text }) => text.includes('PE(pos + 7)|'))"
    visitor.page.wait_for_function(heading, arg=plot.element_handle())
    expected = shift_error(sinusoidal_encoding(300, 64), 7)
    assert lines(plot)[0]["y"] == pytest.approx(expected.at.tolist())
    said = visitor.page.locator(".st-key-panel_positions_shift_errors .said")
    expect(said).to_contain_text("one matrix shifts 293 positions by k = 7; the largest error is 1×10⁻⁷")
    expect(visitor.page).to_have_url(re.compile("positions_shift=7"))
    visitor.back_to(f"{WHY}&positions_claim=shift matrix&positions_b=nothing&positions_shift=7")
    matrix = visitor.maps("positions_shift_matrix")
    assert matrix.evaluate("e => e._memory.values[0]") == pytest.approx(math.cos(7))


def thousands_of_positions_are_drawn_at_once_and_read_one_by_one(visitor) -> None:
    plot = visitor.chart("positions_beyond")
    say = plot.locator("xpath=..").locator(".say")
    press = """e => { const begin = performance.now()
        e.focus()
        e.dispatchEvent(new KeyboardEvent("keydown", { key: "End", bubbles: true }))
        return performance.now() - begin }"""
    took = min(plot.evaluate(press) for _ in range(3))  # something else may have had the machine meanwhile
    assert took < 300
    rows = sinusoidal_encoding(4096, 64)
    product = f"{(rows[-1] @ rows[47]).item():.4g}".replace("-", "−")
    expect(say).to_have_text(
        "norm: A: learned: not defined, B: sinusoidal: 5.657; "
        f"dot product with position 47: A: learned: not defined, B: sinusoidal: {product} at position = 4,095"
    )
    assert tips(plot)[0] == "position = 4,095"
    visitor.page.keyboard.press("Home")
    expect(say).to_contain_text("norm: A: learned: ")
    expect(say).to_contain_text(re.compile("at position = 0$"))
    expect(say).not_to_contain_text("not defined")


def the_map_of_all_pairs_has_the_colours_of_its_values(visitor) -> None:
    shown = visitor.maps("positions_pairs")
    pixel = """(root, [q, k]) => {
      const { layout } = root._memory, canvas = root.querySelector("canvas"), ratio = canvas.width / canvas.clientWidth
      const at = [layout.origins[0].x + (k + 0.3) * layout.cw, layout.origins[0].y + (q + 0.3) * layout.ch]
      const colour = canvas.getContext("2d").getImageData(...at.map(x => Math.round(x * ratio)), 1, 1).data
      return "#" + [...colour].slice(0, 3).map(c => c.toString(16).padStart(2, "0")).join("").toUpperCase()
    }"""
    assert shown.evaluate(pixel, [3, 3]) == SIGNED["light"][8]  # a bias of 0
    assert shown.evaluate(pixel, [0, 15]) == SIGNED["light"][0]  # the lowest of all


def a_mark_below_the_shortest_length_stands_on_the_axis(visitor) -> None:
    plot = visitor.chart("masks_growth")
    mark, place, shortest = plot.evaluate("""({ layout, _fullLayout: { xaxis } }) => {
        const [{ x0: mark }] = layout.shapes
        return [mark, xaxis.d2p(mark) / xaxis._length, xaxis.d2p(16) / xaxis._length] }""")
    assert mark == 10
    assert 0 < place < 0.05 < shortest


def test_hands_shifts_pairs_and_what_lies_beyond_are_moved_and_read(visit):
    visitor = visit("/positions?positions_a=rope&positions_b=nothing")
    the_hands_turn_while_a_slider_is_dragged_and_both_move_as_one(visitor)
    visitor.back_to(f"{WHY}&positions_claim=shift error&positions_b=nothing&positions_length=300")
    another_shift_is_measured_anew_and_its_error_read(visitor)
    visitor.back_to(f"{WHY}&positions_a=alibi&positions_b=nothing&positions_length=16")
    the_map_of_all_pairs_has_the_colours_of_its_values(visitor)
    visitor.back_to(f"{BEYOND}&positions_a=learned&positions_b=sinusoidal&positions_length=4096")
    thousands_of_positions_are_drawn_at_once_and_read_one_by_one(visitor)
    visitor.back_to("/masks")
    a_mark_below_the_shortest_length_stands_on_the_axis(visitor)
