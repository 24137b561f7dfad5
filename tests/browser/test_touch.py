"""Pictures under a finger: tips leave with it, nothing is hidden while it paints, a tapped thumbnail shows its map."""

import re

from playwright.sync_api import CDPSession, expect

from benchmarks.streamlit_private.dom import MAIN, SIDEBAR, UNFOLD
from tests.browser.conftest import FRAMES, Visitor

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


class Finger:
    """One finger on the screen."""

    def __init__(self, visitor: Visitor) -> None:
        self.session: CDPSession = visitor.page.context.new_cdp_session(visitor.page)

    def touch(self, kind: str, *at: tuple[float, float]) -> None:
        """Put it down ("touchStart"), move it, or lift it ("touchEnd")."""
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})


def a_tip_stands_well_above_the_finger_and_leaves_with_it_and_what_was_read_stays_below(visitor) -> None:
    tip = ".map .tip"
    visitor.map().locator("canvas").scroll_into_view_if_needed()
    place, finger = visitor.cell(6, 3), Finger(visitor)
    finger.touch("touchStart", (place["x"], place["y"]))
    expect(visitor.page.locator(tip)).to_contain_text("query 6")
    box = visitor.page.locator(tip).bounding_box()
    assert not box["y"] - 20 < place["y"] < box["y"] + box["height"] + 20
    finger.touch("touchEnd")
    expect(visitor.page.locator(tip)).to_be_hidden()
    expect(visitor.page.locator(".map .say")).to_contain_text("query 6")


READ = """pictures => pictures.filter(e => e.querySelector(":scope > .read")?.offsetHeight)
  .map(({ offsetHeight, children }) => [offsetHeight, [...children].find(e => e.className === "read").textContent])"""


def read(visitor) -> list[tuple[int, str]]:
    """How high each picture of cells is, and what was read in it last."""
    return visitor.page.locator(".st-key-stage [data-picture]").evaluate_all(READ)


def what_was_tapped_stays_in_a_line_of_one_place(visitor, views: list[str]) -> None:
    """Each picture of cells is tried under a finger, after it has left, and when it has scrolled the page."""
    for path in views:
        visitor.back_to(path)
        before = read(visitor)
        assert before, path
        canvas = visitor.page.locator(".st-key-stage [data-picture]:has(.read) canvas").first
        canvas.scroll_into_view_if_needed()
        visitor.page.locator(MAIN).evaluate("e => e.scrollBy(0, 80)")
        box, finger = canvas.bounding_box(), Finger(visitor)
        places = [(x, y) for x in (0.5, 0.35, 0.7) for y in (0.5, 0.4, 0.6)]
        for x, y in places:  # until one has hit a cell
            at = (box["x"] + x * box["width"], box["y"] + y * min(box["height"], 600))
            finger.touch("touchStart", at)
            finger.touch("touchEnd")
            visitor.wait()
            after = read(visitor)
            said = [text for _, text in after if not text.startswith("Tap")]
            if said:
                break
        assert [tall for tall, _ in after] == [tall for tall, _ in before], path
        assert said, path
        assert any(sign.isdigit() for sign in said[0]), said
        visitor.page.locator(MAIN).evaluate("e => e.scrollBy(0, -40)")
        assert read(visitor) == after, path


def scrolling_takes_a_tip_away(visitor) -> None:
    visitor.map().locator("canvas").scroll_into_view_if_needed()
    place, finger = visitor.cell(6, 3), Finger(visitor)
    finger.touch("touchStart", (place["x"], place["y"]))
    expect(visitor.page.locator(".map .tip")).to_be_visible()
    visitor.page.locator(MAIN).evaluate("e => e.scrollBy(0, -40)")
    expect(visitor.page.locator(".map .tip")).to_be_hidden()
    finger.touch("touchEnd")


def a_tapped_thumbnail_brings_its_large_map_into_view(visitor) -> None:
    panel = visitor.page.locator(".st-key-panel_head")
    assert panel.bounding_box()["y"] > 0.75 * 844
    visitor.head(2, 3).tap()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    visitor.wait()
    assert 0 <= panel.bounding_box()["y"] < 200


def no_tip_hides_what_a_finger_paints(visitor) -> None:
    visitor.page.get_by_role("button", name="Paint", exact=True).tap()
    canvas = visitor.page.locator(".maps canvas").first
    canvas.scroll_into_view_if_needed()
    x, y, side = visitor.maps("masks_see").evaluate(
        """e => { const { origins: [{ x, y }], cw } = e._memory.layout
            const box = e.querySelector("canvas").getBoundingClientRect()
            return [box.left + x + cw / 2, box.top + y + cw / 2, cw] }"""
    )
    finger = Finger(visitor)
    finger.touch("touchStart", (x + 2 * side, y))
    for step in (1, 2, 3):
        finger.touch("touchMove", (x + (2 + step) * side, y))
        visitor.page.evaluate(FRAMES)  # in the first of them it is drawn
        expect(visitor.page.locator(".maps .tip").first).to_be_hidden()
    finger.touch("touchEnd")
    visitor.page.wait_for_function("location.search.includes('masks_paint=')")
    visitor.wait()
    expect(visitor.page.locator(".maps .tip").first).to_be_hidden()


def plotlys_buttons_cover_no_name_of_a_chart(visitor) -> None:
    """Training's two charts have no room for the buttons beside the first name."""
    name = visitor.page.locator(".learn .annotation-text").first.bounding_box()
    buttons = [each.bounding_box() for each in visitor.page.locator(".learn .modebar-group").all() if each.is_visible()]
    assert name
    for box in buttons:
        assert box["x"] >= name["x"] + name["width"] or box["y"] >= name["y"] + name["height"]


def a_text_asks_for_no_key_that_a_phone_lacks(visitor) -> None:
    visitor.back_to("/heads")
    visitor.page.locator(UNFOLD).tap()
    box = visitor.page.locator(f"{SIDEBAR} textarea").first
    box.focus()
    visitor.page.keyboard.type(" dog")
    expect(box).to_have_value(re.compile("dog"))
    advice = visitor.page.get_by_text("Press Ctrl+Enter")
    expect(advice).to_have_count(1)  # Streamlit's
    expect(advice).to_be_hidden()


def test_pictures_under_a_finger(visit):
    visitor = visit("/heads", **PHONE)
    a_tapped_thumbnail_brings_its_large_map_into_view(visitor)
    a_tip_stands_well_above_the_finger_and_leaves_with_it_and_what_was_read_stays_below(visitor)
    scrolling_takes_a_tip_away(visitor)
    what_was_tapped_stays_in_a_line_of_one_place(
        visitor, ["/heads", "/masks", "/attention?attention_view=change", "/training"]
    )
    plotlys_buttons_cover_no_name_of_a_chart(visitor)
    visitor.back_to("/masks")
    no_tip_hides_what_a_finger_paints(visitor)
    a_text_asks_for_no_key_that_a_phone_lacks(visitor)
