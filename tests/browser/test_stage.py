"""The main picture of a view has the first screen, and no act moves it."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessible import barriers
from tests.browser.conftest import Visitor
from tests.browser.stage import path, picture, presented, top, walked, whole_picture
from tfm_ui.lenses import lenses
from tfm_ui.text.glossary import explained

NAMES = [each.name for each in lenses()]
HALLS = ((1024, 768), (1440, 900), (1920, 1080))
LOWEST_TOP = 260
SHARE = 0.6  # of the window that the main picture has at least, while presenting
LINES = 45  # of the smallest label, in the height of a window


def overflow(visitor: Visitor) -> float:
    """By how many pixels the page is wider than the window."""
    inside = "e => Math.max(e.scrollWidth - e.clientWidth, document.documentElement.scrollWidth - innerWidth)"
    return visitor.page.locator(".stMain").evaluate(inside)


def scrolled(visitor: Visitor) -> list[str]:
    """The pictures that would have to be scrolled sideways."""
    return visitor.page.locator("[data-picture]").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    )


def clipped(visitor: Visitor) -> list[str]:
    """What stands in the rows around the picture and is higher than its row, or lies below the window's end."""
    return visitor.page.locator(":is(.st-key-header, .st-key-question, .st-key-knobs)").evaluate_all(
        """rows => rows.flatMap(row => [...row.querySelectorAll(
            "h1, p, button, input, [data-testid=stNumberInputContainer], .react-aria-ComboBox")].filter(e => {
            const { top, bottom } = row.getBoundingClientRect(), box = e.getBoundingClientRect()
            return box.height > 1 && (box.top < top - 1 || box.bottom > Math.min(bottom, innerHeight) + 1)
        }).map(e => `${row.className}: ${e.outerHTML}`))"""
    )


# The tabs that lie below the bar that stands right of them.
COVERED = """() => {
  const bar = document.querySelector(".st-key-present_bar").getBoundingClientRect()
  return [...document.querySelectorAll(".st-key-tabs button")].filter(e => e.getBoundingClientRect().right > bar.left)
    .map(e => e.innerText)
}"""
# Each question's text in the row: how high the row is, how much room is left in it, and where the stage begins.
ROWS = """asks => asks.map(ask => {
  const [text, row, stage] = [".ask", ".st-key-question", ".st-key-stage"].map(name => document.querySelector(name))
  text.innerHTML = ask
  const [inner, outer] = [text, row].map(element => element.getBoundingClientRect())
  return { height: outer.height, above: inner.top - outer.top, below: outer.bottom - inner.bottom,
    stage: stage.getBoundingClientRect().top }
})"""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "height", "scheme"), [(1440, 900, "light"), (1024, 768, "dark")])
def test_the_main_picture_is_whole_on_the_first_screen(visit, name, width, height, scheme):
    visitor = visit(path(name), width=width, height=height, color_scheme=scheme)
    for view in walked(visitor, name):
        box = whole_picture(visitor, height + 0.5)
        assert box.top <= LOWEST_TOP, (view, box)
        assert box.top + box.height <= height + 0.5, (view, box)
        assert box.left >= 0, view
        assert box.left + box.width <= width, view
        assert overflow(visitor) <= 1, view
        assert scrolled(visitor) == [], view
        assert clipped(visitor) == [], view
        if scheme == "light":
            assert barriers(visitor) == [], view


@pytest.mark.parametrize("name", NAMES)
def test_a_page_enlarged_to_200_percent_loses_nothing_and_keeps_nobody_out(visit, name):
    visitor = visit(path(name), width=720, height=450, color_scheme="dark")  # half of 1440 × 900
    for view in walked(visitor, name):
        assert overflow(visitor) <= 1, view
        assert clipped(visitor) == [], view
        assert barriers(visitor) == [], view


def test_what_the_app_is_for_is_read_whole_on_a_phone(visit):
    page = visit("/", width=390, height=844).page
    lead, header = (page.locator(name).bounding_box() for name in (".lead", ".st-key-header"))
    assert header["y"] <= lead["y"]
    assert lead["y"] + lead["height"] <= header["y"] + header["height"]


@pytest.mark.parametrize("name", NAMES)
def test_presenting_gives_the_picture_the_screen(visit, name):
    visitor = visit(presented(path(name)))
    for view in walked(visitor, name):
        for width, height in HALLS:
            visitor.resize(width, height=height)
            box = whole_picture(visitor, height)
            assert box.width * box.height >= SHARE * width * height, (view, width, height, box)
            assert box.top + box.height <= height, (view, width, height, box)
            assert overflow(visitor) <= 1, view
            assert clipped(visitor) == [], view
            assert not visitor.page.evaluate(COVERED), (view, width)
            size = visitor.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
            assert size * 13 / 16 >= height / LINES
        assert barriers(visitor) == [], view


def act(visitor: Visitor, control: Locator) -> str:
    """Change a control in its own way; what was done."""
    kind = control.evaluate("e => e.type || e.getAttribute('role') || e.tagName")
    if kind == "range":
        control.focus()
        visitor.page.keyboard.press("ArrowRight")
    elif kind == "textarea":
        control.fill("an apple a day keeps the doctor away, and a pear does not")
        control.press("Control+Enter")
    elif kind in ("number", "text") and control.get_attribute("role") != "combobox":
        control.focus()
        visitor.page.keyboard.press("ArrowUp")
        visitor.page.keyboard.press("Enter")
    elif kind == "combobox" or control.get_attribute("role") == "combobox":
        control.click()
        visitor.page.keyboard.press("ArrowDown")
        visitor.page.keyboard.press("Enter")
    else:
        control.click(force=True)
    visitor.wait()
    return f"{kind} {control.get_attribute('aria-label')}"


CONTROLS = ":is(input, textarea, [data-testid^=stBaseButton-segmented], button[kind=tertiary]):visible"


def acts_move_nothing(visitor: Visitor, place: str) -> int:
    """Act on every control of a place, and find the stage where it was; how many there were."""
    visitor.wait()
    before, count = top(visitor), visitor.page.locator(f"{place} {CONTROLS}").count()
    for number in range(count):
        control = visitor.page.locator(f"{place} {CONTROLS}").nth(number)
        if not control.count() or control.is_disabled():
            continue
        done = act(visitor, control)
        assert top(visitor) == pytest.approx(before, abs=0.5), (place, number, done)
        visitor.page.keyboard.press("Escape")
    return count


@pytest.mark.parametrize("name", NAMES)
def test_no_control_of_a_view_moves_its_picture(visit, name):
    visitor = visit(path(name))
    for view in walked(visitor, name):
        acts_move_nothing(visitor, ".st-key-knobs")
        before, box = top(visitor), picture(visitor)
        visitor.page.mouse.click(box.left + box.width / 2, box.top + box.height / 2)
        visitor.wait()
        if name != "home":  # there a click leads to another page
            assert top(visitor) == pytest.approx(before, abs=0.5), view
            visitor.page.keyboard.press("Escape")


@pytest.mark.parametrize("path", ["/heads", "/masks?masks_view=padding"])
def test_no_control_of_the_model_moves_a_picture(visit, path):
    visitor = visit(path)
    visitor.page.get_by_text("More of the model").click()
    assert acts_move_nothing(visitor, ".stSidebar") > 8


def test_a_link_that_is_corrected_moves_nothing_when_its_notice_goes(visit):
    visitor = visit("/heads?num_heads=7&seed=abc")
    before = top(visitor)
    assert before == pytest.approx(top(visit("/heads")), abs=0.5)
    visitor.press("Dismiss")
    visitor.wait()
    assert top(visitor) == pytest.approx(before, abs=0.5)


@pytest.mark.parametrize(
    ("path", "sizes"),
    [
        ("/masks", [(1440, 900), (1100, 800), (1024, 768), (720, 450), (641, 800), (390, 844), (360, 740)]),
        ("/masks?present=true", [(1920, 1080), (1024, 768), (900, 800)]),
    ],
    ids=["page", "presenting"],
)
def test_the_row_has_room_for_each_question_and_one_height_for_all(visit, path, sizes):
    visitor = visit(path)
    asks = [explained(question.ask) for lens in lenses() for question in lens.questions]
    for width, height in sizes:
        visitor.resize(width, height=height)
        rows = visitor.page.evaluate(ROWS, asks)
        assert len({(row["stage"], row["height"]) for row in rows}) == 1
        assert [ask for ask, row in zip(asks, rows, strict=True) if min(row["above"], row["below"]) < 0] == []


def test_a_question_stays_while_its_controls_move_and_offers_the_way_back(visit):
    visitor = visit("/attention?attention_view=change")
    page, asks = visitor.page, visitor.page.locator(".ask")
    visitor.press("Next question")
    visitor.wait()
    expect(page).to_have_url(re.compile("attention_question=10"))
    question, back = asks.inner_text(), page.locator(".st-key-_set_up button").first
    expect(back).to_be_disabled()
    page.locator(".st-key-knobs input").first.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    visitor.wait()
    assert asks.inner_text() == question
    expect(back).to_be_enabled()
    again = visit(page.url.removeprefix(visitor.address))
    assert again.page.locator(".ask").inner_text() == question
    back.click()
    visitor.wait()
    expect(back).to_be_disabled()
    assert asks.inner_text() == question


def test_what_is_computed_leaves_the_old_picture_and_its_titles_in_sight(visit):
    visitor = visit("/heads")
    release = visitor.behind()
    visitor.choose_seed(8)
    visitor.page.wait_for_timeout(1500)
    visible = "e => getComputedStyle(e).opacity === '1' && e.getBoundingClientRect().height > 0"
    for element in visitor.page.locator(".st-key-stage :is(.phead, .stElementContainer)").all():
        assert element.evaluate(visible)
    release(5)
    visitor.wait()


def test_an_answer_waits_until_it_is_asked_for_and_stands_beside_the_prediction(visit):
    visitor = visit("/masks?masks_view=leaks")
    before = top(visitor)
    visitor.press("Answer")
    box = visitor.page.locator(".st-key-answer")
    box.wait_for()
    assert box.locator(".said").count() == 0
    if box.locator("input").count():
        box.locator("input").fill("7")
        box.locator("input").press("Enter")
    visitor.page.locator(".st-key-_show_answer button").click()
    expect(box.locator(".measured")).to_contain_text("Here it is")
    assert box.locator(".said").inner_text().endswith(".")
    assert top(visitor) == pytest.approx(before, abs=0.5)
