"""Attention, step by step, in a real browser: clicks, keys, dragging."""

import re

from playwright.sync_api import expect

from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.lenses.attention.steps import Steps
from tfm_ui.pictures.steps import STEPS
from tfm_ui.pictures.steps.derivation import derivation
from tfm_ui.pictures.steps.matrices import Cell
from tfm_ui.state.model_state import ModelState

ONE_STEP = "/attention?attention_whole=false&attention_step="
# From now on `walks` holds the timers of 1.5 s, half a step's usual time: of a walk at twice the speed.
TIMERS = """() => {
  const { setTimeout: begin, clearTimeout: end } = window
  window.walks = new Set()
  window.setTimeout = (act, ms, ...more) => {
    const timer = begin(() => { walks.delete(timer); act(...more) }, ms)
    if (ms === 1500) walks.add(timer)
    return timer
  }
  window.clearTimeout = timer => { walks.delete(timer); end(timer) }
}"""


def stage(visitor):
    matrices = visitor.page.locator(".matrices")
    matrices.wait_for()
    visitor.page.wait_for_function("e => e._memory?.layouts", arg=matrices.element_handle())
    return matrices


def cell(visitor, name: str, row: int, column: int) -> dict[str, float]:
    """Where the middle of a cell is, from 0, once it is in the window."""
    visitor.page.locator(f'figure[data-name="{name}"]').scroll_into_view_if_needed()
    return stage(visitor).evaluate(
        """(e, [name, row, column]) => { const { left, top, cell } = e._memory.layouts[name]
            const box = e.querySelector(`figure[data-name="${name}"] canvas`).getBoundingClientRect()
            return { x: box.left + left + (column + .5) * cell.x, y: box.top + top + (row + .5) * cell.y } }""",
        [name, row, column],
    )


def derived(visitor) -> str:
    return "\n".join(visitor.page.locator(".derived .lines p").all_inner_texts())


def selected(visitor) -> str:
    """The step that is chosen."""
    return visitor.page.get_by_role("tab", selected=True).inner_text()


def settled(visitor, title: str) -> None:
    visitor.page.get_by_role("heading", name=title, exact=True).wait_for()
    visitor.wait()


def hovering_names_the_cell_without_asking_the_server(visitor) -> None:
    stage(visitor)
    visitor.wait()
    sent = visitor.messages_sent
    visitor.page.mouse.move(**cell(visitor, "query", 3, 2))
    text = visitor.page.locator(".matrices .tip").inner_text()
    assert re.match(r"query 4 “on”, dimension 3\nQ = −?\d\.\d{3}$", text)
    assert visitor.messages_sent == sent


def what_feeds_the_cell_is_outlined(visitor) -> None:
    """The cell is the score of query 7 and key 3."""
    lit = stage(visitor).evaluate("e => e._memory.header.lit")
    assert lit["query"] == [[[6, None], 1]]
    assert lit["key"] == [[[2, None], 1]]
    assert {tuple(region) for region, _ in lit["input"]} == {(6, None), (2, None)}
    dark = """(e, [name, row]) => { const { left, top, cell } = e._memory.layouts[name], ratio = devicePixelRatio
        const context = e.querySelector(`figure[data-name="${name}"] canvas`).getContext("2d")
        return context.getImageData((left + 20) * ratio, (top + row * cell.y) * ratio, 1, 1).data[0] }"""
    assert stage(visitor).evaluate(dark, ["query", 6]) < 90
    assert stage(visitor).evaluate(dark, ["query", 3]) > 150


def test_a_click_on_a_score_shows_its_derivation_and_what_feeds_it_and_is_in_the_link(visit):
    visitor = visit("/attention")
    hovering_names_the_cell_without_asking_the_server(visitor)
    visitor.page.mouse.click(**cell(visitor, "scores", 6, 2))
    settled(visitor, "Score of “because” and “sat”")
    lines = derivation(Steps(ModelState(), AttentionState()).steps, "scores", Cell(6, 2, 0, 0)).lines
    expected = "\n".join("".join(text for text, _ in line) for line in lines)
    assert derived(visitor) == expected
    expect(visitor.page.locator(".derived code")).to_contain_text(
        "attention_scores(self.query[None], self.key[None], scale=1.0)"
    )
    visitor.page.wait_for_function("location.search.includes('attention_key=3')")
    again = visit(visitor.page.url.removeprefix(visitor.address))
    settled(again, "Score of “because” and “sat”")
    assert derived(again) == expected
    what_feeds_the_cell_is_outlined(again)


def the_steps_are_walked_by_keyboard_forwards_and_backwards(visitor) -> None:
    stage(visitor)
    visitor.page.get_by_role("tab", name="input", exact=True).focus()
    for step in STEPS[1:]:
        visitor.page.keyboard.press("ArrowRight")
        visitor.page.wait_for_function(
            "step => document.activeElement.shadowRoot?.querySelector('[aria-selected=true]').textContent === step",
            arg=step,
        )
        expect(visitor.page.locator(f'figure[data-name="{step}"]')).to_have_count(1)
    visitor.page.keyboard.press("ArrowLeft")
    visitor.page.get_by_role("tab", name="heads", exact=True, selected=True).wait_for()
    visitor.page.wait_for_function("location.search.includes('attention_step=heads')")
    visitor.wait()
    assert selected(visitor) == "heads"  # and there it stays


def cells_are_read_and_chosen_by_keyboard(visitor) -> None:
    stage(visitor)
    visitor.page.locator('figure[data-name="weights"] canvas').focus()
    visitor.page.keyboard.press("ArrowUp")
    visitor.page.keyboard.press("ArrowUp")
    tip = visitor.page.locator(".matrices .tip")
    expect(tip).to_contain_text("query 5 “the₂”, key 2 “cat”\nA = 0.4")
    visitor.page.keyboard.press("Enter")
    settled(visitor, "Weight of “cat” for “the₂”")


def play_walks_by_itself_at_a_speed_that_is_in_no_link_until_it_is_paused(visitor) -> None:
    visitor.page.evaluate(TIMERS)
    speed = visitor.page.get_by_label("Speed of playing")
    assert speed.locator("option").all_inner_texts() == ["×0.25", "×0.5", "×1", "×2"]
    expect(speed).to_have_value("1")
    speed.select_option("2")
    link = visitor.page.url
    visitor.press("Play")
    for step in ("key", "value", "scores"):
        visitor.page.get_by_role("tab", name=step, exact=True, selected=True).wait_for()
        expect(speed).to_have_value("2")
    visitor.page.wait_for_function("walks.size === 1")
    visitor.press("Pause")
    visitor.wait()
    assert visitor.page.evaluate("walks.size") == 0  # nothing will walk on
    expect(visitor.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    assert visitor.page.url.replace(selected(visitor), "query") == link


def a_new_step_appears_in_beats_unless_the_reader_wants_no_motion(visitor) -> None:
    """The step is that of the scores."""
    for motion, beats in (("reduce", 0), ("no-preference", 8)):
        visitor.page.emulate_media(reduced_motion=motion)
        visitor.back_to(f"{ONE_STEP}scores")
        stage(visitor)
        visitor.page.get_by_role("button", name="Step on").click()
        settled(visitor, "Scaled score of “mat” and “cat”")
        assert stage(visitor).evaluate("e => e._memory.beats?.length ?? 0") == beats, motion
    visitor.page.emulate_media(reduced_motion="reduce")  # what moves is drawn in each frame


def a_steps_matrices_have_room(visitor) -> None:
    """The step is that of the scores."""
    for width in (390, 1440):
        visitor.resize(width)
        wide = stage(visitor).evaluate(
            """e => { const right = element => element.getBoundingClientRect().right
                return [...e.querySelectorAll("canvas")].map(canvas => right(canvas) - right(e)) }"""
        )
        assert len(wide) == 3
        assert max(wide) <= 1, width


def on_a_phone_the_present_step_is_in_sight_among_the_others(visitor) -> None:
    visitor.resize(390)
    visitor.back_to("/attention?attention_step=weights")
    stage(visitor)
    in_view = visitor.page.locator(".matrices .chips").evaluate(
        """chips => { const box = chips.getBoundingClientRect()
            const chip = chips.querySelector("[aria-selected=true]").getBoundingClientRect()
            return chip.left >= box.left - 1 && chip.right <= box.right + 1 }"""
    )
    assert in_view


def there_and_back_before_the_page_has_heard_of_it_stays_there(visitor) -> None:
    release, asked = visitor.behind(), []
    visitor.page.get_by_role("tab", name="heads", exact=True).focus()
    for key, step in (("ArrowRight", "output"), ("ArrowLeft", "heads")):
        visitor.page.keyboard.press(key)
        visitor.page.get_by_role("tab", name=step, exact=True, selected=True).wait_for()
    visitor.page.wait_for_timeout(1000)  # each was a run of the page
    visitor.page.on("request", lambda request: asked.append(request.url) if request.method == "POST" else None)
    assert release(10) > 1
    visitor.wait()
    assert selected(visitor) == "heads"
    assert asked == []  # not even for a moment was another step drawn


def dragging_the_temperature_moves_the_numbers_live_and_the_link_when_it_is_let_go(visitor) -> None:
    weights = "e => Array.from(e._memory.of('weights')).slice(50, 56)"
    before, link = stage(visitor).evaluate(weights), visitor.page.url
    box = visitor.page.locator(".warmth input").bounding_box()
    x, y = box["x"] + box["width"] * 13 / 23, box["y"] + box["height"] / 2
    visitor.page.mouse.move(x, y)
    visitor.page.mouse.down()
    visitor.page.mouse.move(box["x"] - 9, y, steps=6)
    coldest = "e => e._follow.shown.endsWith('attention_temperature=0.05') && !e._follow.state.question"
    visitor.page.wait_for_function(coldest, arg=stage(visitor).element_handle())
    cold = stage(visitor).evaluate(weights)
    assert max(cold) > 0.99 > max(before)
    assert visitor.page.url == link
    visitor.page.mouse.up()
    visitor.page.wait_for_function("location.search.includes('attention_temperature=0.05')")
    visitor.wait()
    assert stage(visitor).evaluate(weights) == cold
    visitor.press("Undo")
    visitor.page.wait_for_function("!location.search.includes('temperature')")
    visitor.wait()
    assert stage(visitor).evaluate(weights) == before


def test_the_steps_are_walked_by_keys_by_themselves_and_on_a_phone(visit):
    visitor = visit(f"{ONE_STEP}scores")
    a_steps_matrices_have_room(visitor)
    a_new_step_appears_in_beats_unless_the_reader_wants_no_motion(visitor)
    visitor.back_to(f"{ONE_STEP}query")
    play_walks_by_itself_at_a_speed_that_is_in_no_link_until_it_is_paused(visitor)
    visitor.back_to(f"{ONE_STEP}input")
    the_steps_are_walked_by_keyboard_forwards_and_backwards(visitor)
    visitor.back_to(f"{ONE_STEP}weights")
    cells_are_read_and_chosen_by_keyboard(visitor)
    visitor.back_to("/attention?attention_step=weights")
    dragging_the_temperature_moves_the_numbers_live_and_the_link_when_it_is_let_go(visitor)
    on_a_phone_the_present_step_is_in_sight_among_the_others(visitor)
    visitor.resize(1440)
    visitor.back_to("/attention?attention_step=heads")
    there_and_back_before_the_page_has_heard_of_it_stays_there(visitor)
