"""Pictures come ahead of the page, and end where the page ends."""

import pytest

from tests.browser.links import same


def heads_on(visitor) -> tuple[str, str, str]:
    """How many heads a layer has by the address, by the slider, and by the title of the grid."""
    address = visitor.page.evaluate("new URLSearchParams(location.search).get('num_heads') || '4'")
    slider = visitor.page.get_by_role("slider", name="Heads").get_attribute("aria-valuetext")
    title = visitor.page.locator(".st-key-panel_grid h2").inner_text()
    return address, slider, str(int(title.split()[1]) // 2)


def test_after_fast_key_presses_address_slider_page_and_picture_agree(visit):
    visitor = visit("/heads")
    slider = visitor.page.get_by_role("slider", name="Heads")
    for keys in ("RLRLR", "LLRRL", "RRLLR", "LRRRL", "RLLRR"):
        slider.focus()
        for key in keys:
            slider.press({"R": "ArrowRight", "L": "ArrowLeft"}[key])
            visitor.page.wait_for_timeout(30)
        visitor.page.wait_for_timeout(300)  # Streamlit tells of the last press a moment later
        visitor.wait()
        assert len(set(heads_on(visitor))) == 1, heads_on(visitor)
        same(visitor.weights(), visitor.page.url)


def test_the_pictures_are_asked_for_before_the_page_is(visit):
    visitor = visit("/heads")
    visitor.weights()
    visitor.wait()
    asked, sent = [], visitor.messages_sent
    visitor.page.on("request", lambda request: asked.append((request.url, request.post_data, visitor.messages_sent)))
    visitor.page.get_by_role("slider", name="Tokens").press("ArrowLeft")
    visitor.page.wait_for_function("location.search.includes('seq_len=9')")
    visitor.wait()
    address, query, frames = asked[0]
    assert set(address.removeprefix(visitor.address + "/pictures/").split("+")) == {"heads", "head", "heads.words"}
    assert (query, frames) == ("seq_len=9", sent)
    assert visitor.messages_sent > sent
    assert len(asked) == 1  # the page, when it came, found its pictures there
    same(visitor.weights(), visitor.page.url)


def test_a_picture_that_was_lost_on_the_way_is_asked_for_again(visit):
    visitor = visit("/heads")
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
    visitor.problems[:] = [problem for problem in visitor.problems if "ERR_FAILED" not in problem]  # the browser's own


@pytest.mark.parametrize(
    ("path", "picture", "script"),
    [
        ("/heads", ".map", "head_map.js"),
        ("/attention?attention_view=change", ".maps", "maps.js"),
        ("/attention?attention_view=arcs", ".arcs", "arcs.js"),
    ],
)
def test_a_pointer_may_move_between_an_update_and_its_drawing(visit, path, picture, script):
    visitor = visit(path)
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
