"""Every view: its main picture has the first screen of each window, keeps nobody out, and no control moves it.

Presented, the picture fills the screen and keeps what makes it readable: its names, and the numbers in its cells.
"""

import re
from collections import Counter

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import MAIN, UNFOLD
from tests.browser.accessible import ALL, ALL_BUT_CONTRAST, EVERYWHERE, barriers
from tests.browser.conftest import Visitor
from tests.browser.drawn import LISTENS, written
from tests.browser.fitting import (
    ENLARGED,
    PAGE,
    PHONE,
    SMALL,
    TIGHT,
    WIDE,
    clipped,
    controls_are_in_sight,
    fits_a_small_window,
    main_picture_is_whole,
    overflow,
)
from tests.browser.moving import acts_move_nothing
from tests.browser.stage import path_of, picture, presented, top, whole_picture
from tfm_ui.lenses import lens, lenses
from tfm_ui.page.lens import View

NAMES = [each.name for each in lenses()]
SHARE = 0.6  # of the window that the main picture of a lens's first view has at least, and that below most controls
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


def lost(before: list[list[str]], after: list[list[str]]) -> list[str]:
    """What is on the page and not in the hall, in words."""
    assert len(before) == len(after)
    missing = []
    for page, hall in zip(before, after, strict=True):
        called, there = names(page), names(hall)
        unsaid = sorted(name for name in called if not is_said(name, there))
        if len(before) > THUMBNAILS or len(called) > MANY:
            missing += [f"names: {len(there)} of {len(called)}"] if 2 * len(there) < len(called) else []
        else:
            missing += [f"names: {', '.join(unsaid)}"] if unsaid else []
        if numbers(page) > numbers(hall):
            missing.append(f"numbers: {numbers(hall)} of {numbers(page)}")
    return missing


def fits_a_hall(visitor: Visitor, path: str, share: float) -> None:
    """The picture has this share of the screen, and the smallest label can be read from the last row."""
    width, height = (visitor.page.viewport_size[side] for side in ("width", "height"))
    box = whole_picture(visitor, height)
    assert box.width * box.height >= share * width * height, (path, width, height, box)
    assert box.top + box.height <= height, (path, width, height, box)
    assert overflow(visitor) <= 1, path
    assert clipped(visitor) == [], path
    assert not visitor.page.evaluate(COVERED), (path, width)
    strip = visitor.page.locator(".st-key-knobs")
    assert not strip.count() or box.top + box.height <= strip.bounding_box()["y"] + 1, (path, width)
    size = visitor.page.evaluate("parseFloat(getComputedStyle(document.documentElement).fontSize)")
    assert size * 13 / 16 >= height / LINES


def is_whole_and_moved_by_nothing(visitor: Visitor, path: str, *, windows: list, known: set[str], whole: bool) -> None:
    """The page of a view, in the dark; it ends in the smallest window that the picture must fit."""
    for width, height in windows:
        visitor.resize(width, "dark", height=height)
        if (width, height) in SMALL:
            fits_a_small_window(visitor, path)
        else:
            main_picture_is_whole(visitor, path)
            controls_are_in_sight(visitor, path)
    assert barriers(visitor, ALL if whole else ALL_BUT_CONTRAST, EVERYWHERE if whole else MAIN) == [], path
    acts_move_nothing(visitor, ".st-key-knobs", known)
    if not path.startswith("/?"):  # on Home a click leads to another page
        before, box = top(visitor), picture(visitor)
        visitor.page.mouse.click(box.left + box.width / 2, box.top + box.height / 2)
        visitor.wait()
        assert top(visitor) == pytest.approx(before, abs=0.5), path
        visitor.page.keyboard.press("Escape")
        visitor.page.mouse.move(0, 0)  # what is pointed at may be enlarged beside it


def fills_the_screen_and_keeps_its_words(
    visitor: Visitor, path: str, before: list[list[str]], *, halls: list, share: float | None
) -> None:
    """The same view presented; it ends in the window in which `before` was written on the page."""
    visitor.back_to(presented(path))
    for width, height in halls:
        visitor.resize(width, "dark", height=height)
        controls_are_in_sight(visitor, path)
        if share is not None:
            fits_a_hall(visitor, path, share)
        if before and (width, height) != TIGHT:
            assert lost(before, written(visitor.page)) == [], (path, width, height)


def row_of(view: View) -> int:
    """How many controls stand in the row of a view; a view that draws its row itself has many."""
    return 99 if callable(view.controls) else len(view.controls) + bool(view.more)


@pytest.fixture(scope="module")
def known() -> set[str]:
    """The controls that were moved."""
    return set()


@pytest.mark.parametrize("name", NAMES)
def test_a_view_fits_each_window_is_moved_by_no_control_and_fills_the_screen_while_presented(
    visit, name, known, request
):
    """Each view in the set-up of its first question. A window opened so small keeps the sidebar folded.

    The first view of a lens is seen in all windows; the others in that of the page, on a phone, in the smallest that
    their picture must fit, and in one hall. Contrast is looked at in the first, as all have the same colours
    (tests/tfm_ui/text/test_contrast.py). The same control of several views is moved in one of them. With --all each
    view has all of that. test_every_picture.py has each picture in the room that it gets in halls.
    """
    everything = request.config.getoption("all_combinations")
    of = lens(name).views
    views, fullest = [path_of(name, view) for view in of], path_of(name, max(of, key=lambda view: row_of(of[view])))
    visitor = visit(views[0], width=TIGHT[0], height=TIGHT[1], color_scheme="dark")
    expect(visitor.page.locator(UNFOLD)).to_be_visible()
    visitor.page.evaluate(LISTENS)
    for path in views + MORE.get(name, []):
        whole = path == views[0] or everything
        if path != views[0]:
            visitor.back_to(path)
        visitor.resize(PAGE[0], "dark", height=PAGE[1])
        before = written(visitor.page)
        if path in views:
            windows = [PAGE, WIDE, ENLARGED, PHONE, TIGHT] if whole else [PHONE, TIGHT]
            is_whole_and_moved_by_nothing(
                visitor, path, windows=windows, known=set() if everything else known, whole=whole
            )
        share = None if path not in views else SHARE if path in (views[0], fullest) else 0
        halls = [TIGHT, WIDE, PAGE] if whole else [TIGHT, PAGE]
        fills_the_screen_and_keeps_its_words(visitor, path, before, halls=halls, share=share)
        if path == views[0]:
            assert barriers(visitor) == [], path
    visitor.page.emulate_media(color_scheme="light")
    visitor.open(presented(views[0]))  # anew: nothing marks the moment at which an open page has other colours
    assert barriers(visitor) == [], name
