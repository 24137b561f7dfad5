"""A room in browsers: an owner, a follower at a desk and one on a phone, each in a browser of its own."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import ALL_BUT_CONTRAST, barriers
from tests.browser.conftest import PATIENCE, PHONE, Visitor
from tests.tfm_ui.lessons.lesson_text import FIRST, HEAD, SECOND

STEP = "/heads?lesson=why-attention&heads_layer=1&heads_head=1"  # at how many tokens can the last row look?
IN_WORDS = HEAD + FIRST.replace("How wide is a head?", "What does the row say?").replace(
    "options: number numbers\nmeasured: d_k\n", "options: text\n"
)
IN_WORDS += SECOND
BAR = ".st-key-classroom .room"


def bar(visitor: Visitor):
    return visitor.page.locator(BAR)


def open_room(visitor: Visitor) -> str:
    """Open a room, and return its code."""
    visitor.page.locator(".st-key-_open_room button").first.click()
    visitor.press("Open a room")
    code = visitor.page.locator(".code_of_room").inner_text()
    expect(bar(visitor)).to_contain_text(f"Room {code}")
    visitor.wait()
    expect(visitor.page.locator(".code_of_room")).to_be_visible()  # it stays until it is put away
    assert re.fullmatch("[BCDFHJKLMNPRTWXY]{4}", code)
    visitor.page.keyboard.press("Escape")
    expect(bar(visitor)).to_contain_text(f"Room {code}")
    visitor.wait()
    return code


def enter(visitor: Visitor, code: str) -> None:
    """Type a code, as it may be typed."""
    visitor.page.get_by_label("Code of the room", exact=True).fill(f" {code.lower()}")
    visitor.press("Enter")
    expect(bar(visitor)).to_contain_text(f"Room {code}")


def expect_at(visitor: Visitor, *parts: str) -> None:
    """Its address has these parts, once it has followed, and its page is at rest."""
    for part in parts:
        visitor.page.wait_for_function("part => location.href.includes(part)", arg=part, timeout=PATIENCE)
    visitor.wait()


def veiled(visitor: Visitor) -> int:
    """How many places of the page are hidden until an answer is shown."""
    return visitor.page.evaluate(
        """() => [...document.querySelectorAll("body *")]
          .filter(e => getComputedStyle(e, "::after").content.includes("Hidden until")).length"""
    )


def close(owner: Visitor) -> None:
    """Close the room, if it is open: it would be one of twenty."""
    owner.page.evaluate(
        """async () => {
          const { role } = window.attentionLabRoom ?? {}
          if (role?.secret) await fetch(new URL(`rooms/${role.code}/close`, document.baseURI),
            { method: "POST", headers: { "X-Room-Secret": role.secret } })
        }"""
    )


@pytest.fixture
def room(visit):
    """An owner, two followers in other browsers, and the code of the room."""
    owner, desk, phone = visit("/heads"), visit("/room"), visit("/room", **PHONE)
    code = open_room(owner)
    yield owner, desk, phone, code
    close(owner)


def both_come_in_by_code_and_by_link(owner, desk, phone, code):
    enter(phone, code)
    desk.open(f"/room?code={code}")
    for each in (desk, phone):
        expect_at(each, "/heads")
        expect(bar(each)).to_contain_text("You follow.")
        assert "code=" not in each.page.url
    expect(bar(owner)).to_contain_text("2 here")


def what_is_dragged_is_followed_before_it_is_let_go(owner, desk, phone):
    before = desk.weights()
    slider = owner.page.get_by_role("slider", name="d_model").first
    box = slider.bounding_box()
    owner.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    owner.page.mouse.down()
    owner.page.mouse.move(box["x"] + box["width"] - 6, box["y"] + box["height"] / 2, steps=6)
    desk.page.wait_for_function("() => document.querySelector('.st-key-classroom') && "
                                "window.attentionLabCarried().d_model", timeout=PATIENCE)  # fmt: skip
    assert "d_model" not in desk.page.url
    owner.page.mouse.up()
    owner.wait()
    for each in (desk, phone):
        expect_at(each, "d_model=")
        assert each.weights() == owner.weights() != before


def pages_are_followed(owner, desk, phone):
    owner.go("Masks")
    for each in (desk, phone):
        expect_at(each, "/masks")
    owner.back_to(STEP)
    for each in (desk, phone):
        expect_at(each, "/heads", "lesson=why-attention")
        expect(each.page.locator(".st-key-lesson")).to_contain_text("Every token looks by itself")


def the_room_predicts_before_the_answer_is_shown(owner, desk, phone):
    assert bar(desk).locator(".card").is_hidden()
    owner.press("Predict")
    for each in (desk, phone):
        expect(bar(each)).to_contain_text("At how many tokens can it look, itself included?")
        expect(each.page.locator(".st-key-_answer")).to_be_hidden()
    expect(bar(owner)).to_contain_text("0 of 2 have answered.")
    for each, number in ((desk, "3"), (phone, "7")):
        bar(each).get_by_role("textbox").fill(number)
        bar(each).get_by_role("button", name="Send", exact=True).click()
        expect(bar(each)).to_contain_text(f"You answered {number}.")
    box = bar(desk).get_by_role("textbox")
    box.fill("1,5")
    box.press("Enter")
    expect(bar(desk)).to_contain_text("You answered 1.5.")
    expect(box).to_be_focused()  # though the card is drawn anew
    box.fill("10")
    bar(desk).get_by_role("button", name="Change", exact=True).click()
    expect(bar(desk)).to_contain_text("You answered 10. You can change it until answers are shown.")
    for each in (owner, desk, phone):
        expect(bar(each)).to_contain_text("2 of 2 have answered.")
        assert bar(each).locator(".chart").count() == 0
        assert veiled(each) > 0
        assert "At all 10" not in each.page.locator("body").inner_text()


def what_all_answered_stands_beside_what_is_computed(owner, desk, phone):
    bar(owner).get_by_role("button", name="Show answers", exact=True).click()
    expect(owner.page.locator(".st-key-answer")).to_contain_text("At all 10, each directly.")
    for each in (desk, phone):
        expect(bar(each)).to_contain_text("At all 10, each directly.")
        expect(bar(each)).to_contain_text("It is 10.")
    for each in (owner, desk, phone):
        expect(bar(each).locator(".chart .main-svg").first).to_be_visible()
        dots = "e => e._fullData.filter(({ mode, customdata }) => mode && customdata).map(({ x }) => [...x])"
        assert [sorted(x) for x in bar(each).locator(".plot").evaluate(dots)] == [[7, 10]]
    expect(bar(phone)).to_contain_text("You answered 7.")


def what_was_shown_stays_shown_and_comes_back(owner, desk, phone):
    owner.press("Hide")
    for each in (desk, phone):
        expect(bar(each).locator(".card")).to_be_hidden()
        each.wait()
        assert veiled(each) == veiled(owner) == 0
    owner.press("Answer")
    for each in (owner, desk, phone):
        expect(bar(each)).to_contain_text("2 answered.")
        expect(bar(each).locator(".chart .main-svg").first).to_be_visible()


def who_goes_elsewhere_is_told_and_goes_back(owner, desk):
    desk.go("Positions")
    expect(bar(desk)).to_contain_text("You have gone elsewhere, until the lecturer moves.")
    bar(desk).get_by_role("button", name="Back to the room", exact=True).click()
    expect_at(desk, "/heads", "lesson=why-attention")
    expect(bar(desk)).to_contain_text("You follow.")


def one_explores_alone_and_comes_back(owner, desk, phone):
    bar(desk).get_by_role("button", name="Explore alone", exact=True).click()
    expect(bar(desk)).to_contain_text("You explore alone.")
    owner.go("Positions")
    expect_at(phone, "/positions")
    assert "/heads" in desk.page.url
    desk.page.reload()
    desk.wait()
    expect(bar(desk)).to_contain_text("You explore alone.")
    bar(desk).get_by_role("button", name="Back to the room", exact=True).click()
    expect_at(desk, "/positions")
    expect(bar(desk)).to_contain_text("You follow.")


def the_owner_asks_a_poll_from_the_desk_to_which_nobody_follows(owner, desk, phone):
    owner.page.locator(".st-key-_open_room button").first.click()
    owner.page.get_by_role("link", name="Your desk: polls, answers in words").click()
    owner.page.get_by_label("Question", exact=True).fill("Ready for the <b>next</b> lens?")
    owner.page.get_by_label("Choice 1", exact=True).fill("yes")
    owner.press("Ask the room")
    expect(owner.page.get_by_text("Expected 2 to 5 choices, got 1")).to_be_visible()
    owner.page.get_by_label("Choice 2", exact=True).fill("not yet")
    owner.press("Ask the room")
    for each, choice in ((desk, "yes"), (phone, "not yet")):
        expect(bar(each)).to_contain_text("Ready for the <b>next</b> lens?")
        bar(each).get_by_role("button", name=choice, exact=True).click()
        expect(bar(each)).to_contain_text(f"You answered {choice}.")
    expect(bar(owner)).to_contain_text("2 of 2 have answered.")
    assert "/positions" in desk.page.url
    bar(owner).get_by_role("button", name="Show answers", exact=True).click()
    for each in (owner, desk, phone):
        expect(bar(each)).to_contain_text("2 answered.")
        expect(bar(each).locator(".chart")).to_contain_text("50%")
    bar(owner).get_by_role("button", name="Done", exact=True).click()
    for each in (desk, phone):
        expect(bar(each).locator(".card")).to_be_hidden()


def one_leaves_and_the_room_is_closed_for_the_other(owner, desk, phone, code):
    bar(phone).get_by_role("button", name="Leave", exact=True).click()
    expect(bar(phone)).to_be_hidden()
    expect(bar(owner)).to_contain_text("1 here")
    owner.press("Close the room")
    for each in (owner, desk):
        expect(bar(each)).to_contain_text(f"Room {code} is closed. All that it kept is erased.")
    desk.open("/heads")
    expect(bar(desk)).to_be_hidden()


def test_a_lecture_in_a_room(room):
    owner, desk, phone, code = room
    both_come_in_by_code_and_by_link(owner, desk, phone, code)
    what_is_dragged_is_followed_before_it_is_let_go(owner, desk, phone)
    pages_are_followed(owner, desk, phone)
    the_room_predicts_before_the_answer_is_shown(owner, desk, phone)
    what_all_answered_stands_beside_what_is_computed(owner, desk, phone)
    what_was_shown_stays_shown_and_comes_back(owner, desk, phone)
    who_goes_elsewhere_is_told_and_goes_back(owner, desk)
    one_explores_alone_and_comes_back(owner, desk, phone)
    the_owner_asks_a_poll_from_the_desk_to_which_nobody_follows(owner, desk, phone)
    one_leaves_and_the_room_is_closed_for_the_other(owner, desk, phone, code)


def what_is_new_comes_after_a_break(owner, phone):
    phone.page.context.set_offline(True)
    owner.choose_seed(5)
    owner.wait()
    phone.page.context.set_offline(False)
    expect_at(phone, "seed=5")
    expect(bar(phone)).to_contain_text("You follow.")
    phone.problems.clear()  # the browser says that nobody was reached


def the_owner_stays_one_through_a_reload(owner, phone, code):
    owner.page.reload()
    owner.wait()
    expect(bar(owner)).to_contain_text(f"Room {code}")
    owner.choose_seed(6)
    expect_at(phone, "seed=6")


def what_is_typed_comes_when_it_is_applied(owner, phone):
    owner.go("Home")
    expect_at(phone, ":")
    phone.page.wait_for_function("() => location.pathname === '/'")
    box = owner.page.locator(".st-key-editor textarea")
    owner.page.evaluate(
        """() => {
          const ask = window.fetch, text = query => new URLSearchParams(query).get("text")
          window.said = []
          window.fetch = (url, init) => {
            if (String(url).endsWith("/place")) said.push([text(JSON.parse(init.body).query), text(location.search)])
            return ask(url, init)
          }
        }"""
    )
    box.press_sequentially(" half a word", delay=150)  # longer than it takes until a place is said
    owner.page.wait_for_function("() => location.href.includes('half+a+word')")  # it applies when the hand rests
    expect_at(phone, "half+a+word")
    said = owner.page.evaluate("() => said")
    assert said
    assert [told for told, applied in said if told != applied] == []
    owner.open("/heads?seed=6")
    expect_at(phone, "/heads", "seed=6")


def another_tab_of_the_owner_leads_only_when_it_is_told(owner, phone):
    tab = owner.page.context.new_page()
    second = Visitor(tab, owner.address).open("/masks")
    expect(bar(second)).to_contain_text("The room does not follow this tab.")
    assert "/heads" in phone.page.url
    bar(second).get_by_role("button", name="Lead from this tab", exact=True).click()
    expect_at(phone, "/masks")
    expect(bar(owner)).to_contain_text("The room does not follow this tab.")
    tab.close()
    bar(owner).get_by_role("button", name="Lead from this tab", exact=True).click()
    expect_at(phone, "/heads")


def answers_in_words_are_read_at_the_desk_and_one_is_shown(owner, desk, phone, code):
    secret = owner.page.evaluate("() => window.attentionLabRoom.role.secret")
    desk.open(f"/room#{code}.{secret}")
    expect(desk.page.get_by_role("heading", name=f"Your room {code}")).to_be_visible()
    assert secret not in desk.page.url
    owner.open("/learn")
    owner.page.get_by_text("Bring a lesson of your own").click()
    file = {"name": "mine.md", "mimeType": "text/markdown", "buffer": IN_WORDS.encode()}
    owner.page.locator("[type=file]").set_input_files(file)
    expect(owner.page).to_have_url(re.compile("lesson=brought-"))
    owner.wait()
    owner.page.locator("[class*=st-key-_start_brought] button").click()
    expect_at(phone, "/attention", "lesson=brought-")
    expect(bar(phone)).to_contain_text("What does the row say?")
    bar(phone).get_by_role("textbox").fill("it looks <i>back</i>")
    bar(phone).get_by_role("button", name="Send", exact=True).click()
    expect(bar(desk)).to_contain_text("1 of 1 have answered.")
    assert "looks" not in bar(owner).inner_text()
    bar(desk).get_by_role("button", name="Show answers", exact=True).click()
    expect(bar(phone)).to_contain_text("1 answered.")
    expect(owner.page.locator(".veil")).to_have_count(0)  # the page shows its answer, too
    expect(owner.page.locator(".st-key-answer .said")).to_be_visible()
    bar(desk).get_by_role("button", name="Show to all", exact=True).click()
    for each in (owner, phone):
        expect(bar(each)).to_contain_text("“it looks <i>back</i>”")
    owner.page.get_by_role("button", name="Next step", exact=True).click()
    expect_at(phone, "/heads", "lesson=brought-")
    expect(bar(owner)).to_contain_text("0 of 1 have done the task")
    assert "have done" not in bar(phone).inner_text()


def test_a_room_after_breaks_in_other_tabs_and_on_another_device(room):
    owner, desk, phone, code = room
    enter(phone, code)
    expect_at(phone, "/heads")
    what_is_new_comes_after_a_break(owner, phone)
    the_owner_stays_one_through_a_reload(owner, phone, code)
    what_is_typed_comes_when_it_is_applied(owner, phone)
    another_tab_of_the_owner_leads_only_when_it_is_told(owner, phone)
    answers_in_words_are_read_at_the_desk_and_one_is_shown(owner, desk, phone, code)


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_nothing_keeps_anybody_out_of_a_room(visit, color_scheme):
    owner, phone = visit(STEP, color_scheme=color_scheme), visit("/room", color_scheme=color_scheme, **PHONE)
    code = open_room(owner)
    assert barriers(phone) == []
    enter(phone, code)
    expect_at(phone, "/heads")
    owner.press("Predict")
    bar(phone).get_by_role("textbox").fill("4")
    bar(phone).get_by_role("button", name="Send", exact=True).click()
    expect(bar(phone)).to_contain_text("You answered 4.")
    for is_shown in (False, True):
        if is_shown:
            bar(owner).get_by_role("button", name="Show answers", exact=True).click()
            expect(bar(phone).locator(".chart .main-svg").first).to_be_visible()
        for each in (owner, phone):
            each.wait()
            assert barriers(each) == []
            assert each.page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    owner.press("Present")
    owner.wait()
    assert barriers(owner) == []
    bar(owner).get_by_role("button", name="QR", exact=True).click()
    assert barriers(owner, ALL_BUT_CONTRAST) == []  # what lies below the dialog is pale
    owner.page.keyboard.press("Escape")
    close(owner)  # as from another device
    expect(bar(owner)).to_contain_text("is closed. All that it kept is erased.")
    owner.press("Exit")
    owner.wait()
    assert owner.page.evaluate("() => window.attentionLabRoom.role") is None, "the page does not open it again"
