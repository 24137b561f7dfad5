"""Presented, a picture fills the screen and keeps what makes it readable: its names, and the numbers in its cells."""

import re
from collections import Counter

import pytest

from tests.browser.accessible import barriers
from tests.browser.conftest import Visitor
from tests.browser.drawn import LISTENS, written
from tests.browser.stage import path_of, presented, whole_picture
from tests.browser.test_stage import NAMES, clipped, controls_are_in_sight, overflow
from tfm_ui.lenses import lens
from tfm_ui.page.lens import View

PAGE, LEAST, HALLS = (1440, 900), (1024, 768), ((1440, 900), (1920, 1080))
SHARE = 0.6  # of the window that the main picture has at least
LINES = 45  # of the smallest label, in the height of a window
NUMBER = re.compile(r"[+−]?\d*\.\d+|[+−]?\d+|−∞")
MORE_THAN_LABELS = 20  # times that a text stands on a canvas which is no number of an axis but of cells
THUMBNAILS, MANY = 6, 24  # more canvases, or names, than that: of them every second or third is named on the page, too
# Pictures that have more to show than their lens's first question sets up, and rows with more controls: four sliders
# beside boxes, a button for each change, masks beside boxes.
MORE = {
    "attention": ["/attention?attention_whole=false", "/attention?attention_view=change"],
    "masks": ["/masks?masks_view=conventions"],
    "positions": [
        "/positions?positions_view=why&positions_claim=shift+matrix&positions_a=learned",
        "/positions?positions_view=beyond&positions_a=learned",
    ],
    "generate": ["/generate"],
}
# The tabs that lie below the bar that stands right of them.
COVERED = """() => {
  const bar = document.querySelector(".st-key-present_bar").getBoundingClientRect()
  return [...document.querySelectorAll(".st-key-tabs button")].filter(e => e.getBoundingClientRect().right > bar.left)
    .map(e => e.innerText)
}"""


def names(texts: list[str]) -> set[str]:
    """The words, without what an axis is called; of the heads of a layer its name is enough, as they stand in order."""
    words = {text.split(" (")[0].split(", head ")[0] for text in texts if text and not NUMBER.fullmatch(text)}
    return {word for word in words if not re.fullmatch(r"head \d+", word)}


def numbers(texts: list[str]) -> int:
    """How many numbers stand in cells: numbers of axes are whole, and none stands there so often."""
    counted = Counter(texts)
    return sum(
        count for text, count in counted.items() if NUMBER.fullmatch(text) and ("." in text or count > MORE_THAN_LABELS)
    )


def is_said(name: str, texts: set[str]) -> bool:
    """Whether a name is there, if need be cut."""
    return name in texts or any(text.endswith("…") and name.startswith(text[:-1]) for text in texts)


def keeps(before: list[list[str]], after: list[list[str]]) -> list[str]:
    """What is on the page and not in the hall, in words."""
    assert len(before) == len(after)
    lost = []
    for page, hall in zip(before, after, strict=True):
        called, there = names(page), names(hall)
        missing = sorted(name for name in called if not is_said(name, there))
        if len(before) > THUMBNAILS or len(called) > MANY:
            lost += [f"names: {len(there)} of {len(called)}"] if 2 * len(there) < len(called) else []
        else:
            lost += [f"names: {', '.join(missing)}"] if missing else []
        if numbers(page) > numbers(hall):
            lost.append(f"numbers: {numbers(hall)} of {numbers(page)}")
    return lost


def fills_a_hall(visitor: Visitor, view: str) -> None:
    """The picture has the screen, and the smallest label can be read from the last row."""
    width, height = (visitor.page.viewport_size[side] for side in ("width", "height"))
    box = whole_picture(visitor, height)
    assert box.width * box.height >= SHARE * width * height, (view, width, height, box)
    assert box.top + box.height <= height, (view, width, height, box)
    assert overflow(visitor) <= 1, view
    assert clipped(visitor) == [], view
    assert not visitor.page.evaluate(COVERED), (view, width)
    strip = visitor.page.locator(".st-key-knobs")
    assert not strip.count() or box.top + box.height <= strip.bounding_box()["y"] + 1, (view, width)
    size = visitor.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    assert size * 13 / 16 >= height / LINES


def row_of(view: View) -> int:
    """How many controls stand in the row of a view; a view that draws its row itself has many."""
    return 99 if callable(view.controls) else len(view.controls) + bool(view.more)


@pytest.mark.parametrize("name", NAMES)
def test_presented_a_view_fills_the_screen_and_keeps_its_names_and_its_numbers(visit, name, request):
    """The first view of a lens is shown in the smallest window, too, and so are the longest rows of controls; with
    --all each view. test_every_picture.py has each picture in the room that it gets in halls.
    """
    of, everything = lens(name), request.config.getoption("all_combinations")
    first, fullest = next(iter(of.views)), max(of.views, key=lambda view: row_of(of.views[view]))
    paths = {path_of(name, view): everything or view in (first, fullest) for view in of.views}
    visitor = visit(path_of(name), width=PAGE[0], height=PAGE[1])
    visitor.page.evaluate(LISTENS)
    for path, is_small in (paths | dict.fromkeys(MORE.get(name, []), True)).items():
        visitor.back_to(path)
        visitor.resize(PAGE[0], height=PAGE[1])
        before = written(visitor.page)
        visitor.back_to(presented(path))
        for width, height in (*HALLS, LEAST)[: len(HALLS) + is_small]:
            visitor.resize(width, height=height)
            controls_are_in_sight(visitor, path)
            if path == path_of(name) or (path in paths and (width, height) == LEAST):
                fills_a_hall(visitor, path)
            if before and (width, height) != LEAST:
                assert keeps(before, written(visitor.page)) == [], (path, width, height)
        if path == path_of(name):
            assert barriers(visitor) == []
