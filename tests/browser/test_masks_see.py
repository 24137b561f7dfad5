"""The Masks lens's composer and its paint, in a real browser."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, TimeoutError, expect

from tests.browser.conftest import Visitor
from tfm_ui.lenses.masks.see import See
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState

ITEM = "/masks?masks_item=1"


def maps(visitor: Visitor) -> Locator:
    return visitor.maps("masks_see")


STANDS = """e => { const { values, header } = e._memory, n = header.rows.names.length * header.columns.names.length
    const kept = [...values.slice(0, n)].filter(value => !isNaN(value)).length, shown = e._follow.shown
    const weight = (q, k) => values[2 * n + (q - 1) * header.columns.names.length + k - 1]
    return """


def until(visitor: Visitor, condition: str) -> None:
    """Wait for a condition on `kept`, how many pairs are kept, and `shown`, what the browser was told."""
    element = maps(visitor).element_handle()
    try:
        visitor.page.wait_for_function(f"{STANDS} {condition} }}", arg=element)
    except TimeoutError as error:
        stands = visitor.page.evaluate(f"{STANDS} [e.isConnected, kept, shown, location.search] }}", element)
        raise AssertionError(f"never: {condition}; it stands at {stands}") from error


def weights(visitor: Visitor) -> np.ndarray:
    values, side = maps(visitor).evaluate("e => [[...e._memory.values], e._memory.header.rows.names.length]")
    return np.array(values, np.float32).reshape(-1, side, side)[2]


CELL = """(e, [i, q, k]) => { const { layout } = e._memory
    return [layout.origins[i].x + (k - .5) * layout.cw, layout.origins[i].y + (q - .5) * layout.ch] }"""


def cell(visitor: Visitor, i: int, q: int, k: int) -> tuple[float, float]:
    """The middle of a cell in the window, counted from 1; of the map i, from 0."""
    x, y = maps(visitor).evaluate(
        f"""(e, at) => {{ const [x, y] = ({CELL})(e, at), edge = e.querySelector("canvas").getBoundingClientRect()
            return [edge.left + x, edge.top + y] }}""",
        [i, q, k],
    )
    return x, y


def tap(visitor: Visitor, i: int, q: int, k: int) -> None:
    """A finger on a cell, once the map stands still."""
    x, y = maps(visitor).evaluate(CELL, [i, q, k])
    maps(visitor).locator("canvas").tap(position={"x": x, "y": y})


def stroke(visitor: Visitor, *cells: tuple[int, int]) -> None:
    """Press on the mask's first of these cells, and draw on to the others."""
    visitor.page.mouse.move(*cell(visitor, 0, *cells[0]))
    visitor.page.mouse.down()
    for at in cells[1:]:
        visitor.page.mouse.move(*cell(visitor, 0, *at), steps=2)


def a_number_dragged_in_the_composer_moves_the_weights_before_it_is_let_go(visitor) -> None:
    until(visitor, "kept === 19")
    slider = visitor.page.get_by_role("slider", name="window", exact=True)
    box = slider.bounding_box()
    visitor.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] / 2)
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] / 2, steps=5)
    until(visitor, "kept > 40 && weight(10, 6) > 0")
    assert "masks_mask=window+2" in visitor.page.url
    visitor.page.mouse.up()
    visitor.page.wait_for_url(re.compile(r"masks_mask=window\+[67]"))
    expect(visitor.page.locator(".st-key-panel_masks_see .said")).not_to_contain_text("19 of 100")
    exactly = visitor.page.get_by_role("spinbutton", name="window, exactly")
    exactly.fill("3")
    exactly.press("Enter")
    until(visitor, "kept === 27")
    visitor.page.get_by_label("Add a mask").select_option("global")
    until(visitor, "kept === 3")
    visitor.page.get_by_role("button", name="and, before global").click()
    until(visitor, "kept === 34")
    visitor.page.get_by_role("button", name="Let all look ahead: switch").click()
    until(visitor, "kept === 58")
    visitor.page.wait_for_url(re.compile(r"masks_mask=window\+3\+or\+global\+1"))
    visitor.page.wait_for_url(re.compile("causal=false"))
    expect(visitor.page.get_by_role("switch", name="Causal")).not_to_be_checked()
    expect(visitor.page.locator(".st-key-panel_masks_see .said")).to_contain_text("58 of 100 pairs kept")
    result = See(ModelState(causal=False), MasksState(item=1, mask="window 3 or global 1"))
    assert weights(visitor) == pytest.approx(result.obeyed.weights, abs=1e-6)
    visitor.page.get_by_role("button", name="Remove window").press("Enter")
    until(visitor, "kept === 19")


def cells_are_painted_taken_back_and_come_with_the_link_however_slow_the_page_is(visitor, visit) -> None:
    until(visitor, "kept === 55")
    stroke(visitor, (2, 3), (4, 9))
    until(visitor, "kept > 58 && weight(2, 3) > 0 && shown.includes('masks_paint')")
    assert "masks_paint" not in visitor.page.url
    visitor.page.mouse.up()
    visitor.page.wait_for_url(re.compile("masks_paint="))
    count = visitor.page.locator(".st-key-masks_paint .note")
    expect(count).to_contain_text("7 cells painted: 7 shown.")
    visitor.wait()
    release = visitor.behind()
    until(visitor, "kept === 62")
    for row in range(7, 10):  # strokes in a row, of which the page has heard nothing
        stroke(visitor, (row, 1), (row, 3))
        visitor.page.mouse.up()
    until(visitor, "kept === 53 && weight(9, 3) === 0")
    release(2)
    expect(count).to_contain_text("16 cells painted: 7 shown and 9 hidden.")
    until(visitor, "kept === 53")
    visitor.wait()
    visitor.page.mouse.move(5, 5)
    canvas = maps(visitor).locator("canvas")
    canvas.focus()
    canvas.press("ArrowRight")
    canvas.press("Space")  # the first cell is read, and painted
    until(visitor, "kept === 52 && weight(1, 1) === 0")
    expect(visitor.page.locator(".st-key-panel_masks_see .said")).to_contain_text("Without any key: “the”")
    visitor.wait()
    again = visit(visitor.page.url.removeprefix(visitor.address), height=1100)
    until(again, "kept === 52 && weight(1, 1) === 0 && weight(9, 3) === 0 && weight(2, 3) > 0")
    visitor.press("Undo", "masks_see")
    until(visitor, "kept === 53 && weight(1, 1) > 0")
    visitor.wait()
    visitor.press("Clear", "masks_see")
    until(visitor, "kept === 55")
    expect(count).to_contain_text("No cell is painted.")
    visitor.page.mouse.move(*cell(visitor, 2, 3, 8))
    expect(maps(visitor).locator(".tip")).to_contain_text("Mask: hidden by causality (the sidebar’s switch)")


def test_a_mask_is_composed_and_painted(visit):
    visitor = visit(f"{ITEM}&masks_mask=window+2", height=1100)
    a_number_dragged_in_the_composer_moves_the_weights_before_it_is_let_go(visitor)
    visitor.back_to(f"{ITEM}&masks_mask=")
    cells_are_painted_taken_back_and_come_with_the_link_however_slow_the_page_is(visitor, visit)


def test_on_a_phone_a_finger_reads_and_paints_once_it_is_asked_to(visit):
    visitor = visit(f"{ITEM}&masks_mask=window+3", width=390, height=844, has_touch=True, is_mobile=True)
    until(visitor, "kept === 27")
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    tap(visitor, 0, 4, 3)
    expect(maps(visitor).locator(".say")).to_contain_text("Mask: may attend")
    expect(maps(visitor).locator(".tip")).to_be_hidden()  # it leaves with the finger
    until(visitor, "kept === 27")
    visitor.page.get_by_role("button", name="Paint", exact=True).tap()
    tap(visitor, 0, 4, 3)
    until(visitor, "kept === 26 && weight(4, 3) === 0")
    visitor.page.wait_for_url(re.compile("masks_paint="))
    expect(visitor.page.locator(".st-key-masks_paint .note")).to_contain_text("1 cell painted: 1 hidden.")
    for target in visitor.page.locator(".composer :is(button:visible, select)").all():
        assert target.bounding_box()["height"] >= 48
    row = visitor.page.get_by_role("button", name="Sentence 2: 5 tokens, 5 of padding")
    row.scroll_into_view_if_needed()
    row.tap()
    visitor.page.wait_for_url(re.compile(r"/masks\?(?!.*masks_item)"))
    expect(row).to_have_attribute("aria-pressed", "true")
