"""The soft dictionary in a real browser: what is dragged is answered by the server, and stays in the link."""

from urllib.parse import parse_qs

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import MAIN
from tests.browser.conftest import PHONE
from tfm_ui.lenses.attention.dictionary import Dictionary, number
from tfm_ui.lenses.attention.questions import QUESTIONS
from tfm_ui.lenses.attention.state import AttentionState
from tfm_ui.state.lists import vector_names, vectors
from tfm_ui.state.model_state import ModelState

LINK = "/attention?attention_view=dictionary"


def opened(visit, **more):
    visitor = visit(LINK, **more)
    visitor.page.get_by_role("button", name="query at").wait_for()
    return visitor


def state(visitor) -> AttentionState:
    """What the address bar holds of the dictionary."""
    query = parse_qs(visitor.page.evaluate("location.search.slice(1)"))  # Playwright hears of it a little later
    held = {name: query[f"attention_{name}"][0] for name in ("entries", "ask") if f"attention_{name}" in query}
    return AttentionState(**held, temperature=float(query.get("attention_temperature", ["1"])[0]))


def answered(visitor, expected: AttentionState) -> None:
    """Wait until the answer is that of this state, and the page says the same."""
    lookup = Dictionary(ModelState(), expected)
    visitor.page.locator(".dictionary .answer", has_text=f"= {number(lookup.answer)}").wait_for()
    visitor.page.locator(".said", has_text=lookup.sentence()).wait_for()


def drag(visitor, name: str, across: float, down: float) -> None:
    """Drag a handle by this many pixels, without letting go."""
    box = visitor.page.get_by_role("button", name=name).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    visitor.page.mouse.move(x, y)
    visitor.page.mouse.down()
    visitor.page.mouse.move(x + across, y + down, steps=8)


def a_drag_is_answered_before_the_page_is_told_and_lands_in_the_link_when_let_go(visitor) -> None:
    before, url = visitor.page.locator(".dictionary .answer").inner_text(), visitor.page.url
    drag(visitor, "query at", -160, 10)
    visitor.page.wait_for_function(
        "([e, before]) => e.textContent !== before",
        arg=[visitor.page.locator(".dictionary .answer").element_handle(), before],
    )
    assert visitor.page.url == url
    visitor.page.mouse.up()
    visitor.page.wait_for_url("**attention_ask=*")
    (asked,) = vectors(state(visitor).ask)
    assert asked[0] < -0.5
    answered(visitor, state(visitor))
    visitor.press("Undo")
    answered(visitor, AttentionState())


def arrow_keys_move_a_point_by_a_tenth(visitor) -> None:
    visitor.page.get_by_role("button", name="key C at").focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        visitor.page.keyboard.press(key)
    visitor.page.get_by_role("button", name="key C at −1.2, 0.5").wait_for()
    visitor.page.wait_for_function("location.search.includes('-1.2%2C0.5')")
    assert vectors(state(visitor).entries)[2] == (-1.2, 0.5, 30)
    answered(visitor, state(visitor))


def a_value_is_edited_and_keys_come_and_go(visitor) -> None:
    page = visitor.page
    box = page.get_by_label("value of key B")
    box.fill("-7.5")
    box.press("Enter")
    page.wait_for_url("**-7.5*")
    answered(visitor, state(visitor))
    visitor.press("+ Add a key")
    page.get_by_label("value of key E").wait_for()
    for name in "AAA":  # in a row, before the first is answered
        visitor.press(f"Remove key {name}")
    page.wait_for_function("new URLSearchParams(location.search).get('attention_entries').split(' ').length === 2")
    expect(page.get_by_role("button", name="Remove key A")).to_be_disabled()
    answered(visitor, state(visitor))


def towards_temperature_zero_the_answer_is_the_look_up(visitor) -> None:
    slider = visitor.page.get_by_role("slider", name="temperature")
    slider.focus()
    slider.press("Home")
    visitor.page.wait_for_url("**attention_temperature=0.05*")
    answered(visitor, AttentionState(temperature=0.05))
    expect(visitor.page.locator(".dictionary .hard")).to_have_text("Hard look-up: key A, value 10")
    weights = visitor.page.locator(".dictionary").evaluate("e => Array.from(e._memory.weights)")
    assert weights == pytest.approx(
        Dictionary(ModelState(), AttentionState(temperature=0.05)).weights.tolist(), abs=1e-6
    )
    assert weights[0] > 0.99


def words_stay_with_their_keys_when_points_move_and_keys_come_and_go(visitor) -> None:
    words = "baby:-1.3,1,1 child:0.3,1.5,8 adult:1.5,0.4,40"
    visitor.back_to(f"{LINK}&attention_entries={words.replace(' ', '+')}&attention_ask=teen:0.9,1.2")
    page = visitor.page
    page.get_by_role("button", name="query teen at 0.9, 1.2").press("ArrowUp")
    page.wait_for_function("new URLSearchParams(location.search).get('attention_ask') === 'teen:0.9,1.3'")
    visitor.press("Remove key baby")
    page.wait_for_function("!location.search.includes('baby')")
    visitor.press("+ Add a key")
    page.get_by_label("value of key C", exact=True).wait_for()
    page.wait_for_function("new URLSearchParams(location.search).get('attention_entries').split(' ').length === 3")
    assert vector_names(state(visitor).entries) == ["child", "adult", ""]
    assert vectors(state(visitor).entries)[:2] == [(0.3, 1.5, 8), (1.5, 0.4, 40)]
    answered(visitor, state(visitor))
    expect(page.locator(".dictionary .point.word")).to_have_text(["child", "adult", "teen"])


def what_was_typed_and_taken_back_leaves_the_picture_free_to_follow(visitor) -> None:
    box = visitor.page.get_by_label("value of key A")
    box.fill("105")
    box.fill("10")
    box.blur()
    visitor.ask("Longer keys win")
    question = next(question for question in QUESTIONS if question.name == "Longer keys win")
    answered(visitor, AttentionState(**question.controls))
    visitor.page.get_by_role("button", name="key B at 1.8, 0.1").wait_for()
    expect(box).to_have_value("10")


def test_points_values_keys_and_temperature_are_changed_and_answered(visit):
    visitor = opened(visit)
    for part in (
        what_was_typed_and_taken_back_leaves_the_picture_free_to_follow,
        a_drag_is_answered_before_the_page_is_told_and_lands_in_the_link_when_let_go,
        arrow_keys_move_a_point_by_a_tenth,
        a_value_is_edited_and_keys_come_and_go,
        towards_temperature_zero_the_answer_is_the_look_up,
        words_stay_with_their_keys_when_points_move_and_keys_come_and_go,
    ):
        visitor.back_to(LINK)
        visitor.page.get_by_role("button", name="key A at 1.2, 0.2").wait_for()
        part(visitor)


def test_on_a_phone_nothing_scrolls_sideways_and_a_finger_drags_without_scrolling(visit):
    visitor = opened(visit, **PHONE)
    page = visitor.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    point = page.get_by_role("button", name="key B at")
    point.scroll_into_view_if_needed()
    before, box = page.locator(MAIN).evaluate("e => e.scrollTop"), point.bounding_box()
    fingers = page.context.new_cdp_session(page)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, step in (("touchStart", 0), ("touchMove", 20), ("touchMove", 40), ("touchEnd", None)):
        at = [] if step is None else [{"x": x - step, "y": y + step}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})
    page.wait_for_url("**attention_entries=*")
    moved = vectors(state(visitor).entries)[1]
    assert moved[0] < 0
    assert moved[1] < 1
    assert page.locator(MAIN).evaluate("e => e.scrollTop") == before
    answered(visitor, state(visitor))
