"""The large map of one head in a real browser: what it shows, and how one looks closer."""

import numpy as np
from playwright.sync_api import expect

from tests.browser.links import same
from tfm_ui.text import colours

LONG = "/heads?tokenizer=character&seq_len=700&num_layers=1&text=" + "the+quick+brown+fox+" * 35


def a_hover_names_both_tokens_and_the_exact_weight(visitor) -> None:
    weights = visitor.weights()
    sent = visitor.messages_sent
    visitor.page.mouse.move(**visitor.cell(10, 2))
    tip = visitor.page.locator(".map .tip")
    expect(tip).to_contain_text("query 10 “tired” → key 2 “cat”")
    expect(tip).to_contain_text(f"weight {weights[9][1]:.4f} = softmax(q·k / √dₖ)")
    visitor.page.mouse.move(**visitor.cell(2, 10))
    expect(tip).to_contain_text("masked: may not attend, weight 0")
    assert visitor.messages_sent == sent


def the_pixels_are_the_weights(visitor) -> None:
    weights, stops = visitor.weights(), colours.WEIGHTS["light"]
    pixels = visitor.map().evaluate(
        """e => { const { x, y, cell } = e._memory.layout, context = e.querySelector("canvas").getContext("2d")
            const pixel = (q, k) => context.getImageData(x + k * cell + 3, y + q * cell + 3, 1, 1).data
            const at = (q, k) => Array.from(pixel(q, k).slice(0, 3))
            return [...Array(8).keys()].map(q => [...Array(8).keys()].map(k => at(q, k))) }"""
    )
    for query, row in enumerate(weights):
        for key, weight in enumerate(row[: query + 1]):
            place = weight / max(map(max, weights)) * (len(stops) - 1)
            low = min(int(place), len(stops) - 2)
            ends = [[int(stop[i : i + 2], 16) for i in (1, 3, 5)] for stop in stops[low : low + 2]]
            colour = [a + (b - a) * (place - low) for a, b in zip(*ends, strict=True)]
            np.testing.assert_allclose(pixels[query][key], colour, atol=3)


def a_long_text_is_pooled_and_a_drag_zooms_to_exact_values(visitor) -> None:
    expect(visitor.map()).to_contain_text("pooled: the largest of 2 × 2 cells")
    expect(visitor.page.locator(".heads .exact")).to_contain_text("pooled: the largest of")
    start, end = visitor.cell(600, 300), visitor.cell(640, 340)
    visitor.page.mouse.move(**start)
    visitor.page.mouse.down()
    visitor.page.mouse.move(**end, steps=5)
    visitor.page.mouse.up()
    text = visitor.map().locator(".exact").inner_text()
    assert text.startswith("queries ")
    assert text.endswith("of 700; one cell per number")
    visitor.page.mouse.move(**visitor.cell(620, 320))
    expect(visitor.page.locator(".map .tip")).to_contain_text(f"weight {visitor.weights()[619][319]:.4f}")
    visitor.press("Whole")
    expect(visitor.map()).to_contain_text("pooled")
    same(visitor.weights(), visitor.page.url)


def it_can_be_read_and_zoomed_by_keyboard(visitor) -> None:
    visitor.page.mouse.move(5, 5)  # the first key reads the first cell, and not the one below the mouse
    visitor.map().locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        visitor.page.keyboard.press(key)
    tip = visitor.page.locator(".map .tip")
    expect(tip).to_contain_text("query 2 “cat” → key 2 “cat”")
    visitor.page.keyboard.press("+")
    assert visitor.map().evaluate("e => e._memory.view") == {"left": 1, "top": 1, "columns": 5, "rows": 5}
    for _ in range(5):
        visitor.page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("key 7")
    assert visitor.map().evaluate("e => e._memory.view.left") == 2
    visitor.page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    visitor.page.keyboard.press("Escape")
    assert visitor.map().evaluate("e => e._memory.view.columns") == 10


def a_zoom_stays_where_it_is_when_the_numbers_change(visitor) -> None:
    visitor.map().locator("canvas").press("+")
    before, weights = visitor.map().evaluate("e => e._memory.view"), visitor.weights()
    visitor.choose_seed(12)
    visitor.page.wait_for_function("location.search.includes('seed=12')")
    visitor.wait()
    assert visitor.weights() != weights
    assert visitor.map().evaluate("e => e._memory.view") == before


def test_the_large_map_shows_the_weights_and_is_read_and_zoomed_to_each_of_them(visit):
    visitor = visit("/heads?seq_len=8")
    the_pixels_are_the_weights(visitor)
    visitor.back_to("/heads?seq_len=10")
    a_hover_names_both_tokens_and_the_exact_weight(visitor)
    it_can_be_read_and_zoomed_by_keyboard(visitor)
    a_zoom_stays_where_it_is_when_the_numbers_change(visitor)
    visitor.map().locator("canvas").press("Escape")
    visitor.back_to(LONG)
    a_long_text_is_pooled_and_a_drag_zooms_to_exact_values(visitor)
