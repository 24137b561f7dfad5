"""Sheets and the syllabus on paper, as Chromium prints them."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE
from tfm_ui.lessons import shelf
from tfm_ui.lessons.sheet import KINDS, link

MM = 96 / 25.4  # CSS pixels
SIZES = {"a4": (595, 842), "letter": (612, 792)}  # points
HIGH = {"a4": 297 - 28, "letter": 279.4 - 28}  # mm of a page between its margins

# What is too high for a page, text that is cut, small or pale letters, pictures that are not there.
FAULTS = """most => {
  const faults = []
  for (const step of document.querySelectorAll(".step, header, .sources")) {
    const high = step.getBoundingClientRect().height
    const mayBreak = getComputedStyle(step).breakInside !== "avoid"
    if (high > most || mayBreak) faults.push(`${step.className}: ${high} > ${most}`)
  }
  for (const part of document.querySelectorAll("p, li, h1, h2, figcaption")) {
    const box = part.getBoundingClientRect(), body = document.body.getBoundingClientRect()
    if (part.scrollWidth > part.clientWidth + 1 || box.right > body.right + 1) faults.push(`cut: ${part.textContent}`)
    if (parseFloat(getComputedStyle(part).fontSize) < 8 * 96 / 72 - .01) faults.push(`small: ${part.textContent}`)
    const { color } = getComputedStyle(part)
    if (!["rgb(0, 0, 0)", "rgb(51, 51, 51)"].includes(color)) faults.push(`pale: ${part.textContent}`)
  }
  for (const image of document.querySelectorAll("img.picture"))
    if (!image.complete || image.naturalWidth < 370) faults.push(`not there: ${image.src}`)
  return faults
}"""


def pages_of(pdf: bytes) -> list[tuple[int, int]]:
    """The size of each page of a PDF, in points."""
    boxes = re.findall(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+) ?\]", pdf)
    return [(round(float(wide)), round(float(tall))) for wide, tall in boxes]


def opened(visitor, kind: str, paper: str = "a4", name: str = shelf.START):
    page = visitor.page
    page.goto(f"{visitor.address}/{link(name, kind, paper)}")
    page.wait_for_function("() => document.body.dataset.there", timeout=PATIENCE)
    return page


@pytest.mark.parametrize("paper", SIZES)
def test_a_sheet_is_printed_on_its_paper_without_a_cut(visit, paper):
    visitor = visit("/learn")
    for kind in KINDS:
        page = opened(visitor, kind, paper)
        page.emulate_media(media="print")
        page.set_viewport_size({"width": round(170 * MM), "height": 1000})  # the text is as wide as on paper
        assert page.evaluate(FAULTS, HIGH[paper] * MM) == []
        expect(page.locator(".bar")).to_be_hidden()
        sizes = pages_of(page.pdf(prefer_css_page_size=True))
        assert 2 <= len(sizes) <= len(shelf.shipped(shelf.START).steps)
        assert set(sizes) == {SIZES[paper]}
        page.emulate_media(media="screen")
    page.set_viewport_size({"width": 1440, "height": 900})


def test_a_sheet_is_saved_as_one_file_that_needs_no_server(visit, tmp_path):
    visitor = visit("/learn")
    page = opened(visitor, "questions")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as one file").click()
    file = tmp_path / download.value.suggested_filename
    assert file.name == "Start-here-Questions.html"
    download.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    assert text.count('src="data:image/svg+xml;base64,') == len(shelf.shipped(shelf.START).steps)
    for gone in ("<script", 'class="bar"', 'src="pictures/', visitor.address + "/assets"):
        assert gone not in text


def test_the_page_of_the_lessons_prints_as_a_syllabus(visit):
    visitor = visit("/learn", color_scheme="dark")
    page = visitor.page
    syllabus = page.locator(".syllabus")
    expect(syllabus).to_be_hidden()
    page.emulate_media(media="print")
    expect(syllabus).to_be_visible()
    said = syllabus.inner_text()
    for lesson in map(shelf.shipped, shelf.names()):
        steps = [step.heading for step in lesson.steps]
        for part in (lesson.title, f"{lesson.minutes} minutes", *lesson.objectives, *steps):
            assert part in said
        assert all(source.address in said for source in lesson.sources)
    assert page.evaluate("() => document.body.innerText.trim()") == said.strip()  # nothing of the app around it
    pdf = page.pdf(format="A4")
    assert 5 <= len(pages_of(pdf)) <= 12
    page.emulate_media(media="screen")
