"""Lessons in a browser: a student predicts, does a task, goes astray and back, and comes again another day."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.accessible import barriers
from tests.browser.conftest import FRAMES, PHONE
from tests.tfm_ui.lessons.lesson_text import LESSON
from tfm_ui.lenses import lens
from tfm_ui.lessons import row, shelf
from tfm_ui.lessons.shelf import Place
from tfm_ui.lessons.shown import shown

STORED = "attention-lab-progress"
WORDS = "The row of “was” says how much “was” takes from each word."
ROW = ".st-key-lesson"


def kept(visitor) -> dict:
    """What the browser keeps of the learner's progress."""
    text = visitor.page.evaluate(f"() => localStorage.getItem('{STORED}')")
    return json.loads(text)["lessons"] if text else {}


def bring(visitor) -> str:
    """Bring a lesson, and start it; returns its name."""
    visitor.page.get_by_text("Bring a lesson of your own").click()
    visitor.page.locator("[type=file]").set_input_files(
        {"name": "mine.md", "mimeType": "text/markdown", "buffer": LESSON.encode()}
    )
    expect(visitor.page).to_have_url(re.compile("lesson=brought-"))
    visitor.wait()
    name = re.search(r"lesson=(brought-\w+)", visitor.page.url)[1]
    visitor.page.locator(f".st-key-_start_{name} button").click()
    expect(visitor.page.locator(ROW)).to_contain_text(WORDS)
    visitor.wait()
    return name


def a_prediction_is_answered(visitor) -> None:
    box = visitor.page.get_by_label("How wide is a head?")
    box.fill("3")
    box.press("Enter")
    expect(visitor.page.locator(".st-key-answer")).to_contain_text(
        "You predicted 3 numbers. As set up, it is 8 numbers."
    )
    expect(visitor.page.locator(".st-key-answer")).to_contain_text("Each head has 8 of the 32 numbers.")


def a_task_is_done_by_the_slider_of_the_sidebar(visitor, name: str) -> None:
    visitor.press("Next step")
    task = visitor.page.locator(".task")
    expect(task).to_have_attribute("data-done", "false")
    expect(visitor.page).to_have_url(re.compile(r"/heads\?.*lesson=" + name + ".fewer-heads"))
    visitor.wait()
    box = visitor.page.locator(".st-key-num_heads input[type=number]")
    box.fill("2")
    box.press("Enter")
    expect(task).to_have_attribute("data-done", "true")


def one_press_goes_back_to_the_step(visitor) -> None:
    visitor.go("Masks")
    expect(visitor.page.locator(ROW)).to_contain_text("This step is in Heads.")
    visitor.wait()
    visitor.press("Back")
    expect(visitor.page.locator(ROW)).not_to_contain_text("This step is in Heads.")
    expect(visitor.page).to_have_url(re.compile("/heads"))
    visitor.wait()
    expect(visitor.page.locator(".st-key-num_heads input[type=number]")).to_have_value("4")
    assert visitor.heading().startswith("Layer 2, head 1")


def a_text_of_ones_own_comes_back_after_the_lesson(visitor) -> None:
    box = visitor.page.locator(".st-key-text textarea").first
    box.fill("words of my own")
    box.press("Control+Enter")
    expect(visitor.page.locator(ROW)).to_contain_text("Changed since.")
    visitor.wait()
    visitor.press("Step before")
    expect(visitor.page.locator(ROW)).to_contain_text(WORDS)
    visitor.wait()
    visitor.press("Leave the lesson")
    visitor.page.locator(".st-key-question").wait_for()
    visitor.wait()
    visitor.press("Back to my text")
    expect(visitor.page.locator(".st-key-text textarea").first).to_have_value("words of my own")
    assert "lesson=" not in visitor.page.url


def it_is_known_another_day(visitor, name: str) -> None:
    steps = {"a-row-of-weights": {"answered": True, "guess": 3}, "fewer-heads": {"reached": True}}
    assert kept(visitor) == {name: steps}
    visitor.open(f"/learn?lesson={name}")
    expect(visitor.page.locator(".st-key-learn")).to_contain_text("2 of 2 steps seen · 1 of 1 task done")
    visitor.wait()
    visitor.page.locator(f".st-key-_start_{name} button").click()
    expect(visitor.page.locator(ROW)).to_contain_text(WORDS)
    expect(visitor.page.locator(".st-key-answer")).to_contain_text("You predicted 3 numbers.")
    visitor.wait()


def it_is_exported_and_forgotten_by_a_press(visitor, name: str) -> None:
    visitor.go("Learn")
    visitor.page.locator(".st-key-learn").wait_for()
    visitor.wait()
    assert "lesson=" not in visitor.page.url
    with visitor.page.expect_download() as download:
        visitor.press("Export my progress")
    exported = json.loads(download.value.path().read_text())
    assert exported.keys() == {name}
    visitor.press("Forget my progress")
    expect(visitor.page.get_by_role("button", name="Forget my progress")).to_be_disabled()
    visitor.page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{STORED}')).age === 1")
    assert kept(visitor) == {}


def test_a_lesson_from_its_first_step_to_another_day(visit):
    visitor = visit("/learn")
    name = bring(visitor)
    a_prediction_is_answered(visitor)
    a_task_is_done_by_the_slider_of_the_sidebar(visitor, name)
    one_press_goes_back_to_the_step(visitor)
    a_text_of_ones_own_comes_back_after_the_lesson(visitor)
    it_is_known_another_day(visitor, name)
    it_is_exported_and_forgotten_by_a_press(visitor, name)


def test_what_is_forgotten_in_a_tab_is_forgotten_in_all(visit):
    visitor = visit(f"/heads?lesson={shelf.START}")
    assert kept(visitor).keys() == {shelf.START}
    visitor.page.evaluate(f"() => localStorage.setItem('{STORED}', JSON.stringify({{ age: 1, lessons: {{}} }}))")
    visitor.press("Next step")
    visitor.wait()
    assert len(kept(visitor)[shelf.START]) == 1  # the step that was opened since


def test_whoever_presents_walks_through_the_steps_by_keys(visit):
    first, second = shelf.shipped(shelf.START).steps[:2]
    visitor = visit(f"/{first.show[0]}?{first.show[1]}&lesson={shelf.START}.{first.name}&present=true")
    visitor.page.keyboard.press("n")
    expect(visitor.page.locator(ROW)).to_contain_text(second.heading)
    visitor.wait()
    assert "present=true" in visitor.page.url
    visitor.page.keyboard.press("b")
    expect(visitor.page.locator(ROW)).to_contain_text(first.heading)
    visitor.wait()
    visitor.page.keyboard.press("x")
    expect(visitor.page.locator(".where")).to_be_hidden()
    expect(visitor.page.locator(ROW)).to_contain_text(first.heading)


# The words of each step that ships, in the place of those on screen: does the row hold them?
OVERFLOWING = """all => { const row = document.querySelector(".st-key-lesson")
  return all.flatMap(([name, html]) => {
    document.querySelector(".step").outerHTML = html
    const { scrollHeight, clientHeight } = document.querySelector(".step")
    const isHeld = scrollHeight <= clientHeight + 1 && scrollHeight <= row.clientHeight
    return isHeld ? [] : [`${name}: ${scrollHeight}, ${clientHeight}, ${row.clientHeight}`]
  }) }"""


@pytest.mark.parametrize("present", ["", "&present=true"])
def test_the_row_holds_every_step(visit, present):
    lessons = [Place(name, shelf.shipped(name)) for name in (*shelf.names(), *shelf.teaching())]
    places = [first.other(at) for first in lessons for at in range(len(first.lesson.steps))]
    said = [(place.link, row.said(place, shown(place.step, lens).lens, "")) for place in places]
    visitor = visit(f"/heads?lesson={shelf.START}{present}")
    for width, height in ((1440, 900), (1024, 768), (1280, 720)):
        visitor.resize(width, height=height)
        assert visitor.page.evaluate(OVERFLOWING, said) == [], width


def test_a_phone_shows_the_step_and_the_beginning_of_its_picture(visit):
    first = shelf.shipped(shelf.START).steps[0]
    visitor = visit(f"/learn?lesson={shelf.START}", **PHONE)
    expect(visitor.page.locator(ROW)).to_contain_text(first.heading)
    visitor.wait()
    visitor.page.evaluate(FRAMES)
    stage, step = (visitor.page.locator(at).first.bounding_box() for at in (".st-key-stage", ROW))
    assert step["y"] + step["height"] <= stage["y"] + 1
    assert stage["y"] < 0.6 * 844
    high = set()
    for _ in range(3):
        high.add(round(visitor.page.locator(ROW).bounding_box()["height"]))
        visitor.press("Next step")
        visitor.wait()
    assert len(high) == 1
    assert visitor.page.evaluate("() => document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("color_scheme", ["light", "dark"])
def test_nothing_keeps_anybody_from_learning(visit, color_scheme):
    visitor = visit("/learn", color_scheme=color_scheme)
    assert barriers(visitor) == []
    visitor.back_to(f"/heads?lesson={shelf.START}")
    assert barriers(visitor) == []
