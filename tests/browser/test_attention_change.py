"""Change it and see, in a real browser: lock a cell, drag its weight, pin, and come back from the link."""

from playwright.sync_api import Locator, expect

from tests.browser.conftest import PHONE, Visitor

CHANGE, CONTRIBUTION = "/attention?attention_view=change", "/attention?attention_view=contribution"
HOVERED = "e => [e._memory.at?.q, e._memory.at?.k]"


def maps(visitor: Visitor, panel: str = "change_weights") -> Locator:
    return visitor.maps(panel)


def cell(visitor: Visitor, number: int, query: int, key: int, panel: str = "change_weights") -> dict[str, float]:
    """Where the middle of a map's cell is, rows and columns from 1."""
    return maps(visitor, panel).evaluate(
        """(e, [i, q, k]) => { const { layout, view } = e._memory, canvas = e.querySelector("canvas")
            canvas.scrollIntoView({ block: "center" })
            const box = canvas.getBoundingClientRect(), { origins, cw, ch } = layout
            return { x: box.left + origins[i].x + (k - .5 - view.left) * cw,
                     y: box.top + origins[i].y + (q - .5 - view.top) * ch } }""",
        [number, query, key],
    )


def value(visitor: Visitor, number: int, query: int, key: int) -> float:
    return maps(visitor).evaluate(
        """(e, [i, q, k]) => { const { header, values } = e._memory, n = header.rows.names.length
            return values[(i * n + q - 1) * n + k - 1] }""",
        [number, query, key],
    )


def drag(visitor: Visitor, *shares: float) -> None:
    """The slider of the locked weight, by mouse, without letting go."""
    box = maps(visitor).locator("input").bounding_box()
    visitor.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    visitor.page.mouse.down()
    for share in shares:
        visitor.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2, steps=4)
        visitor.page.wait_for_timeout(60)


def a_hover_is_read_in_all_three_maps_and_sends_nothing(visitor) -> None:
    at = cell(visitor, 1, 6, 2)
    visitor.wait()
    sent = visitor.messages_sent
    visitor.page.mouse.move(**at)
    tip = maps(visitor).locator(".tip").inner_text()
    assert "query 6 “mat” → key 2 “cat”" in tip
    assert "B: 1 change: 0.9000" in tip
    assert f"B − A: +{value(visitor, 2, 6, 2):.4f}" in tip
    assert visitor.messages_sent == sent


def a_locked_weight_is_dragged_and_a_leak_appears_while_dragging(visitor: Visitor, again: Visitor) -> None:
    visitor.back_to(f"{CHANGE}&attention_changes=silence+1.2")
    visitor.page.mouse.click(**cell(visitor, 1, 3, 8))
    visitor.page.wait_for_function("location.search.includes('attention_key=8')")
    visitor.wait()
    visitor.page.wait_for_function("e => e._memory.header.picked + '' === '2,7'", arg=maps(visitor).element_handle())
    drag(visitor, 0.3, 0)
    asks_for_a_weight = "e => e._follow.shown.includes('weight')"
    visitor.page.wait_for_function(asks_for_a_weight, arg=maps(visitor).element_handle())
    visitor.page.mouse.up()  # where it began: nothing was changed
    visitor.wait()
    assert not maps(visitor).evaluate(asks_for_a_weight)
    drag(visitor, 0.3, 0.6, 0.8)
    visitor.page.wait_for_function("e => e._memory.header.crosses.length === 2", arg=maps(visitor).element_handle())
    assert "weight" not in visitor.page.url
    visitor.page.mouse.up()
    visitor.page.wait_for_function("location.search.includes('weight')")
    visitor.page.locator(".said", has_text="A leak in B, layer 1, head 1: “sat” sees “it”").wait_for()
    shown = float(maps(visitor).locator("output").inner_text())
    assert 0.6 < shown < 0.95
    assert abs(value(visitor, 1, 3, 8) - shown) < 1e-6
    again.back_to(visitor.page.url.removeprefix(visitor.address))
    assert abs(value(again, 1, 3, 8) - shown) < 1e-6
    again.page.locator(".said", has_text="A leak in B, layer 1, head 1: “sat” sees “it”").wait_for()
    expect(again.page.locator("[class*=st-key-_done_]")).to_have_count(2)


def test_three_maps_are_read_weights_are_dragged_and_what_is_changed_or_nothing_comes_back_by_link(visit):
    visitor = visit(CHANGE)
    a_hover_is_read_in_all_three_maps_and_sends_nothing(visitor)
    maps_are_read_and_locked_by_keyboard(visitor)
    visitor.back_to(CHANGE)
    visitor.page.locator(".st-key-change_done button").first.click()
    visitor.page.locator(".said", has_text="A and B are the same").wait_for()
    again = visit(visitor.page.url.removeprefix(visitor.address))
    again.page.locator(".said", has_text="A and B are the same").wait_for()
    visitor.press("Undo")
    visitor.page.locator(".said", has_text="Largest difference: “mat” looks at “cat”").wait_for()
    a_locked_weight_is_dragged_and_a_leak_appears_while_dragging(visitor, again)
    visitor.back_to(f"{CONTRIBUTION}&text=@alice&seq_len=700&num_layers=1&num_heads=1")
    a_long_text_is_pooled_and_a_drag_zooms_both_maps(visitor)


def maps_are_read_and_locked_by_keyboard(visitor) -> None:
    visitor.page.mouse.move(5, 5)
    maps(visitor).locator("canvas").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        visitor.page.keyboard.press(key)
    assert maps(visitor).evaluate(HOVERED) == [1, 1]
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_function("location.search.includes('attention_query=2')")
    visitor.page.get_by_text("Drag: “cat” looks at “cat” in B with").wait_for()
    visitor.page.keyboard.press("Escape")
    expect(maps(visitor).locator(".tip")).to_be_hidden()


def test_on_a_phone_maps_stand_below_each_other_and_a_tap_locks(visit):
    visitor = visit(CONTRIBUTION, **PHONE)
    origins = maps(visitor, "contribution").evaluate("e => e._memory.layout.origins")
    assert origins[1]["y"] > origins[0]["y"]
    assert abs(origins[1]["x"] - origins[0]["x"]) < 1
    at = cell(visitor, 1, 9, 2, "contribution")
    visitor.page.touchscreen.tap(at["x"], at["y"])
    visitor.page.get_by_role("heading", name="The row of “was”").wait_for()
    assert visitor.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def a_long_text_is_pooled_and_a_drag_zooms_both_maps(visitor) -> None:
    expect(maps(visitor, "contribution")).to_contain_text("pooled: the largest of")
    visitor.wait()
    start, end = cell(visitor, 0, 400, 300, "contribution"), cell(visitor, 0, 430, 330, "contribution")
    visitor.page.mouse.move(**start)
    visitor.page.mouse.down()
    visitor.page.mouse.move(**end, steps=4)
    visitor.page.mouse.up()
    expect(maps(visitor, "contribution")).to_contain_text("of 700; one cell per number")
    visitor.page.mouse.move(**cell(visitor, 1, 410, 310, "contribution"))
    tip = maps(visitor, "contribution").locator(".tip").inner_text()
    assert "query 410 " in tip
    assert "What it writes: ‖a v Wᴼ‖: " in tip
    assert "attention_query" not in visitor.page.url
