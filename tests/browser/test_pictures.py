"""Pictures come ahead of the page, and end where the page ends."""

from playwright.sync_api import Request, Route, expect

from tests.browser.links import same

AGREE = """() => [...document.querySelectorAll(".st-key-num_heads *")]
  .map(({ shadowRoot }) => shadowRoot?.querySelector("input")).find(Boolean)?.ariaValueText
  === (new URLSearchParams(location.search).get("num_heads") ?? "4")"""


def heads_on(visitor) -> tuple[str, str, str]:
    """How many heads a layer has by the address, by the slider, and by the title of the grid."""
    address = visitor.page.evaluate("new URLSearchParams(location.search).get('num_heads') || '4'")
    slider = visitor.page.get_by_role("slider", name="Heads").get_attribute("aria-valuetext")
    title = visitor.page.locator(".st-key-panel_grid h2").inner_text()
    return address, slider, str(int(title.split()[1]) // 2)


def after_fast_key_presses_address_slider_page_and_picture_agree(visitor) -> None:
    slider = visitor.page.get_by_role("slider", name="Heads")
    for keys in ("RLRLR", "LLRRL", "RRLLR", "LRRRL", "RLLRR"):
        slider.focus()
        for key in keys:
            slider.press({"R": "ArrowRight", "L": "ArrowLeft"}[key])
            visitor.page.wait_for_timeout(30)
        visitor.page.wait_for_timeout(300)  # until the row of presses has ended
        visitor.page.wait_for_function(AGREE)
        visitor.wait()
        assert len(set(heads_on(visitor))) == 1, heads_on(visitor)
        same(visitor.weights(), visitor.page.url)


def the_pictures_are_asked_for_before_the_page_is(visitor) -> None:
    visitor.weights()
    visitor.wait()
    asked, sent = [], visitor.messages_sent

    def hear(request: Request) -> None:
        if "/pictures/" in request.url:  # on a slow machine, scripts that wait until the page is idle come as late
            asked.append((request.url, request.post_data, visitor.messages_sent))

    visitor.page.on("request", hear)
    visitor.page.get_by_role("slider", name="Tokens").press("ArrowLeft")
    visitor.page.wait_for_function("location.search.includes('seq_len=9')")
    visitor.wait()
    address, query, frames = asked[0]
    assert set(address.removeprefix(visitor.address + "/pictures/").split("+")) == {"heads", "head", "heads.words"}
    assert (query, frames) == ("seq_len=9", sent)
    assert visitor.messages_sent > sent
    assert len(asked) == 1  # the page, when it came, found its pictures there
    same(visitor.weights(), visitor.page.url)


def a_picture_that_was_lost_on_the_way_is_asked_for_again(visitor) -> None:
    visitor.weights()
    lost = []

    def lose(route):
        lost.append(1)
        if len(lost) <= 2:
            route.abort()
        else:
            route.continue_()

    visitor.page.route(visitor.address + "/pictures/*", lose)
    visitor.page.get_by_role("slider", name="Layers").press("ArrowRight")
    visitor.page.locator(".cells .row").nth(2).wait_for()
    assert len(lost) > 2
    visitor.page.unroute(visitor.address + "/pictures/*", lose)
    visitor.wait()
    visitor.problems[:] = [problem for problem in visitor.problems if "ERR_FAILED" not in problem]  # the browser's own


def an_old_picture_stays_while_a_new_one_is_fetched_and_is_marked_if_that_takes_long(visitor) -> None:
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


def a_pointer_may_move_between_an_update_and_its_drawing(visitor, picture: str, script: str) -> None:
    element = visitor.page.locator(picture).first
    element.wait_for()
    visitor.page.wait_for_function("e => e._follow?.last", arg=element.element_handle())
    element.evaluate(
        """async (e, script) => {
            const { name } = performance.getEntriesByType("resource").find(({ name }) => name.endsWith("/" + script))
            const { default: draw } = await import(name), { component, last, leave } = e._follow
            const canvas = e.querySelector("canvas"), moved = new PointerEvent("pointermove", { pointerType: "mouse" })
            leave()
            e._follow.leave = draw({ ...component, ...last, root: e, local: {} })
            canvas.onpointermove(moved)
            canvas.onpointerleave(moved)
        }""",
        script,
    )


def test_pictures_come_ahead_of_the_page_and_agree_with_it_in_the_end(visit):
    visitor = visit("/heads")
    visitor.page.evaluate("performance.setResourceTimingBufferSize(5000)")  # 250 by default: many keys ask for more
    the_pictures_are_asked_for_before_the_page_is(visitor)
    visitor.back_to("/heads")
    after_fast_key_presses_address_slider_page_and_picture_agree(visitor)
    visitor.back_to("/heads")
    a_picture_that_was_lost_on_the_way_is_asked_for_again(visitor)
    visitor.back_to("/heads?seed=3")
    an_old_picture_stays_while_a_new_one_is_fetched_and_is_marked_if_that_takes_long(visitor)
    for path, picture, script in (
        ("/heads", ".map", "head_map.js"),
        ("/attention?attention_view=change", ".maps", "maps.js"),
        ("/attention?attention_view=arcs", ".arcs", "arcs.js"),
    ):
        visitor.back_to(path)
        a_pointer_may_move_between_an_update_and_its_drawing(visitor, picture, script)
