"""Pictures as files that are made for slides: wide enough, with a title, a caption and a link."""

import json
import struct
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.browser.room import CONTROLS, QUERIES, SIZE
from tests.browser.test_standalone import drawn, opened
from tfm_ui.pictures.registry import PICTURES

WIDE = 1600
LINK = "http://127.0.0.1:8501/attention?text=" + "the+cat+sat+" * 60
# What colours stand for, where the picture does not say, and how a number came about.
NAMED = {"arcs": "■ head 1", "heads": "weights from 0, light", "steps": "1.0000 / 2.1076 = 0.4745"}
CAPTION = "What it comes to, in a sentence of some length. " * 6
WORDS = {"title": "A title of this picture", "caption": CAPTION, "link": LINK}
# What is written onto canvases, and at how many pixels to one of the page.
WRITTEN = """() => {
  window.written = []
  const { fillText } = CanvasRenderingContext2D.prototype
  CanvasRenderingContext2D.prototype.fillText = function (...all) {
    window.written.push([String(all[0]), this.getTransform().a])
    return fillText.apply(this, all)
  }
}"""

# The entries of a chart's legend of which one begins before the one beside it has ended.
LEGEND = """() => {
  const all = what => [...document.querySelectorAll(`.legend ${what}`)]
  const boxes = all(".legendtext").map(e => [e.textContent, e.getBoundingClientRect()])
  const signs = all(".layers").map(e => e.getBoundingClientRect())
  return boxes.filter(([, box]) => signs.some(sign => Math.abs(sign.top + sign.bottom - box.top - box.bottom) < 16
    && sign.left > box.left && sign.left < box.right - 1)).map(([text]) => text)
}"""


def saved(page: Page, name: str, words: dict[str, str] | None = None) -> bytes:
    """The file that the picture makes of itself."""
    with page.expect_download() as download:
        save = "([name, words]) => document.querySelector('[data-picture]').savePicture(name, words)"
        page.evaluate(save, [name, words or WORDS])
    return download.value.path().read_bytes()


def size_of(png: bytes) -> tuple[int, int]:
    """Width and height."""
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


def wide_enough_for_a_slide_and_says_what_it_is(page: Page, name: str, width: int) -> None:
    """A PNG that is made in a window of this width."""
    page.set_viewport_size({"width": width, "height": 900})
    drawn(page)
    drawn(page)
    before = page.evaluate(SIZE)
    page.evaluate("() => { window.written = [] }")
    wide, tall = size_of(saved(page, f"{name}.png"))
    texts = dict(page.evaluate("window.written"))
    assert wide >= WIDE, (name, width)
    assert tall > 300, (name, width)
    assert texts[WORDS["title"]] > 1, (name, width)  # drawn at the file's own density: nothing is scaled up
    assert any(text.startswith("What it comes to") for text in texts), (name, width)
    assert any(text.startswith(NAMED.get(name, "")) for text in texts), (name, width)
    written = [text for text, _ in page.evaluate("window.written")]
    start = next(at for at, text in enumerate(written) if text.startswith("http"))
    assert "".join(written[start:]).startswith(LINK), (name, width)  # whole, in as many lines as it needs
    drawn(page)
    assert page.evaluate(SIZE) == before, (name, width)  # on the page the picture is what it was


def test_every_png_is_wide_enough_for_a_slide_and_says_what_it_is(browser: Browser, tmp_path: Path):
    page = browser.new_page()
    page.add_init_script(f"({WRITTEN})()")
    kinds: set[str] = set()
    for name, picture in PICTURES.items():
        if name in CONTROLS or picture.canvas.name in kinds:
            continue
        page.set_viewport_size({"width": 390, "height": 900})
        problems = opened(page, tmp_path, name, QUERIES.get(name, ""))
        if not page.locator("[data-picture] :is(canvas, .main-svg)").first.is_visible():
            continue  # of a scheme that has no such picture there is none
        kinds.add(picture.canvas.name)
        for width in (390, 1440):
            wide_enough_for_a_slide_and_says_what_it_is(page, name, width)
        assert [problem for problem in problems if not problem.startswith("blob:")] == [], (
            name
        )  # Plotly draws by itself
    assert {"head_map", "heads_grid", "maps", "matrices", "arcs", "dictionary", "clocks", "entry", "chart"} <= kinds
    page.close()


def test_a_picture_is_drawn_again_for_its_file_sharp_and_without_words_alone(browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": 600, "height": 900})
    page.add_init_script(f"({WRITTEN})()")
    opened(page, tmp_path, "head", "")
    page.evaluate("() => { window.written = [] }")
    saved(page, "head.png")
    upright = [density for text, density in page.evaluate("window.written") if text == "masked"]
    assert upright[0] >= 3  # 600 px become 1,600 and more
    assert upright[-1] == 1  # and back
    with_words = size_of(saved(page, "head.png"))
    alone = size_of(saved(page, "head.png", {"title": "", "caption": "", "link": ""}))
    assert alone[0] == with_words[0]
    assert alone[1] < with_words[1]
    page.close()


def test_the_svg_of_a_chart_has_its_words_as_text(browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": 900, "height": 900})
    opened(page, tmp_path, "scale", "")
    page.wait_for_function("document.querySelector('.plot')._fullLayout")
    svg = saved(page, "scale.svg", WORDS | {"title": "Scores < 1 & “more”"}).decode()
    assert svg.startswith("<svg")
    assert "Scores &lt; 1 &amp; “more”" in svg
    assert "What it comes to" in svg
    assert "entropy of the weights" in svg
    page.set_content(svg)
    overlaps = page.evaluate(LEGEND)
    assert overlaps == []
    assert page.locator("svg").count() > 1
    problems = page.evaluate(
        "svg => new DOMParser().parseFromString(svg, 'image/svg+xml').querySelector('parsererror')?.textContent", svg
    )
    assert problems is None
    page.close()


def test_the_page_of_a_picture_follows_the_windows_width(browser: Browser, tmp_path: Path):
    page = browser.new_page()
    for name in ("head", "steps", "arcs", "change_weights", "positions_curves", "home_heads"):
        page.set_viewport_size({"width": 1000, "height": 900})
        problems = opened(page, tmp_path, name, "")
        for width in (390, 1600):
            drawn(page)
            page.set_viewport_size({"width": width, "height": 900})
            drawn(page)
            drawn(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            assert page.evaluate(SIZE)[2] >= 0.9 * width, (name, json.dumps(page.evaluate(SIZE)))
            page.set_viewport_size({"width": 1000, "height": 900})
        assert problems == [], name
    page.close()
