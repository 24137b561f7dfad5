"""Pictures under a finger: tips leave with it, nothing is hidden while it paints, a tapped thumbnail shows its map."""

from playwright.sync_api import CDPSession, expect

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


def scrolling_takes_a_tip_away(visitor) -> None:
    visitor.map().locator("canvas").scroll_into_view_if_needed()
    place, finger = visitor.cell(6, 3), Finger(visitor)
    finger.touch("touchStart", (place["x"], place["y"]))
    expect(visitor.page.locator(".map .tip")).to_be_visible()
    visitor.page.locator(".stMain").evaluate("e => e.scrollBy(0, -40)")
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


def test_pictures_under_a_finger(visit):
    visitor = visit("/heads", **PHONE)
    a_tapped_thumbnail_brings_its_large_map_into_view(visitor)
    a_tip_stands_well_above_the_finger_and_leaves_with_it_and_what_was_read_stays_below(visitor)
    scrolling_takes_a_tip_away(visitor)
    visitor.back_to("/masks")
    no_tip_hides_what_a_finger_paints(visitor)
