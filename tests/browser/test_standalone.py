"""Pictures as files: opened in a real browser, without a server."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tfm_ui.pictures.canvas import standalone
from tfm_ui.pictures.registry import PICTURES, made
from tfm_ui.pictures.steps import STEPS

# Boxes of visible elements, some of them laid over others.
OVERLAPS = """() => {
  const boxes = selector => [...document.querySelectorAll(selector)].map(e => [e, e.getBoundingClientRect()])
    .filter(([, box]) => box.width && box.height)
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5
  const parts = boxes(".derived, .scene figure > *, .scene .sign, h1, body > p")
  return parts.flatMap(([one, a], i) => parts.slice(i + 1).filter(([, b]) => meet(a, b))
    .map(([other]) => `${one.tagName}.${one.className} and ${other.tagName}.${other.className}`))
}"""


def drawn(page: Page) -> None:
    """Wait until what happened is on screen."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def opened(page: Page, folder: Path, name: str, query: str, mode: str = "light", *, more: str = "") -> list[str]:
    """Open a picture's file, with `more` at the end of its script; return its problems, a list that grows."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: request.url.startswith("file:") or problems.append(request.url))
    file = folder / f"{name}.html"
    picture = standalone(PICTURES[name].canvas, made(name, query), "A title", "What it comes to.", mode)
    if more:
        script, end, _ = picture.rpartition("</script>\n</html>\n")
        assert end
        picture = script + more
    file.write_text(picture, encoding="utf-8")
    page.goto(file.as_uri())
    drawn(page)
    return problems


def lies_over_nothing(page: Page, mode: str, query: str) -> None:
    """The derivation of a step, wherever the page is scrolled."""
    for width in (390, 760, 1000, 1440):
        page.set_viewport_size({"width": width, "height": 600})
        drawn(page)
        tall = page.evaluate("document.documentElement.scrollHeight")
        for y in range(0, tall, 250):
            page.evaluate("y => scrollTo(0, y)", y)
            assert page.evaluate(OVERLAPS) == [], (mode, query, width, y)
        derived = page.locator(".derived")
        assert derived.evaluate("e => e.scrollHeight <= e.clientHeight + 1")  # nothing of it is out of sight
        colour = derived.evaluate("e => getComputedStyle(e).backgroundColor")
        assert colour == {"light": "rgb(242, 244, 248)", "dark": "rgb(26, 34, 44)"}[mode]


def test_the_derivation_of_a_step_lies_over_nothing_wherever_the_page_is_scrolled(
    browser: Browser, tmp_path: Path, request: pytest.FixtureRequest
):
    """Each step in the light, and whole pictures in the dark; all in both with --all."""
    page = browser.new_page()
    whole = ["", "text=@alice&seq_len=60&d_model=256&positional=alibi&attention_query=40"]
    steps = [f"attention_whole=false&attention_step={step}" for step in (*STEPS[:3], "scaled", STEPS[-1])]
    every = request.config.getoption("all_combinations")
    for mode, queries in (("light", whole + steps), ("dark", whole + steps * every)):
        for query in queries:
            page.set_viewport_size({"width": 390, "height": 600})
            problems = opened(page, tmp_path, "steps", query, mode)
            lies_over_nothing(page, mode, query)
            assert problems == []
    page.close()


def test_controls_and_pictures_of_nothing_as_files_fit_the_window_and_need_nobody(browser: Browser, tmp_path: Path):
    """What has no numbers, or none without a certain link; test_every_picture.py has all other pictures."""
    from tests.browser.room import CONTROLS, QUERIES  # which imports this file

    page = browser.new_page()
    for name in sorted(CONTROLS | set(QUERIES)):
        page.set_viewport_size({"width": 390, "height": 900})
        problems = opened(page, tmp_path, name, "")
        for width in (390, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            drawn(page)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
        assert problems == [], name
    page.close()


def test_the_way_through_a_model_breaks_into_lines_that_fit_a_phone(browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    query = "architecture=encoder-decoder&positions_view=model&positions_a=t5&positions_b=learned"
    problems = opened(page, tmp_path, "positions_entry", query)
    boxes = page.locator(".entry").evaluate("""e => e._memory.rows.flatMap(row => row.lines.flat()).map(
        step => [step.x, step.x + step.w, e.clientWidth, step.marks.map(([side, name]) => side + name).join()])""")
    assert all(0 <= left < right <= room for left, right, room, _ in boxes)
    assert [marks for *_, marks in boxes if marks] == ["Blearned", "Blearned", "At5"]
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert problems == []
    page.close()


def test_a_head_of_the_grid_is_seen_in_a_file_by_a_click_which_no_page_answers(browser: Browser, tmp_path: Path):
    page = browser.new_page(viewport={"width": 1000, "height": 900})
    problems = opened(page, tmp_path, "home_heads", "")
    assert "click to open" not in page.locator(".say").inner_text()
    page.get_by_role("button", name="layer 2 · head 3.").dispatch_event("click")
    assert page.locator(".glass b").inner_text() == "layer 2 · head 3"
    assert problems == []
    page.close()
