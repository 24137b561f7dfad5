"""The address is the screen, in a real browser: after keys, drags, clicks, Undo and Back, opening the address elsewhere
shows the same controls, words and pictures.

Acts are drawn at random, always the same ones. The cheaper half of this law, for acts that need no browser, is in
tests/pages/test_address.py.
"""

from random import Random

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import ELEMENT
from tests.browser.conftest import Visitor
from tests.browser.stage import path_of, presented
from tfm_ui.lenses import lenses

ACTS, MORE = 3, 12  # of each walk, the second with --all
SETTLED = """pictures => Object.fromEntries(pictures.map(picture => [
  [...(picture.getRootNode().host ?? picture).closest("[class*=st-key-picture_]").classList]
    .find(name => name.startsWith("st-key-picture_")), picture.dataset.settled]))"""
# Without how long a pass took, and without an open answer, which is not in the address.
WORDS = """() => Object.fromEntries([...document.querySelectorAll("[data-words]")]
  .filter(element => !["facts", "answer"].includes(element.dataset.words))
  .map(element => [element.dataset.words, element.innerText.trim()]))"""
# Key -> what the control shows. Keys of controls that are not bound to the address end in a number, which is left out.
CONTROLS = """() => {
  const value = control => control.ariaValueText
    ?? (["checkbox", "radio"].includes(control.type) ? control.checked : control.value)
  const all = [...document.querySelectorAll("ELEMENT[class*=st-key-]")].map(element => [
    [...element.classList].find(name => name.startsWith("st-key-")).replace(/^st-key-_(.+)_\\d+$/, "$1"),
    [...element.querySelectorAll("input, textarea, [role=slider]")].map(value).join("|")])
  return Object.fromEntries(all.filter(([key, shown]) => shown && !key.includes("prediction")))
}""".replace("ELEMENT", ELEMENT)
ASKED = "() => document.querySelector('.ask')?.innerText + document.querySelector('.st-key-_set_up')?.innerText"
COMPARED = {"controls": CONTROLS, "words": WORDS, "question": ASKED}
KEYS = ("n", "b", "PageDown", "ArrowLeft", "l", "k", "s", "a")
BUTTONS = ("_next_question", "_previous_question", "_undo", "_set_up", "_mine")
WALKS = [(each, "presented" if number % 2 else "page") for number, each in enumerate(lenses())]


def shown_in(visitor: Visitor) -> dict[str, object]:
    """All that the law compares."""
    pictures = visitor.page.locator("[data-picture]").evaluate_all(SETTLED)
    return {"pictures": pictures} | {name: visitor.page.evaluate(script) for name, script in COMPARED.items()}


def press_a_key(visitor: Visitor, draw: Random) -> str:
    key = draw.choice(KEYS)
    visitor.page.keyboard.press(key)
    return f"key {key}"


def press_a_button(visitor: Visitor, draw: Random) -> str:
    tabs = [f"_view_{key}" for key in visitor.page.locator("[class*=st-key-_view_]").evaluate_all(
        "all => all.map(each => [...each.classList].find(name => name.startsWith('st-key-_view_')).slice(14))"
    )]  # fmt: skip
    name = draw.choice([*tabs, *BUTTONS])
    button = visitor.page.locator(f".st-key-{name} button")
    if button.count() and button.first.is_enabled():
        button.first.click()
    return f"button {name}"


def one_of(visitor: Visitor, selector: str, draw: Random) -> dict[str, float] | None:
    """The box of one of these elements, scrolled into view; None if there is none."""
    elements = visitor.page.locator(selector)
    if not elements.count():
        return None
    element = elements.nth(draw.randrange(elements.count()))
    element.scroll_into_view_if_needed()
    return element.bounding_box()


def click_into_a_picture(visitor: Visitor, draw: Random) -> str:
    if not (box := one_of(visitor, ".st-key-stage [data-picture] canvas:visible", draw)):
        return "no cell"
    at = {side: draw.uniform(0.1, 0.9) * box[size] for side, size in (("x", "width"), ("y", "height"))}
    visitor.page.mouse.click(box["x"] + at["x"], box["y"] + at["y"])
    visitor.page.mouse.move(1, 1)
    return f"click at {at}"


def drag_a_slider(visitor: Visitor, draw: Random) -> str:
    if not (box := one_of(visitor, "[data-picture] input[type=range]:visible", draw)):
        return "no slider"
    height = box["y"] + box["height"] / 2
    visitor.page.mouse.move(box["x"] + box["width"] / 2, height)
    visitor.page.mouse.down()
    for share in (0.4, draw.random()):
        visitor.page.mouse.move(box["x"] + box["width"] * share, height)
    visitor.page.mouse.up()
    return "drag"


def choose_other_weights(visitor: Visitor, draw: Random) -> str:
    seed = visitor.page.get_by_label("Seed", exact=True).first
    if not seed.is_visible() or not seed.is_enabled():  # trained weights fix it
        return "no seed"
    seed.fill(str(draw.randrange(100)))
    seed.press("Enter")
    return "seed"


ENTRY = "window.navigation.currentEntry.index"  # of the history


def go_back(visitor: Visitor, draw: Random) -> str:
    visitor.page.go_back()
    visitor.page.wait_for_timeout(200)  # the page hears of it a little later
    return "back"


@pytest.mark.parametrize(("each", "how"), WALKS, ids=lambda value: getattr(value, "name", value))
def test_after_any_act_the_address_brings_back_the_page(visit, request, each, how):
    draw = Random(f"{each.name} {how}")
    path = path_of(each.name, draw.choice([*each.views]) if len(each.views) > 1 else "")
    acts = [press_a_key, press_a_key, click_into_a_picture, drag_a_slider]
    if how == "page":
        acts = [press_a_button, press_a_button, click_into_a_picture, drag_a_slider, choose_other_weights]
    visitor, other, before = visit(presented(path) if how == "presented" else path), None, None
    done, first = [visitor.page.url], visitor.page.evaluate(ENTRY)
    for number in range(MORE if request.config.getoption("all_combinations") else ACTS):
        is_back = how == "page" and number % 3 == 2 and visitor.page.evaluate(ENTRY) > first  # a seed makes no entry
        done.append((go_back if is_back else draw.choice(acts))(visitor, draw))
        visitor.wait()
        visitor.page.wait_for_function("!attentionLabHistory.pushed")  # the act is over
        visitor.wait()
        address = visitor.page.url.removeprefix(visitor.address)
        shown = shown_in(visitor)
        if before == (address, shown):
            continue  # the act has changed nothing, and this was compared after the one before
        before = address, shown
        other = other.open(address) if other else visit(address)
        brought_back = shown_in(other)
        for what, expected in shown.items():
            assert brought_back[what] == expected, f"{what} after {done}, {address}"
        assert other.page.url == visitor.page.url, done


def a_control_behind_a_button_hears_of_every_value_that_it_gets(visitor: Visitor) -> None:
    """Streamlit's popover does not: its controls are not there while it is closed, and come back with an old value."""
    visitor.back_to("/model?model_view=block")
    visitor.press("More")
    token = visitor.page.get_by_label("Token", exact=True)
    token.fill("3")
    token.press("Enter")
    visitor.wait()
    visitor.page.keyboard.press("Escape")
    expect(token).to_be_hidden()
    expect(visitor.page.get_by_role("button", name="More", exact=True)).to_be_focused()
    visitor.press("Undo")
    visitor.wait()
    visitor.choose_seed(3)
    visitor.wait()
    assert "model_token" not in visitor.page.url
    visitor.press("More")
    expect(token).to_have_value("2")
    visitor.page.keyboard.press("Escape")


def a_list_in_what_is_opened_does_not_close_it(visitor: Visitor) -> None:
    visitor.back_to("/model?model_view=block&present=true")
    visitor.press("More")
    visitor.page.locator(".st-key-model_attention [role=combobox]").click()
    visitor.page.get_by_role("option", name="window").click()
    visitor.wait()
    expect(visitor.page.get_by_label("Token", exact=True)).to_be_visible()
    assert "model_attention=window" in visitor.page.url
    visitor.page.keyboard.press("Escape")
    expect(visitor.page.get_by_label("Token", exact=True)).to_be_hidden()
    visitor.wait()
    assert "present=true" in visitor.page.url
    visitor.press("More")
    visitor.page.locator(".ask").click()
    expect(visitor.page.get_by_label("Token", exact=True)).to_be_hidden()


def what_is_opened_is_within_the_window(visitor: Visitor) -> None:
    for width, height in ((390, 844), (844, 390)):
        visitor.resize(width, height=height)
        visitor.back_to("/training")
        visitor.press("Settings")
        box = visitor.page.locator(".st-key-more_settings").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= height
        visitor.page.get_by_label("Steps", exact=True).scroll_into_view_if_needed()
        expect(visitor.page.get_by_label("Steps", exact=True)).to_be_in_viewport()
        visitor.page.keyboard.press("Escape")


def test_what_has_no_room_in_a_row_is_behind_a_button(visit):
    visitor = visit("/model?model_view=block")
    a_control_behind_a_button_hears_of_every_value_that_it_gets(visitor)
    a_list_in_what_is_opened_does_not_close_it(visitor)
    what_is_opened_is_within_the_window(visitor)
