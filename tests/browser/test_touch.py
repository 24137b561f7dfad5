"""Pictures under a finger: tips leave with it, nothing is hidden while it paints, a tapped thumbnail shows its map."""

from playwright.sync_api import CDPSession, Route, expect

from tests.browser.conftest import Visitor

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}


class Finger:
    """One finger on the screen."""

    def __init__(self, visitor: Visitor) -> None:
        self.session: CDPSession = visitor.page.context.new_cdp_session(visitor.page)

    def touch(self, kind: str, *at: tuple[float, float]) -> None:
        """Put it down ("touchStart"), move it, or lift it ("touchEnd")."""
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})


def test_a_tip_stands_well_above_the_finger_and_leaves_with_it_and_what_was_read_stays_below(visit):
    visitor, tip = visit("/heads", **PHONE), ".map .tip"
    visitor.map().locator("canvas").scroll_into_view_if_needed()
    place, finger = visitor.cell(6, 3), Finger(visitor)
    finger.touch("touchStart", (place["x"], place["y"]))
    expect(visitor.page.locator(tip)).to_contain_text("query 6")
    box = visitor.page.locator(tip).bounding_box()
    assert not box["y"] - 20 < place["y"] < box["y"] + box["height"] + 20
    finger.touch("touchEnd")
    expect(visitor.page.locator(tip)).to_be_hidden()
    expect(visitor.page.locator(".map .say")).to_contain_text("query 6")


def test_scrolling_takes_a_tip_away(visit):
    visitor = visit("/heads", **PHONE)
    visitor.map().locator("canvas").scroll_into_view_if_needed()
    place, finger = visitor.cell(6, 3), Finger(visitor)
    finger.touch("touchStart", (place["x"], place["y"]))
    expect(visitor.page.locator(".map .tip")).to_be_visible()
    visitor.page.locator(".stMain").evaluate("e => e.scrollBy(0, -40)")
    expect(visitor.page.locator(".map .tip")).to_be_hidden()
    finger.touch("touchEnd")


def test_a_tapped_thumbnail_brings_its_large_map_into_view(visit):
    visitor = visit("/heads", reduced_motion="reduce", **PHONE)
    panel = visitor.page.locator(".st-key-panel_head")
    assert panel.bounding_box()["y"] > 0.75 * 844
    visitor.head(2, 3).tap()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    visitor.wait()
    assert 0 <= panel.bounding_box()["y"] < 200


def test_no_tip_hides_what_a_finger_paints(visit):
    visitor = visit("/masks", **PHONE)
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
        visitor.page.wait_for_timeout(100)
        expect(visitor.page.locator(".maps .tip").first).to_be_hidden()
    finger.touch("touchEnd")
    visitor.page.wait_for_function("location.search.includes('masks_paint=')")
    visitor.wait()
    expect(visitor.page.locator(".maps .tip").first).to_be_hidden()


def test_an_old_picture_stays_while_a_new_one_is_fetched_and_is_marked_if_that_takes_long(visit):
    visitor = visit("/heads?seed=3")
    before = visitor.weights()
    held = []

    def hold(route: Route) -> None:
        held.append(route)

    visitor.page.route(visitor.address + "/pictures/*", hold)
    visitor.choose_seed(12)
    expect(visitor.map()).to_have_attribute("aria-busy", "true")
    assert visitor.weights() == before
    assert visitor.map().evaluate("e => e.querySelector('canvas').height") > 100
    for route in held:
        route.continue_()
    visitor.page.unroute(visitor.address + "/pictures/*", hold)
    expect(visitor.map()).not_to_have_attribute("aria-busy", "true")
    visitor.wait()
    assert visitor.weights() != before


def test_playing_has_a_speed_that_is_kept_and_is_in_no_link(visit):
    visitor = visit("/attention?attention_whole=false&attention_step=query")
    speed = visitor.page.get_by_label("Speed of playing")
    assert speed.locator("option").all_inner_texts() == ["×0.25", "×0.5", "×1", "×2"]
    expect(speed).to_have_value("1")
    speed.select_option("2")
    link = visitor.page.url
    visitor.press("Play")
    for step in ("key", "value", "scores"):
        visitor.page.get_by_role("tab", name=step, exact=True, selected=True).wait_for()
        expect(speed).to_have_value("2")
    visitor.press("Pause")
    visitor.wait()
    assert visitor.page.url.replace("scores", "query") == link
