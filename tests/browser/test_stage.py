"""The main picture of a view has the first screen, and no act moves it."""

import re

import pytest
from playwright.sync_api import Locator, expect

from benchmarks.streamlit_private.dom import ELEMENT, MAIN, SIDEBAR, SPINNER, UNFOLD
from tests.browser.accessible import ALL, ALL_BUT_CONTRAST, EVERYWHERE, barriers
from tests.browser.conftest import Visitor
from tests.browser.stage import path_of, picture, top, whole_picture
from tfm_ui.lenses import lens, lenses
from tfm_ui.text.glossary import explained

NAMES = [each.name for each in lenses()]
PHONE, TIGHT = (390, 844), (1024, 768)  # the latter is the smallest that a whole picture must fit
SMALL = (PHONE, (720, 450))  # the latter is half of 1440 × 900: that window enlarged to 200 %
WIDE = (1920, 1080)
WINDOWS = (TIGHT, *SMALL, (1440, 900), WIDE)
LOWEST_TOP = 260
SECOND_ROW = 40  # px, how much lower where sliders or masks have a row of their own, rather than being out of sight


def overflow(visitor: Visitor) -> float:
    """The number of pixels by which the page is wider than the window."""
    inside = "e => Math.max(e.scrollWidth - e.clientWidth, document.documentElement.scrollWidth - innerWidth)"
    return visitor.page.locator(MAIN).evaluate(inside)


def scrolled(visitor: Visitor) -> list[str]:
    """The pictures that would have to be scrolled sideways."""
    return visitor.page.locator("[data-picture]").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.className)"
    )


def clipped(visitor: Visitor) -> list[str]:
    """What stands in the rows around the picture and is higher than its row, or lies below the window's end."""
    return visitor.page.locator(":is(.st-key-header, .st-key-question, .st-key-knobs)").evaluate_all(
        """rows => rows.flatMap(row => [...row.querySelectorAll(
            "h1, p, button, input, :has(> [type=number]), :has(> * > [role=combobox])")].filter(e => {
            const foot = e.closest(":has(> .st-key-facts)") // while presenting
            const own = foot && getComputedStyle(foot).position === "fixed" ? foot : row
            const { top, bottom } = own.getBoundingClientRect(), box = e.getBoundingClientRect()
            return box.height > 1 && (box.top < top - 1 || box.bottom > Math.min(bottom, innerHeight) + 1)
        }).map(e => `${row.className}: ${e.outerHTML}`))"""
    )


CUT = (
    "all => all.filter(e => e.scrollHeight > e.clientHeight + 1).map(e => e.outerHTML)"  # what is higher than its room
)
# Controls that lie outside of their row: there they have to be scrolled to, and nothing says that they are there.
BEYOND = """all => {
  const row = document.querySelector(".st-key-knobs"), end = row ? row.getBoundingClientRect().right + 1 : Infinity
  return all.filter(e => e.getBoundingClientRect().width && e.getBoundingClientRect().right > end)
    .map(e => e.innerText || e.ariaLabel || e.type)
}"""
THIN = "all => all.map(e => e.getBoundingClientRect().width).filter(width => width && width < 119.5)"  # sliders
# Controls that are on screen nowhere; of tabs that scroll, the active one must be in sight.
OUTSIDE = """all => all.map(e => [e.innerText || e.ariaLabel, e.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.left < 0 || box.right > innerWidth + 1)).map(([name]) => name)"""
ACTIVE = ".st-key-tabs button[kind=primary], .st-key-lens_links a[aria-current=page]"
# What stands beside the button that trains or measures, as it is and as these words, where its end is out of sight.
FACTS = """words => [...document.querySelectorAll(".st-key-knobs .facts")].flatMap(e => {
  const now = e.innerHTML, end = e.closest(".st-key-knobs").getBoundingClientRect().right + 1
  const cut = [e.innerText, ...words].filter(text => {
    e.textContent = text
    return e.scrollHeight > e.clientHeight + 1 || e.getBoundingClientRect().right > end
  })
  e.innerHTML = now
  return cut
})"""
STOPPED = "⚠ Stopped. 1,314 of 1,500 steps are made."  # the most that is told of a training that somebody stopped
# Each question's text in the row: how high the row is, how much room is left in it, and where the stage begins.
ROWS = """asks => asks.map(ask => {
  const [text, row, stage] = [".ask", ".st-key-question", ".st-key-stage"].map(name => document.querySelector(name))
  text.innerHTML = ask
  const [inner, outer] = [text, row].map(element => element.getBoundingClientRect())
  return { height: outer.height, above: inner.top - outer.top, below: outer.bottom - inner.bottom,
    stage: stage.getBoundingClientRect().top }
})"""


def act(visitor: Visitor, control: Locator) -> None:
    """Change a control in its own way."""
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


# Not the choice between views under one tab, which opens another picture, as a tab does.
BUTTONS = "button[kind=tertiary]:not(.st-key-choice button)"
CONTROLS = f":is(input, textarea, [role=radio], {BUTTONS}):visible"
NAME = "e => `${e.type || e.getAttribute('role') || e.tagName} ${e.getAttribute('aria-label') || e.innerText}`"


def acts_move_nothing(visitor: Visitor, place: str, known: set[str]) -> None:
    """Act on every control of a place that is not known yet, and find the stage where it was; then it is known."""
    visitor.wait()
    before = top(visitor)
    for number in range(visitor.page.locator(f"{place} {CONTROLS}").count()):
        control = visitor.page.locator(f"{place} {CONTROLS}").nth(number)
        if not control.count() or control.is_disabled() or (name := control.evaluate(NAME)) in known:
            continue
        known.add(name)
        act(visitor, control)
        assert top(visitor) == pytest.approx(before, abs=0.5), (place, name)
        visitor.page.keyboard.press("Escape")


def controls_are_in_sight(visitor: Visitor, view: str) -> None:
    """Each control of the row is there without being scrolled to, and sliders are wide enough to be moved."""
    knobs = visitor.page.locator(".st-key-knobs")
    assert knobs.locator("button, input, select").evaluate_all(BEYOND) == [], view
    assert knobs.locator("input[type=range]").evaluate_all(THIN) == [], view


def main_picture_is_whole(visitor: Visitor, view: str) -> None:
    """The picture is on the first screen, with the row of controls above it, and nothing runs out of the window."""
    width, height = (visitor.page.viewport_size[side] for side in ("width", "height"))
    box = whole_picture(visitor, height + 0.5)
    rows = visitor.page.locator(".st-key-knobs").evaluate_all("all => all.map(e => e.clientHeight > 50)")
    assert box.top <= LOWEST_TOP + SECOND_ROW * any(rows), (view, box)
    assert box.top + box.height <= height + 0.5, (view, box)
    assert box.left >= 0, view
    assert box.left + box.width <= width, view
    assert overflow(visitor) <= 1, view
    assert scrolled(visitor) == [], view
    assert clipped(visitor) == [], view
    assert visitor.page.evaluate(FACTS, [STOPPED]) == [], view


def fits_a_small_window(visitor: Visitor, view: str) -> None:
    """The page is not scrolled sideways, on a phone no picture either, and no control is cut off."""
    assert overflow(visitor) <= 1, view
    if visitor.page.viewport_size["width"] > 640:
        assert clipped(visitor) == [], view
    else:  # controls stand below each other there
        assert scrolled(visitor) == [], view
        assert visitor.page.locator(".st-key-knobs").evaluate_all(CUT) == [], view
        assert visitor.page.locator(".st-key-knobs").locator("button, input").evaluate_all(OUTSIDE) == [], view
        active = visitor.page.locator(ACTIVE)
        assert active.count() == 1 + bool(visitor.page.locator(".st-key-tabs").count()), view  # the lens, and the tab
        assert active.evaluate_all(OUTSIDE) == [], view


@pytest.fixture(scope="module")
def known() -> set[str]:
    """The controls that were moved."""
    return set()


@pytest.mark.parametrize("name", NAMES)
def test_a_view_has_the_first_screen_in_each_window_keeps_nobody_out_and_no_control_moves_it(
    visit, name, known, request
):
    """Each view in the set-up of its first question, in the dark. A window opened so small keeps the sidebar folded.

    The first view of a lens is seen in all windows; the others on a phone, and in the smallest window that their
    picture must fit. Contrast is looked at in the first, as all have the same colours
    (tests/tfm_ui/text/test_contrast.py). The same control of several views is moved in one of them. With --all each
    view has all of that.
    """
    visitor, first = visit(path_of(name), width=1024, height=768, color_scheme="dark"), next(iter(lens(name).views))
    for view in lens(name).views:
        if view != first:
            visitor.back_to(path_of(name, view))
        whole = view == first or request.config.getoption("all_combinations")
        for width, height in WINDOWS if whole else (PHONE, TIGHT):
            visitor.resize(width, "dark", height=height)
            (fits_a_small_window if (width, height) in SMALL else main_picture_is_whole)(visitor, view)
            if (width, height) not in SMALL:
                controls_are_in_sight(visitor, view)
        assert barriers(visitor, ALL if whole else ALL_BUT_CONTRAST, EVERYWHERE if whole else MAIN) == [], view
        if request.config.getoption("all_combinations"):
            known.clear()
        acts_move_nothing(visitor, ".st-key-knobs", known)
        before, box = top(visitor), picture(visitor)
        visitor.page.mouse.click(box.left + box.width / 2, box.top + box.height / 2)
        visitor.wait()
        if name != "home":  # there a click leads to another page
            assert top(visitor) == pytest.approx(before, abs=0.5), view
            visitor.page.keyboard.press("Escape")


@pytest.mark.parametrize(
    ("path", "first", "second"),
    [("/generate", "choice", "attention"), ("/training?training_view=compare", "trained length", "longer")],
)
def test_two_pictures_of_a_view_begin_at_the_same_height(visit, path, first, second):
    visitor, row = visit(path, width=WIDE[0], height=WIDE[1]), ".st-key-knobs"
    for width, height in reversed(WINDOWS):
        visitor.resize(width, height=height)
        tops = []
        for name in (second, first):
            visitor.page.locator(row).get_by_text(name, exact=True).click()
            visitor.wait()
            tops.append(top(visitor))
        assert tops[0] == pytest.approx(tops[1], abs=0.5), (width, height)


@pytest.mark.parametrize("path", ["/heads", "/generate"])
def test_beside_the_sidebar_the_picture_is_whole_and_its_controls_keep_nobody_out(visit, path):
    """The page is opened anew: it takes a moment for another scheme's colours, and nothing marks the end of it."""
    visitor = visit(path)
    for scheme in ("light", "dark"):
        if scheme == "dark":
            visitor.page.emulate_media(color_scheme=scheme)
            visitor.open(path)
        visitor.page.get_by_text("More of the model").click()
        visitor.wait()
        main_picture_is_whole(visitor, path)
        assert barriers(visitor) == [], scheme


@pytest.mark.parametrize(
    ("path", "width", "height"), [("/positions?positions_view=fault", 1024, 768), ("/generate", 720, 450)]
)
def test_no_control_of_a_row_is_out_of_sight_beside_the_sidebar_or_in_an_enlarged_window(visit, path, width, height):
    visitor = visit(path, width=width, height=height)
    if width > 1000:
        visitor.page.locator(UNFOLD).click()
        visitor.page.get_by_text("More of the model").wait_for()
        visitor.wait()
    knobs = visitor.page.locator(".st-key-knobs").locator("button, input, select")
    expect(knobs.last).to_be_visible()
    assert knobs.evaluate_all(BEYOND) == []


def test_what_the_app_is_for_is_read_whole_on_a_phone(visit):
    page = visit("/", width=390, height=844).page
    lead, header = (page.locator(name).bounding_box() for name in (".lead", ".st-key-header"))
    assert header["y"] <= lead["y"]
    assert lead["y"] + lead["height"] <= header["y"] + header["height"]


def test_no_control_of_the_model_moves_a_picture(visit):
    visitor = visit("/masks?masks_view=padding")  # whose sentences and notes depend on most of them
    visitor.page.get_by_text("More of the model").click()
    known = {"text Weights"}  # the last one: trained weights lock others
    acts_move_nothing(visitor, SIDEBAR, known)
    assert len(known) > 12
    known.remove("text Weights")
    acts_move_nothing(visitor, SIDEBAR, known)
    assert "text Weights" in known


def test_a_link_that_is_corrected_moves_nothing_when_its_notice_goes(visit):
    visitor = visit("/heads?num_heads=7&seed=abc")
    before = top(visitor)
    visitor.press("Dismiss")
    visitor.wait()
    assert top(visitor) == pytest.approx(before, abs=0.5)
    visitor.back_to("/heads")
    assert top(visitor) == pytest.approx(before, abs=0.5)


@pytest.mark.parametrize(
    ("path", "sizes"),
    [
        ("/masks", [(1440, 900), (1100, 800), (1024, 768), (720, 450), (641, 800), (390, 844), (360, 740)]),
        ("/masks?present=true", [(1920, 1080), (1024, 768), (900, 800)]),
        ("/heads?text=words+of+my+own", [(1440, 900), (1100, 800), (1024, 768), (641, 800), (390, 844), (360, 740)]),
    ],
    ids=["page", "presenting", "with a way back to the reader's own text"],
)
def test_the_row_has_room_for_each_question_and_one_height_for_all(visit, path, sizes):
    visitor = visit(path)
    if "text=" in path:
        visitor.press("Next question")  # which brings a text
        visitor.wait()
        expect(visitor.page.locator(".st-key-_mine")).to_be_visible()
    asks = [explained(question.ask) for lens in lenses() for question in lens.questions]
    for width, height in sizes:
        visitor.resize(width, height=height)
        rows = visitor.page.evaluate(ROWS, asks)
        assert len({(row["stage"], row["height"]) for row in rows}) == 1
        assert [ask for ask, row in zip(asks, rows, strict=True) if min(row["above"], row["below"]) < 0] == [], width


def test_a_question_stays_while_its_controls_move_and_offers_the_way_back(visit):
    visitor = visit("/attention?attention_view=change")
    page, asks = visitor.page, visitor.page.locator(".ask")
    visitor.press("Next question")
    visitor.wait()
    expect(page).to_have_url(re.compile("attention_question=a-leak"))
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
    for element in visitor.page.locator(f".st-key-stage :is(.phead, {ELEMENT})").all():
        assert element.evaluate(visible)
    release(5)
    visitor.wait()


def test_an_answer_waits_until_it_is_asked_for_beside_the_prediction_and_covers_no_picture(visit):
    visitor = visit("/masks?masks_question=no-leak")
    visitor.resize(1440, height=900)
    picture = visitor.page.locator(".st-key-panel_masks_leaks canvas").first
    expect(picture).to_be_hidden()
    visitor.press("Predict")
    box = visitor.page.locator(".st-key-answer")
    box.wait_for()
    assert box.locator(".said").count() == 0
    expect(box.locator(".st-key-_show_answer button")).to_be_visible()
    box.locator("input").fill("7")
    box.locator("input").press("Enter")
    expect(box.locator(".measured")).to_contain_text("You predicted 7. Here it is")
    assert box.locator(".said").inner_text().endswith(".")
    expect(picture).to_be_visible()
    visitor.wait()
    strip, stage = (visitor.page.locator(place).bounding_box() for place in (".st-key-answer", ".st-key-stage"))
    assert strip["y"] + strip["height"] <= stage["y"]
    assert picture.evaluate("canvas => canvas.getBoundingClientRect().bottom <= innerHeight")  # it has become lower


@pytest.mark.parametrize("width", [1440, 390])
def test_what_is_being_computed_is_said_in_the_window_and_over_no_control(visit, width):
    """It is said while a page is run: here one that sends a text through 48 layers."""
    visitor = visit("/profiling", width=width)
    visitor.page.goto(f"{visitor.address}/model?model_view=depth&model_depth=48&d_model=256&d_ff=1024&seed={width}")
    said = visitor.page.locator(f".st-key-running {SPINNER}")
    said.wait_for()
    covered = said.evaluate(
        """said => {
            const { left, top, right, bottom } = said.getBoundingClientRect()
            const controls = document.querySelectorAll(
                ":is(.st-key-header, .st-key-question, .st-key-knobs) :is(button, input, label, p)")
            return [...right > innerWidth ? [`it ends at ${right}`] : [], ...[...controls].filter(each => {
                const box = each.getBoundingClientRect()
                return box.width && box.left < right && box.right > left && box.top < bottom && box.bottom > top
            }).map(each => each.outerHTML)]
        }"""
    )
    assert covered == []
    visitor.wait()
