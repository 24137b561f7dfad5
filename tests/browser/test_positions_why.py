"""Why positions work, in a real browser: hands and shifts are moved, and the numbers that are drawn follow."""

import math
import re

import pytest
from playwright.sync_api import expect

from tfm_core import sinusoidal_encoding
from tfm_core.study.position_laws import shift_error
from tfm_ui.text.colours import SIGNED


def test_the_hands_turn_while_a_slider_is_dragged_and_both_move_as_one(visit):
    visitor = visit("/positions?positions_a=rope&positions_b=nothing")
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


def test_another_shift_is_measured_anew_and_its_error_read(visit):
    visitor = visit("/positions?positions_view=why&positions_b=nothing&positions_length=300")
    lines = visitor.page.locator(".st-key-panel_positions_shift_errors .lines")
    lines.wait_for()
    slider = visitor.page.get_by_role("slider", name="Shift k")
    slider.focus()
    for _ in range(2):
        visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_function(
        "e => e._memory.header.charts[0].y.endsWith('PE(pos + 7)|')", arg=lines.element_handle()
    )
    expected = shift_error(sinusoidal_encoding(300, 64), 7)
    assert lines.evaluate("e => [...e._memory.charts[0].lines[0].y]") == pytest.approx(expected.at.tolist())
    matrix = visitor.page.locator(".st-key-panel_positions_shift_matrix .maps")
    assert matrix.evaluate("e => e._memory.values[0]") == pytest.approx(math.cos(7))
    said = visitor.page.locator(".st-key-panel_positions_shift_errors .said")
    expect(said).to_contain_text("one matrix shifts 293 positions by k = 7; the largest error is 1×10⁻⁷")
    expect(visitor.page).to_have_url(re.compile("positions_shift=7"))


def test_thousands_of_positions_are_drawn_at_once_and_read_one_by_one(visit):
    visitor = visit("/positions?positions_view=beyond&positions_a=learned&positions_b=sinusoidal&positions_length=4096")
    lines = visitor.page.locator(".st-key-panel_positions_beyond .lines")
    lines.wait_for()
    visitor.page.wait_for_function("e => e._memory?.charts?.[1].at", arg=lines.element_handle())
    took = lines.evaluate("""e => { const canvas = e.querySelector("canvas"), begin = performance.now()
        canvas.focus()
        canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "End" }))
        return performance.now() - begin }""")
    assert took < 300
    tips = lines.locator(".tip")
    expect(tips.nth(0)).to_have_text("position = 4\u202f095\nA: learned: not defined\nB: sinusoidal: 5.657")
    rows = sinusoidal_encoding(4096, 64)
    expect(tips.nth(1)).to_contain_text(f"B: sinusoidal: {(rows[-1] @ rows[47]).item():.4g}".replace("-", "−"))
    visitor.page.keyboard.press("Home")
    expect(tips.nth(0)).to_contain_text("position = 0\nA: learned: ")
    expect(tips.nth(0)).not_to_contain_text("not defined")


def test_the_map_of_all_pairs_has_the_colours_of_its_values(visit):
    visitor = visit("/positions?positions_view=why&positions_a=alibi&positions_b=nothing&positions_length=16")
    shown = visitor.maps("positions_pairs")
    pixel = """(root, [q, k]) => {
      const { layout } = root._memory, canvas = root.querySelector("canvas"), ratio = canvas.width / canvas.clientWidth
      const at = [layout.origins[0].x + (k + 0.3) * layout.cw, layout.origins[0].y + (q + 0.3) * layout.ch]
      const colour = canvas.getContext("2d").getImageData(...at.map(x => Math.round(x * ratio)), 1, 1).data
      return "#" + [...colour].slice(0, 3).map(c => c.toString(16).padStart(2, "0")).join("").toUpperCase()
    }"""
    assert shown.evaluate(pixel, [3, 3]) == SIGNED["light"][8]  # a bias of 0
    assert shown.evaluate(pixel, [0, 15]) == SIGNED["light"][0]  # the lowest of all


def test_a_mark_below_the_shortest_length_stands_on_the_axis(visit):
    visitor = visit("/masks")
    lines = visitor.page.locator(".st-key-panel_masks_growth .lines")
    lines.wait_for()
    mark, place, shortest = lines.evaluate(
        "e => { const [{ marks: [{ x }], horizontal }] = e._memory.charts; return [x, ...[x, 16].map(horizontal.to)] }"
    )
    assert (mark, place) == (10, 0)
    assert shortest > 0
