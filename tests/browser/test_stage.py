"""What surrounds the main picture moves it by no act and covers none of it: questions, sidebar, notices, answers."""

import re
from html import escape

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import APP, ELEMENT, LENSES, SIDEBAR, SPINNER
from tests.browser.accessible import barriers
from tests.browser.conftest import Visitor
from tests.browser.fitting import BEYOND, TIGHT, WINDOWS, main_picture_is_whole
from tests.browser.moving import acts_move_nothing
from tests.browser.stage import path_of, presented, top
from tfm_ui.lenses import lens, lenses
from tfm_ui.text.glossary import explained

# Each question's text in the row: how high the row is, how much room is left in it, and where the stage begins.
ROWS = """asks => asks.map(ask => {
  const [text, row, stage] = [".ask", ".st-key-question", ".st-key-stage"].map(name => document.querySelector(name))
  text.innerHTML = ask
  const [inner, outer] = [text, row].map(element => element.getBoundingClientRect())
  return { height: outer.height, above: inner.top - outer.top, below: outer.bottom - inner.bottom,
    stage: stage.getBoundingClientRect().top }
})"""
# The controls that what is said lies over, and where it leaves the window.
COVERED = """said => {
  const { left, top, right, bottom } = said.getBoundingClientRect()
  const controls = document.querySelectorAll(
    ":is(.st-key-header, .st-key-question, .st-key-knobs) :is(button, input, label, p)")
  return [...right > innerWidth ? [`it ends at ${right}`] : [], ...[...controls].filter(each => {
    const box = each.getBoundingClientRect()
    return box.width && box.left < right && box.right > left && box.top < bottom && box.bottom > top
  }).map(each => each.outerHTML)]
}"""


def two_pictures_begin_at_the_same_height(visitor: Visitor, path: str, first: str, second: str) -> None:
    visitor.back_to(path)
    for number, (width, height) in enumerate(WINDOWS):
        visitor.resize(width, height=height)
        tops = [top(visitor)]
        visitor.page.locator(".st-key-knobs").get_by_text((second, first)[number % 2], exact=True).click()
        visitor.wait()
        tops.append(top(visitor))
        assert tops[0] == pytest.approx(tops[1], abs=0.5), (path, width, height)


def test_two_pictures_of_a_view_begin_at_the_same_height(visit):
    visitor = visit("/generate", width=WINDOWS[0][0], height=WINDOWS[0][1])
    two_pictures_begin_at_the_same_height(visitor, "/generate", "choice", "attention")
    two_pictures_begin_at_the_same_height(visitor, "/training?training_view=compare", "trained length", "longer")


def unfold_the_rest_of_the_model(visitor: Visitor) -> None:
    more = visitor.page.locator(f"{SIDEBAR} details")  # of weights that are not random, the rest of what they fix
    if more.get_attribute("open") is None:
        more.locator("summary").click()
        visitor.wait()


def test_beside_the_sidebar_the_picture_is_whole_and_its_controls_keep_nobody_out(visit):
    """A page is opened anew for other colours: it takes a moment for them, and nothing marks the end of it."""
    visitor, paths = visit("/heads"), ["/heads", path_of("generate")]
    for scheme, paper in {"light": "rgb(255, 255, 255)", "dark": "rgb(14, 19, 25)"}.items():
        if scheme == "dark":
            visitor.page.emulate_media(color_scheme=scheme)
            visitor.open(paths[0])
        expect(visitor.page.locator(APP)).to_have_css("background-color", paper)  # that of the system
        for path in paths:
            if path != paths[0]:
                visitor.back_to(path)
            unfold_the_rest_of_the_model(visitor)
            main_picture_is_whole(visitor, path)
            assert barriers(visitor) == [], (path, scheme)
        visitor.back_to(presented(paths[0]))
        assert barriers(visitor) == [], scheme
    visitor.back_to("/positions?positions_view=fault")
    visitor.resize(TIGHT[0], height=TIGHT[1])
    expect(visitor.page.locator(SIDEBAR)).to_be_visible()
    knobs = visitor.page.locator(".st-key-knobs").locator("button, input, select")
    expect(knobs.last).to_be_visible()
    assert knobs.evaluate_all(BEYOND) == []


def a_link_is_mended_in_the_address_bar_and_its_notice_moves_nothing_when_it_goes(visitor: Visitor) -> None:
    visitor.page.wait_for_function("location.search.includes('heads_head=8')")
    expect(visitor.page).to_have_url(re.compile("num_heads=8"))
    expect(visitor.page).to_have_url(re.compile("seq_len=1024"))
    expect(visitor.page.get_by_text("The link asked for num_heads = 7")).to_have_count(1)
    before = top(visitor)
    visitor.press("Dismiss")
    visitor.wait()
    assert top(visitor) == pytest.approx(before, abs=0.5)
    visitor.back_to("/heads")
    assert top(visitor) == pytest.approx(before, abs=0.5)


def an_answer_waits_until_it_is_asked_for_beside_the_prediction_and_covers_no_picture(visitor: Visitor) -> None:
    visitor.back_to("/masks?masks_question=no-leak")
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
    on = visitor.page.locator(".st-key-what_next").bounding_box()  # in sight below a long answer, too
    assert on["y"] + on["height"] <= strip["y"] + strip["height"]
    assert picture.evaluate("canvas => canvas.getBoundingClientRect().bottom <= innerHeight")  # it has become lower


def no_control_of_the_model_moves_a_picture(visitor: Visitor) -> None:
    visitor.back_to("/masks?masks_view=padding")  # whose sentences and notes depend on most of them
    unfold_the_rest_of_the_model(visitor)
    known = {"text Weights"}  # the last one: trained weights lock others
    acts_move_nothing(visitor, SIDEBAR, known)
    assert len(known) > 12
    known.remove("text Weights")
    acts_move_nothing(visitor, SIDEBAR, known)
    assert "text Weights" in known


def what_is_computed_leaves_the_old_picture_and_its_titles_in_sight(visitor: Visitor) -> None:
    visitor.back_to("/heads")
    release = visitor.behind()
    visitor.choose_seed(8)
    visitor.page.wait_for_timeout(1500)
    visible = "e => getComputedStyle(e).opacity === '1' && e.getBoundingClientRect().height > 0"
    for element in visitor.page.locator(f".st-key-stage :is(.phead, {ELEMENT})").all():
        assert element.evaluate(visible)
    release(5)
    visitor.wait()


def test_a_picture_stays_where_it_is_and_in_sight_whatever_is_said_beside_it(visit):
    visitor = visit("/heads?num_heads=7&seq_len=10000&heads_head=99&seed=abc")
    a_link_is_mended_in_the_address_bar_and_its_notice_moves_nothing_when_it_goes(visitor)
    an_answer_waits_until_it_is_asked_for_beside_the_prediction_and_covers_no_picture(visitor)
    no_control_of_the_model_moves_a_picture(visitor)
    what_is_computed_leaves_the_old_picture_and_its_titles_in_sight(visitor)


def each_question_has_room_in_the_row_and_one_height(visitor: Visitor, sizes: list[tuple[int, int]]) -> None:
    asks = [explained(question.ask) for lens in lenses() for question in lens.questions]
    asks += [escape(lens.leads_on.after(lens.title)) for lens in lenses() if lens.leads_on]
    for width, height in sizes:
        visitor.resize(width, height=height)
        rows = visitor.page.evaluate(ROWS, asks)
        assert len({(row["stage"], row["height"]) for row in rows}) == 1
        assert [ask for ask, row in zip(asks, rows, strict=True) if min(row["above"], row["below"]) < 0] == [], width


def test_the_row_has_room_for_each_question_and_one_height_for_all(visit):
    """The row is looked at with a way back to the reader’s own text, which takes some of its room, and presented."""
    visitor = visit("/heads?text=words+of+my+own")
    visitor.press("Next question")  # which brings a text
    visitor.wait()
    expect(visitor.page.locator(".st-key-_mine")).to_be_visible()
    sizes = [(1440, 900), (1100, 800), (1024, 768), (720, 450), (641, 800), (390, 844), (360, 740)]
    each_question_has_room_in_the_row_and_one_height(visitor, sizes)
    visitor.back_to("/masks?present=true")
    each_question_has_room_in_the_row_and_one_height(visitor, [(1920, 1080), (1024, 768), (900, 800)])


def test_after_the_last_question_one_press_leads_on_and_the_row_keeps_its_height(visit):
    visitor = visit("/heads")
    row, links = visitor.page.locator(".st-key-question"), visitor.page.locator(".st-key-answering a")
    visitor.ask(lens("heads").questions[-1].name)
    visitor.wait()
    before = row.bounding_box()
    visitor.press("Next question")
    expect(visitor.page.locator(".ask")).to_contain_text("That was the last question of Heads.")
    visitor.wait()
    assert row.bounding_box() == before
    expect(visitor.page.get_by_role("button", name="Next question")).to_be_disabled()
    for width, height in WINDOWS:
        visitor.resize(width, height=height)
        assert row.evaluate("e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight + 1"), width
        box, around = links.bounding_box(), row.bounding_box()
        assert around["y"] <= box["y"], width
        assert box["y"] + box["height"] <= around["y"] + around["height"], width
    visitor.page.go_back()
    expect(visitor.page.locator(".ask")).not_to_contain_text("That was the last question")
    visitor.wait()
    visitor.page.go_forward()
    links.get_by_text("Attention →").click()
    visitor.page.wait_for_url("**/attention*")
    visitor.wait()
    weights = lens("heads").questions[-1].model["weights"]
    expect(visitor.page).to_have_url(re.compile(f"weights={weights}"))


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
    visitor.open(page.url.removeprefix(visitor.address))
    assert asks.inner_text() == question
    back.click()
    visitor.wait()
    expect(back).to_be_disabled()
    assert asks.inner_text() == question


def test_what_is_being_computed_is_said_in_the_window_and_over_no_control(visit):
    """It is said while a page is run: here one that sends a text through 48 layers."""
    visitor = visit("/profiling")
    for width in (1440, 390):
        visitor.resize(width)
        visitor.page.goto(f"{visitor.address}/model?model_view=depth&model_depth=48&d_model=256&d_ff=1024&seed={width}")
        said = visitor.page.locator(f".st-key-running {SPINNER}")
        said.wait_for()
        assert said.evaluate(COVERED) == [], width
        visitor.wait()


def test_no_link_to_a_lens_lies_below_the_buttons_that_share_a_page(visit):
    """Where there is no room for all, Streamlit puts the last links behind "3 more"."""
    visitor = visit("/model", width=800, height=700)
    for width in (800, 860, 940, 1100, 1440):
        visitor.resize(width)
        share = visitor.page.locator(".st-key-share").bounding_box()
        links = visitor.page.locator(LENSES).evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
        assert 0 < max(links) <= share["x"], width
