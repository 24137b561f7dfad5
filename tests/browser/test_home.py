"""Home: its sentence is edited in place, pictures follow while one types, and links lead where they say."""

import re

from playwright.sync_api import Locator, expect

from benchmarks.streamlit_private.dom import MAIN, SIDEBAR
from tests.browser.conftest import PHONE, Visitor
from tfm_ui.lenses import lens
from tfm_ui.lenses.home.cards import CARDS
from tfm_ui.state.lab_gpt import PROSE

SAID, ROW = "[data-words=said_next]", "[data-words=tokens_home_why]"
TYPED = " States and their"
LINES = 4  # of the box, before it is scrolled
# What can be told of an element's place in the window.
INSIDE = "e => { const { top, bottom } = e.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight }"
# A hand that does not rest, as long as nobody stops it.
GOES_ON = "box => setInterval(() => box.dispatchEvent(new Event('input')), 200)"
NAMES = """() => JSON.stringify([...document.querySelectorAll(".st-key-panel_next *")]
  .flatMap(e => e.shadowRoot ? [...e.shadowRoot.querySelectorAll(".ytick text")] : []).map(e => e.textContent))"""


def sentence(visitor: Visitor) -> Locator:
    """The box in which the sentence is edited."""
    return visitor.page.locator(".st-key-editor textarea")


def in_sidebar(visitor: Visitor) -> Locator:
    return visitor.page.locator(f"{SIDEBAR} .st-key-text textarea")


def write_on(visitor: Visitor, text: str) -> None:
    """Type at the end of the sentence, at the speed of a hand."""
    sentence(visitor).click()
    visitor.page.keyboard.press("Control+End")
    visitor.page.keyboard.type(text, delay=30)


def bars_words_and_row_follow_while_one_types_and_no_page_is_run(visitor: Visitor) -> None:
    expect(sentence(visitor)).to_have_value(PROSE)
    address, sent, runs, before = visitor.page.url, visitor.messages_sent, visitor.runs, visitor.page.evaluate(NAMES)
    assert "States" in before
    hand = sentence(visitor).evaluate(GOES_ON)  # however long a key, or a picture, takes on a busy machine
    write_on(visitor, TYPED)
    expect(visitor.page.locator(SAID)).to_contain_text("after “·their” is")
    expect(visitor.page.locator(f"{ROW} .token").last).to_contain_text("·their")
    assert visitor.page.evaluate(NAMES) != before
    assert (visitor.page.url, visitor.messages_sent, visitor.runs) == (address, sent, runs)
    visitor.page.evaluate("hand => clearInterval(hand)", hand)


def when_typing_rests_it_is_one_act_that_the_sidebar_shows_and_undo_takes_back(visitor: Visitor) -> None:
    expect(visitor.page).to_have_url(re.compile("their"))
    visitor.wait()
    expect(in_sidebar(visitor)).to_have_value(PROSE + TYPED)
    expect(sentence(visitor)).to_be_focused()
    said = visitor.page.locator(SAID).inner_text()
    visitor.page.reload()
    visitor.wait()
    expect(sentence(visitor)).to_have_value(PROSE + TYPED)
    assert visitor.page.locator(SAID).inner_text() == said
    write_on(visitor, " own")
    visitor.page.keyboard.press("Enter")  # a line is not begun
    expect(visitor.page).to_have_url(re.compile(r"their\+own\b"))
    visitor.wait()
    visitor.press("Undo")
    visitor.wait()
    expect(sentence(visitor)).to_have_value(PROSE + TYPED)
    expect(in_sidebar(visitor)).to_have_value(PROSE + TYPED)
    expect(visitor.page.locator(SAID)).to_contain_text("after “·their” is")
    expect(visitor.page.get_by_role("button", name="Undo", exact=True)).to_be_disabled()


def what_is_typed_in_the_sidebar_or_taken_back_stands_in_the_sentence(visitor: Visitor) -> None:
    in_sidebar(visitor).fill("The captain looked")
    in_sidebar(visitor).press("Control+Enter")
    visitor.wait()
    expect(sentence(visitor)).to_have_value("The captain looked")
    sent, hand = visitor.messages_sent, sentence(visitor).evaluate(GOES_ON)
    write_on(visitor, " at")
    expect(visitor.page.locator(SAID)).to_contain_text("after “·at” is")
    visitor.page.evaluate("hand => clearInterval(hand)", hand)
    visitor.page.keyboard.press("Escape")
    expect(sentence(visitor)).to_have_value("The captain looked")
    expect(visitor.page.locator(SAID)).to_contain_text("after “·looked” is")
    assert visitor.messages_sent == sent


def who_leaves_the_box_has_told_the_page(visitor: Visitor) -> None:
    write_on(visitor, " up")
    visitor.page.locator("h1").first.click()
    expect(visitor.page).to_have_url(re.compile(r"looked\+up\b"))
    visitor.wait()
    expect(in_sidebar(visitor)).to_have_value("The captain looked up")


def test_the_sentence_is_edited_in_place(visit):
    visitor = visit("/")
    bars_words_and_row_follow_while_one_types_and_no_page_is_run(visitor)
    when_typing_rests_it_is_one_act_that_the_sidebar_shows_and_undo_takes_back(visitor)
    what_is_typed_in_the_sidebar_or_taken_back_stands_in_the_sentence(visitor)
    who_leaves_the_box_has_told_the_page(visitor)


def an_empty_text_asks_for_a_word_beside_the_box_and_the_next_one_brings_all_back(visitor: Visitor) -> None:
    visitor.back_to("/?weights=random&text=a+cat")
    sentence(visitor).fill("")
    visitor.page.get_by_text("Type at least one word above.").wait_for()
    visitor.wait()
    expect(visitor.page.locator(".st-key-stage")).to_have_count(0)
    expect(sentence(visitor)).to_be_focused()
    expect(sentence(visitor)).to_be_editable()
    assert visitor.page.locator(".problem:visible").count() == 0
    visitor.page.keyboard.type("a dog")
    visitor.page.locator(SAID).wait_for()
    visitor.wait()
    expect(visitor.page.locator(SAID)).to_contain_text("After “dog”")
    expect(sentence(visitor)).to_have_value("a dog")
    visitor.open("/?weights=random&text=")
    visitor.page.get_by_text("Type at least one word above.").wait_for()
    expect(sentence(visitor)).to_be_editable()


def hostile_and_long_texts_stay_text_and_are_scrolled_to(visitor: Visitor) -> None:
    title = visitor.page.title()
    for text in (
        "<img src=x onerror=document.title=1> <b>a</b> &amp; 🦊👩‍👩‍👧 \u202e a\nb",
        "word " * 4000 + "the end",
    ):
        visitor.back_to("/?weights=random&text=a+cat")
        sentence(visitor).fill(text)
        sentence(visitor).press("Enter")
        visitor.page.wait_for_function("!location.search.includes('a+cat')")
        visitor.wait()
        expect(sentence(visitor)).to_have_value(text[:20_000])
        expect(in_sidebar(visitor)).to_have_value(text[:20_000])
        assert visitor.page.locator(f"{MAIN} :is(img[src=x], b b)").count() == 0
        assert visitor.page.title() == title
    box = sentence(visitor).evaluate(
        "e => [e.clientHeight, e.scrollHeight, parseFloat(getComputedStyle(e).lineHeight)]"
    )
    high, whole, line = box
    assert LINES * line <= high < (LINES + 1) * line < whole


def weights_that_read_something_else_say_what_and_why_and_lock_the_box(visitor: Visitor) -> None:
    visitor.back_to("/?weights=induction")
    expect(sentence(visitor)).not_to_be_editable()
    expect(sentence(visitor)).to_have_value(re.compile("^k y m n"))
    line = visitor.page.locator("[data-words=read_instead]")
    expect(line).to_contain_text("The model reads an example of its task")
    assert line.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    in_sidebar(visitor).fill("a b c a b")
    in_sidebar(visitor).press("Control+Enter")
    visitor.wait()
    expect(sentence(visitor)).to_be_editable()
    expect(sentence(visitor)).to_have_value("a b c a b")
    expect(line).to_be_hidden()


def test_whatever_is_typed_the_box_stays(visit):
    visitor = visit("/?weights=random")
    an_empty_text_asks_for_a_word_beside_the_box_and_the_next_one_brings_all_back(visitor)
    hostile_and_long_texts_stay_text_and_are_scrolled_to(visitor)
    weights_that_read_something_else_say_what_and_why_and_lock_the_box(visitor)


def test_a_phone_has_the_way_in_the_text_and_the_bars_on_its_first_screen(visit):
    visitor = visit("/", **PHONE)
    start = visitor.page.locator(".st-key-way_in a")
    for element in (start, sentence(visitor), visitor.page.locator(".st-key-panel_next [data-picture]")):
        assert element.evaluate(INSIDE)
    above = visitor.page.locator(f":is({MAIN} a, {MAIN} button, {MAIN} textarea):visible").evaluate_all(
        """all => all
          .filter(e => !(e.getRootNode().host ?? e).closest(".st-key-lens_links, .st-key-share, .st-key-search"))
          .map(e => [e.getBoundingClientRect().top, e.innerText])"""
    )
    first = [words for at, words in above if at == min(above)[0]]
    assert ["Start here" in words or "Enter a room" in words for words in first] == [True, True]
    assert "hover" not in visitor.page.locator(MAIN).inner_text().lower()
    sentence(visitor).tap()
    visitor.page.keyboard.type(" a cat")
    visitor.page.keyboard.press("Enter")
    expect(sentence(visitor)).not_to_be_focused()  # so that the keyboard closes
    visitor.page.wait_for_function("location.search.includes('a+cat')")
    visitor.wait()


def the_way_in_leads_to_the_first_lesson(visitor: Visitor) -> None:
    links = visitor.page.get_by_role("link", name="Start here, ten minutes")
    expect(links).to_have_count(2)
    assert all(re.search(r"learn\?lesson=start-here$", link.get_attribute("href")) for link in links.all())
    links.first.click()
    visitor.page.wait_for_function("location.search.includes('lesson=start-here')")
    expect(visitor.page.locator(".st-key-lesson")).to_contain_text("1 of")
    visitor.wait()


def the_row_leads_to_its_head_and_to_its_cell(visitor: Visitor) -> None:
    visitor.back_to("/?seed=5&text=a+cat+sat+on+a+mat")
    layer, head = re.search(
        r"layer (\d), head (\d)", visitor.page.locator("[data-words=title_home_why]").inner_text()
    ).groups()
    row = visitor.page.locator(f"{ROW} small").all_inner_texts()
    visitor.press("All of this head")
    visitor.page.get_by_text(f"Layer {layer}, head {head}", exact=True).first.wait_for()
    visitor.wait()
    assert "seed=5" in visitor.page.url
    assert [f"{weight:.2f}" for weight in visitor.weights()[-1]] == row
    visitor.back_to("/?seed=5&text=a+cat+sat+on+a+mat")
    visitor.press("How this weight is computed")
    visitor.page.wait_for_url("**/attention?*")
    visitor.wait()
    assert "attention_query=6" in visitor.page.url
    assert "seed=5" in visitor.page.url


def each_card_leads_to_its_page_and_keeps_the_model(visitor: Visitor) -> None:
    for name in CARDS:
        visitor.back_to("/?seed=5")
        visitor.page.locator(f".st-key-card_{name} a").click()
        visitor.page.wait_for_url(f"**/{name}?*")
        visitor.wait()
        expect(visitor.page).to_have_url(re.compile("seed=5"))


def what_gives_a_prediction_away_is_hidden_until_it_is_made(visitor: Visitor) -> None:
    visitor.back_to("/?weights=lab-gpt&home_question=a-language-model")
    given_away = [visitor.page.locator(place).first for place in (SAID, ".st-key-panel_next [data-picture]")]
    given_away.append(visitor.page.locator(".st-key-card_generate [data-picture]"))
    for element in given_away:
        expect(element).to_be_hidden()
    expect(sentence(visitor)).to_be_visible()
    expect(visitor.page.locator(f"{ROW} .token").first).to_be_visible()
    visitor.press("Predict")
    visitor.page.locator(".st-key-answer input").fill("50")
    visitor.page.locator(".st-key-answer input").press("Enter")
    visitor.page.locator(".measured").wait_for()
    visitor.wait()
    for element in given_away:
        expect(element).to_be_visible()


def who_presents_edits_the_sentence_on_the_screen(visitor: Visitor) -> None:
    visitor.back_to("/?weights=lab-gpt&present=true")
    for element in (
        sentence(visitor),
        visitor.page.locator(".st-key-panel_next [data-picture]"),
        visitor.page.locator(SAID),
    ):
        assert element.evaluate(INSIDE)
    visitor.page.keyboard.press("t")
    expect(sentence(visitor)).to_be_focused()
    expect(visitor.page.locator(SIDEBAR)).to_be_hidden()
    visitor.page.keyboard.type("n l k of the")  # letters, and no keys
    visitor.page.keyboard.press("Enter")
    visitor.page.wait_for_function("location.search.includes('text=n+l+k+of+the')")
    visitor.wait()
    expect(visitor.page.locator(".where")).to_contain_text(lens("home").title)
    expect(visitor.page.locator(SAID)).to_contain_text("after “·the” is")


def test_home_leads_on_hides_what_is_to_be_predicted_and_is_presented(visit):
    visitor = visit("/?seed=5")
    the_way_in_leads_to_the_first_lesson(visitor)
    the_row_leads_to_its_head_and_to_its_cell(visitor)
    each_card_leads_to_its_page_and_keeps_the_model(visitor)
    what_gives_a_prediction_away_is_hidden_until_it_is_made(visitor)
    who_presents_edits_the_sentence_on_the_screen(visitor)
