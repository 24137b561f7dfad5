"""The search in a browser: keys and fingers, what is found, the way there without a reload, what is chosen lately."""

import re

from playwright.sync_api import expect

from tests.browser.accessible import barriers
from tests.browser.conftest import PHONE, Visitor

BUTTON, DIALOG, NOTE = ".st-key-search button.open", ".st-key-search dialog", ".st-key-search .note"
# What has the focus, also behind shadow roots: the label of a box, or of its widget.
FOCUS = """() => { let at = document.activeElement
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement
  return at.ariaLabel ?? at.labels?.[0]?.innerText ?? at.innerText }"""
# What is typed, typing mistakes and all -> what the first three results must hold.
TYPED = {
    "sofmax": "softmax", "temprature": "Temperature", "kv cache": "cache", "why square root": "Why √dₖ", "rope": "RoPE",
    "causal mask": "mask", "learning rate": "Learning rate", "atention sink": "sink", "qurey": "query",
    "residual": "residual", "layer norm": "Norm", "indution head": "induction head", "padding mask": "Padding",
    "beam serch": "Several texts", "d_model": "d_model", "dropout": "Dropout", "byte pair": "byte pairs",
    "encoder decoder": "encoder-decoder", "top p": "top-p", "gpt2": "GPT-2", "rooflin": "Roofline",
}  # fmt: skip


def options(visitor: Visitor):
    return visitor.page.locator(f"{DIALOG} [role=option]")


def opened(visitor: Visitor, by: str = "/") -> None:
    visitor.page.keyboard.press(by)
    expect(visitor.page.locator(f"{DIALOG} input")).to_be_focused()
    expect(visitor.page.locator(f"{DIALOG} .says")).not_to_have_text("…")  # the index is there


def typed(visitor: Visitor, text: str) -> list[str]:
    visitor.page.locator(f"{DIALOG} input").fill(text)
    return options(visitor).all_inner_texts()


def chosen(visitor: Visitor, text: str, kind: str) -> None:
    """Type it, go by keys to the first result of this kind, and press Enter."""
    opened(visitor, by="Control+k")  # also from within a box
    kinds = [told.split("\n")[0] for told in typed(visitor, text)]
    for _ in range(kinds.index(kind)):
        visitor.page.keyboard.press("ArrowDown")
    visitor.page.keyboard.press("Enter")


def what_is_typed_is_found_with_its_mistakes(visitor: Visitor) -> None:
    opened(visitor)
    for text, first in TYPED.items():
        assert first in "\n".join(typed(visitor, text)[:3]), text
    assert len(typed(visitor, "softmax")) == 12
    expect(visitor.page.locator(f"{DIALOG} .says")).to_contain_text("more")
    expect(visitor.page.locator(f"{DIALOG} mark").first).to_have_text("softmax")
    typed(visitor, "softmax zebra")
    expect(visitor.page.locator(f"{DIALOG} .says")).to_contain_text("The closest is “softmax”.")
    assert typed(visitor, "qqqqqqqqq") == []
    expect(visitor.page.locator(f"{DIALOG} .says")).to_contain_text("Nothing here is called “qqqqqqqqq”")
    typed(visitor, "<img src=x>")
    expect(visitor.page.locator(f"{DIALOG} img")).to_have_count(0)


def keys_move_through_the_list_and_close_it(visitor: Visitor) -> None:
    typed(visitor, "mask")
    press, box = visitor.page.keyboard.press, visitor.page.locator(f"{DIALOG} input")
    for key, at in (("ArrowDown", 1), ("ArrowUp", 0), ("ArrowUp", 11), ("ArrowDown", 0), ("End", 11)):
        press(key)
        expect(box).to_have_attribute("aria-activedescendant", f"result_{at}")
        expect(options(visitor).nth(at)).to_have_attribute("aria-selected", "true")
    assert barriers(visitor, within=".st-key-search") == []
    press("Escape")
    expect(visitor.page.locator(DIALOG)).to_be_hidden()


def the_focus_comes_back_and_typing_in_a_box_opens_nothing(visitor: Visitor) -> None:
    box = visitor.page.get_by_label("Seed", exact=True)
    box.focus()
    visitor.page.keyboard.press("/")
    expect(visitor.page.locator(DIALOG)).to_be_hidden()
    opened(visitor, by="Control+k")  # it opens there, too
    visitor.page.keyboard.press("Escape")
    expect(box).to_be_focused()
    box.blur()


def a_question_opens_without_a_reload(visitor: Visitor) -> None:
    visitor.page.evaluate("() => { window.stays = true }")
    chosen(visitor, "roofline one sequence", "Question")
    expect(visitor.page).to_have_url(re.compile("/profiling.*profiling_view=roofline"))
    expect(visitor.page.locator(".st-key-_set_up button")).to_contain_text("As set up")
    visitor.wait()


def a_word_is_explained_in_the_dialog(visitor: Visitor) -> None:
    url = visitor.page.url
    chosen(visitor, "softmax", "Word")
    expect(visitor.page.locator(f"{DIALOG} section")).to_contain_text("softmax")
    expect(visitor.page.locator(f"{DIALOG} section p")).not_to_be_empty()
    assert visitor.page.url == url
    visitor.page.keyboard.press("Escape")


def a_setting_has_the_focus_and_a_ring_wherever_it_is(visitor: Visitor) -> None:
    chosen(visitor, "replacements", "Setting")  # in a row of controls of another page
    expect(visitor.page.locator(".st-key-masks_tries[data-ring]")).to_be_visible()
    expect(visitor.page).to_have_url(re.compile("/masks.*masks_view=leaks"))
    assert visitor.page.evaluate(FOCUS) == "Replacements"
    visitor.wait()
    chosen(visitor, "activation", "Setting")  # in the sidebar, folded
    expect(visitor.page.locator(".st-key-activation[data-ring]")).to_be_visible()
    visitor.wait()
    chosen(visitor, "tokens listed", "Setting")  # behind “More”
    expect(visitor.page.locator(".st-key-model_top[data-ring]")).to_be_visible()
    assert visitor.page.evaluate(FOCUS) == "Tokens listed"
    visitor.wait()
    chosen(visitor, "top-p generate", "Setting")  # a slider above a picture
    expect(visitor.page.locator("[data-parameter=generate_top_p][data-ring]")).to_be_visible()
    assert visitor.page.evaluate(FOCUS) == "top-p"
    visitor.wait()


def what_was_chosen_lately_is_first(visitor: Visitor) -> None:
    opened(visitor, by="Control+k")
    expect(visitor.page.locator(f"{DIALOG} .says")).to_have_text("Chosen last")
    titles = options(visitor).locator(".title").all_inner_texts()
    assert titles == ["top-p", "Tokens listed", "Activation", "Replacements", "softmax", "One sequence"]
    assert visitor.page.evaluate("() => window.stays") is True  # all of this was one page
    visitor.page.keyboard.press("Escape")


def test_one_searches_by_keys_and_is_led_there(visit):
    visitor = visit("/heads?seed=5")
    what_is_typed_is_found_with_its_mistakes(visitor)
    keys_move_through_the_list_and_close_it(visitor)
    the_focus_comes_back_and_typing_in_a_box_opens_nothing(visitor)
    a_question_opens_without_a_reload(visitor)
    a_word_is_explained_in_the_dialog(visitor)
    a_setting_has_the_focus_and_a_ring_wherever_it_is(visitor)
    what_was_chosen_lately_is_first(visitor)


def test_on_a_phone_one_searches_by_fingers(visit):
    visitor = visit("/heads?weights=lab-gpt", color_scheme="dark", **PHONE)
    page = visitor.page
    button = page.locator(BUTTON)
    box = button.bounding_box()
    assert box["width"] >= 44
    assert box["height"] >= 44
    assert box["x"] + box["width"] <= 390
    button.tap()
    expect(page.locator(f"{DIALOG} input")).to_be_focused()
    typed(visitor, "layers")
    assert page.locator(DIALOG).bounding_box()["width"] == 390
    options(visitor).filter(has_text="in the sidebar").first.tap()  # which these weights fix, and which is folded
    expect(page.locator(NOTE)).to_have_text("“Layers” is fixed by these weights.")
    expect(page.locator(".st-key-locked[data-ring]")).to_be_visible()


def test_while_presenting_the_search_is_there_and_its_keys_are_its_own(visit):
    visitor = visit("/attention?present=true", width=1280, height=720)
    page = visitor.page
    opened(visitor)
    page.keyboard.type("next")  # "n" and "t" are keys of presenting
    expect(page.locator(f"{DIALOG} input")).to_have_value("next")
    page.keyboard.press("Escape")
    expect(page.locator(DIALOG)).to_be_hidden()
    assert "present=true" in page.url
    chosen(visitor, "roofline", "View")
    expect(page).to_have_url(re.compile("/profiling.*present=true"))
    expect(page.locator(".st-key-present_bar")).to_be_visible()
