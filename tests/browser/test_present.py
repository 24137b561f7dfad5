"""Presenting, sharing, and the way from lens to lens."""

import re

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import HEADER, MAIN, SIDEBAR, UNFOLD
from tests.browser.conftest import FRAMES
from tests.browser.test_glossary import EXPLAINED
from tfm_ui.lenses import lens, lenses


def lenses_lead_to_one_another_in_a_fixed_order_and_keep_the_model(visitor) -> None:
    visitor.back_to("/?seed=5")
    visitor.page.get_by_role("link", name="Heads →").click()
    visitor.page.get_by_text("Layer 1, head 1").wait_for()
    visitor.page.get_by_role("link", name="← Home").click()
    visitor.page.locator("h1", has_text="Attention Lab").wait_for()
    visitor.wait()
    expect(visitor.page.get_by_label("Seed", exact=True)).to_have_value("5")
    expect(visitor.page).to_have_url(visitor.address + "/?seed=5")


def place(title: str) -> str:
    """What stands on the strip at this lens."""
    titles = [each.title for each in lenses()]
    return f"{title} {titles.index(title) + 1} of {len(titles)}"


def where(visitor) -> str:
    visitor.wait()
    return visitor.page.locator(".where").inner_text()


def which(visitor) -> str:
    visitor.wait()
    return visitor.page.locator(".st-key-_questions").inner_text().split("\n")[0]


def a_presenter_needs_the_keys_alone(visitor) -> None:
    visitor.back_to("/?seed=5")
    visitor.press("Present")
    visitor.page.locator(".where").wait_for()
    assert where(visitor) == place("Home")
    for chrome in (SIDEBAR, HEADER, "[class*=st-key-actions_]", ".st-key-_present"):
        expect(visitor.page.locator(chrome).first).to_be_hidden()
    for key, expected in (
        ("l", place("Heads")), ("l", place("Attention")), ("k", place("Heads")), ("L", place("Attention")),
    ):  # fmt: skip
        visitor.page.keyboard.press(key)
        visitor.page.get_by_text(expected).wait_for()
        assert where(visitor) == expected
        expect(visitor.page).to_have_url(re.compile("seed=5"))
        expect(visitor.page).to_have_url(re.compile("present=true"))
        assert which(visitor).startswith("1 of")  # each lens asks its first question
    visitor.back_to("/profiling?seed=5&present=true")
    visitor.page.keyboard.press("l")  # there is no lens after the last
    visitor.page.keyboard.press("k")
    visitor.page.get_by_text(place("Clinic")).wait_for()
    visitor.page.keyboard.press("x")
    visitor.page.locator(SIDEBAR).wait_for()
    visitor.wait()
    assert "present" not in visitor.page.url


def questions_are_walked_by_the_keys_of_a_remote_control_and_from_lens_to_lens(visitor) -> None:
    visitor.back_to("/heads?present=true")
    count, asks = len(lens("heads").questions), visitor.page.locator(".ask")
    for key, number in (("PageDown", 2), ("PageUp", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("n", 2), ("b", 1)):
        visitor.page.keyboard.press(key)
        expect(visitor.page.locator(".st-key-_questions")).to_contain_text(f"{number} of {count}")
        expect(asks).to_contain_text(lens("heads").questions[number - 1].ask[:40])
    visitor.page.keyboard.press("PageUp")
    visitor.page.get_by_text(place("Home")).wait_for()
    assert which(visitor).startswith(f"{len(lens('home').questions)} of")
    visitor.page.keyboard.press("PageDown")
    visitor.page.get_by_text(place("Heads")).wait_for()
    assert which(visitor) == f"1 of {count}"


def the_end_of_a_lens_is_a_step_of_the_mouse_alone_and_keys_walk_on_from_it(visitor) -> None:
    questions = lens("heads").questions
    visitor.back_to(f"/heads?present=true&heads_question={questions[-1].link}")
    said, asks = lens("heads").leads_on.after("Heads"), visitor.page.locator(".ask")
    for key, arrives in (("b", f"{len(questions)} of"), ("n", "1 of")):
        visitor.wait()
        visitor.press("Next question")
        expect(asks).to_have_text(said)
        visitor.wait()
        visitor.page.keyboard.press(key)
        expect(asks).not_to_have_text(said)
        expect(visitor.page.locator(".st-key-_questions")).to_contain_text(arrives)
    assert where(visitor) == place("Attention")
    visitor.back_to("/heads?present=true&heads_question=end")
    visitor.page.locator(".st-key-answering a").click()
    visitor.page.get_by_text(place("Attention")).wait_for()
    visitor.wait()
    expect(visitor.page).to_have_url(re.compile("present=true"))


def four_fast_presses_are_four_steps(visitor) -> None:
    visitor.back_to("/attention?present=true")
    for _ in range(4):
        visitor.page.keyboard.press("n")
    expect(visitor.page.locator(".st-key-_questions")).to_contain_text(f"5 of {len(lens('attention').questions)}")
    for _ in range(2):
        visitor.page.keyboard.press("k")
    visitor.page.get_by_text(place("Home")).wait_for()
    for pause in (60, 120, 240, 480):  # while one page gives way to the other, too
        visitor.page.keyboard.press("l")
        visitor.page.wait_for_timeout(pause)
    visitor.page.get_by_text(place("Masks")).wait_for()
    visitor.wait()
    assert "seq_len" not in visitor.page.url  # the number of tokens still follows the text


def a_step_that_the_server_never_hears_of_is_asked_for_again(visitor) -> None:
    visitor.back_to("/heads?present=true")
    lost, losing = [], False

    def lose(socket):
        server = socket.connect_to_server()
        socket.on_message(lambda message: lost.append(message) if losing and not lost else server.send(message))

    visitor.spoilt = True
    visitor.page.route_web_socket("**", lose)
    visitor.page.reload()
    visitor.wait()
    losing = True
    visitor.page.keyboard.press("n")
    expect(visitor.page.locator(".st-key-_questions")).to_contain_text("2 of")
    assert len(lost) == 1
    visitor.page.keyboard.press("n")
    expect(visitor.page.locator(".st-key-_questions")).to_contain_text("3 of")


def every_key_works_wherever_the_focus_is(visitor) -> None:
    visitor.back_to("/heads?present=true")
    page = visitor.page
    page.emulate_media(reduced_motion="no-preference")  # so that the window scrolls as it does for most
    for place in (
        visitor.head(1, 1),
        page.locator(".st-key-knobs input").first,
        page.locator(".st-key-_answer button"),
        page.locator(".map canvas"),
    ):
        before = which(visitor)
        place.focus()
        page.keyboard.press("n")
        expect(page.locator(".st-key-_questions")).not_to_contain_text(before)
        page.keyboard.press("d")
        page.wait_for_function(f"document.querySelector('{MAIN}').scrollTop > 0")
        page.keyboard.press("u")
        page.wait_for_function(f"document.querySelector('{MAIN}').scrollTop === 0")
        visitor.wait()
    page.emulate_media(reduced_motion="reduce")
    visitor.head(1, 1).focus()
    page.keyboard.press("a")
    page.locator(".st-key-answer").wait_for()


def what_is_typed_while_presenting_is_text(visitor) -> None:
    visitor.back_to("/heads?present=true")
    page = visitor.page
    page.keyboard.press("t")
    box = page.get_by_label("Text", exact=True)
    expect(box).to_be_focused()
    page.keyboard.type("not a lens but text")
    page.keyboard.press("Escape")
    page.wait_for_function("location.search.includes('text=')")
    visitor.wait()
    expect(page).to_have_url(re.compile(r"text=not\+a\+lens\+but\+text"))
    expect(page.locator(SIDEBAR)).to_be_hidden()
    assert where(visitor) == place("Heads")
    visitor.page.get_by_title("Edit the text").click()
    expect(box).to_be_focused()
    visitor.page.get_by_title("Edit the text").click()
    expect(page.locator(SIDEBAR)).to_be_hidden()


def one_press_copies_the_link_and_says_so(visitor) -> None:
    visitor.back_to("/heads?seed=5")
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visitor.head(2, 3).click()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    visitor.wait()
    visitor.press("Copy link")
    visitor.page.get_by_text("Link copied").wait_for()
    link = visitor.page.evaluate("navigator.clipboard.readText()")
    visitor.page.context.clear_permissions()
    assert link == visitor.link()
    assert link == visitor.page.url


def the_qr_code_is_as_large_as_the_window(visitor) -> None:
    visitor.back_to("/heads?seed=5&present=true")
    visitor.page.keyboard.press("q")
    code = visitor.page.get_by_role("img", name="QR code")
    code.wait_for()
    visitor.page.wait_for_function("e => e.naturalWidth > 0", arg=code.element_handle())
    assert code.bounding_box()["width"] > 0.5 * visitor.page.viewport_size["height"]
    link = visitor.page.locator("[role=dialog] code").inner_text()
    assert link.endswith("/heads?seed=5")  # for those who want to work with it
    visitor.page.keyboard.press("Escape")
    code.wait_for(state="hidden")


def a_phone_that_is_sent_a_presentation_shows_the_page_and_the_way_out(visitor, path: str) -> None:
    visitor.back_to(path)
    assert visitor.page.locator(MAIN).evaluate("e => e.scrollWidth <= e.clientWidth")
    expect(visitor.page.locator(".st-key-text textarea")).to_have_count(1)
    expect(visitor.page.locator(".st-key-_next_lens")).to_be_hidden()
    visitor.press("Exit")
    visitor.page.locator(".st-key-lens_links").wait_for()


def the_sidebar_needs_no_scrolling_at_900(visitor) -> None:
    for path in ("/heads", "/heads?weights=lab-gpt", "/heads?weights=dates&text=a"):  # the last has two texts
        visitor.back_to(path)
        bottom = visitor.page.get_by_role("button", name="Reset", exact=True).bounding_box()
        assert bottom["y"] + bottom["height"] < 900, path


def a_lens_is_one_tap_away(visitor) -> None:
    visitor.back_to("/heads?seed=5")
    links = visitor.page.locator(".st-key-lens_links")
    assert links.bounding_box()["y"] < 120
    for each in (lenses()[2], lenses()[-1]):
        links.get_by_role("link", name=each.title).click()
        visitor.page.wait_for_url(f"**/{each.name}*")
        visitor.wait()
        expect(visitor.page).to_have_url(re.compile("seed=5"))
        assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(visitor.page.locator(SIDEBAR)).not_to_be_in_viewport()


def a_text_applies_when_the_keyboard_closes(visitor) -> None:
    visitor.back_to("/heads")
    visitor.page.locator(UNFOLD).click()
    box = visitor.page.get_by_label("Text", exact=True)
    visitor.page.set_viewport_size({"width": 390, "height": 500})  # as with a keyboard
    visitor.page.evaluate(FRAMES)  # until the page has heard of it
    box.fill("typed on a phone")
    visitor.page.set_viewport_size({"width": 390, "height": 844})
    visitor.page.wait_for_function("location.search.includes('text=typed+on+a+phone')")
    visitor.wait()


def a_word_of_the_glossary_is_explained_by_touch(visitor) -> None:
    word = visitor.page.locator(f"{MAIN} .word:visible").first
    word.scroll_into_view_if_needed()
    assert not word.evaluate(EXPLAINED)
    word.tap()
    assert word.evaluate(EXPLAINED)


def test_from_lens_to_lens_and_to_others_by_a_link(visit):
    visitor = visit("/heads", height=900)
    the_sidebar_needs_no_scrolling_at_900(visitor)
    lenses_lead_to_one_another_in_a_fixed_order_and_keep_the_model(visitor)
    one_press_copies_the_link_and_says_so(visitor)


def test_who_presents_needs_the_keys_alone_wherever_the_focus_is(visit):
    visitor = visit("/?seed=5")
    a_presenter_needs_the_keys_alone(visitor)
    questions_are_walked_by_the_keys_of_a_remote_control_and_from_lens_to_lens(visitor)
    the_end_of_a_lens_is_a_step_of_the_mouse_alone_and_keys_walk_on_from_it(visitor)
    four_fast_presses_are_four_steps(visitor)
    what_is_typed_while_presenting_is_text(visitor)
    every_key_works_wherever_the_focus_is(visitor)
    the_qr_code_is_as_large_as_the_window(visitor)


def test_a_head_clicked_on_home_is_presented_and_a_step_that_is_lost_is_asked_for_again(visit):
    visitor = visit("/?present=true")  # Home opens on trained weights, of two layers of one head
    visitor.head(2, 1).click()
    visitor.page.get_by_text("Layer 2, head 1", exact=True).wait_for()
    assert where(visitor) == place("Heads")
    a_step_that_the_server_never_hears_of_is_asked_for_again(visitor)


def test_a_phone_has_every_lens_every_word_and_the_way_out_of_a_presentation(visit):
    visitor = visit("/heads", width=390, height=844, has_touch=True, is_mobile=True)
    a_word_of_the_glossary_is_explained_by_touch(visitor)
    visitor.page.mouse.move(0, 0)
    visitor.page.evaluate("document.activeElement.blur()")
    visitor.resize(390, "dark", height=844)
    a_word_of_the_glossary_is_explained_by_touch(visitor)
    a_lens_is_one_tap_away(visitor)
    for path in ("/heads?present=true", "/profiling?present=true"):  # a picture, and a wide table
        a_phone_that_is_sent_a_presentation_shows_the_page_and_the_way_out(visitor, path)
    a_text_applies_when_the_keyboard_closes(visitor)
