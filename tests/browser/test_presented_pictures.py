"""Presented, a picture keeps what makes it readable: the names of its rows and columns, the numbers in its cells."""

import re
from collections import Counter

import pytest

from tests.browser.conftest import Visitor
from tests.browser.drawn import LISTENS, WRITTEN
from tests.browser.stage import path_of, presented
from tfm_ui.lenses import lens, lenses

PAGE, HALLS = (1440, 900), ((1440, 900), (1920, 1080))
NUMBER = re.compile(r"[+−]?\d*\.\d+|[+−]?\d+|−∞")
OFTEN = 20  # times that a text stands on a canvas which is no number of an axis but of cells
THUMBNAILS, MANY = 6, 24  # more canvases, or names, than that: of them every second or third is named on the page, too
# Pictures that have more to show than their lens's first question sets up.
MORE = {"attention": ["/attention?attention_whole=false"], "masks": ["/masks?masks_view=conventions"]}


def names(texts: list[str]) -> set[str]:
    """The words, without what an axis is called; of the heads of a layer its name is enough, as they stand in order."""
    words = {text.split(" (")[0].split(", head ")[0] for text in texts if text and not NUMBER.fullmatch(text)}
    return {word for word in words if not re.fullmatch(r"head \d+", word)}


def numbers(texts: list[str]) -> int:
    """How many numbers stand in cells: numbers of axes are whole, and none stands there so often."""
    counted = Counter(texts)
    return sum(count for text, count in counted.items() if NUMBER.fullmatch(text) and ("." in text or count > OFTEN))


def is_said(name: str, texts: set[str]) -> bool:
    """Whether a name is there, if need be cut."""
    return name in texts or any(text.endswith("…") and name.startswith(text[:-1]) for text in texts)


def at_rest(visitor: Visitor) -> list[list[str]]:
    """What is written on each canvas."""
    visitor.wait()
    return visitor.page.evaluate(WRITTEN)


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


@pytest.mark.parametrize("name", [each.name for each in lenses()])
def test_presented_a_picture_keeps_its_names_and_its_numbers(visit, name):
    visitor = visit(path_of(name), width=PAGE[0], height=PAGE[1])
    visitor.spoilt = True
    visitor.page.add_init_script(LISTENS)
    for path in [*(path_of(name, view) for view in lens(name).views), *MORE.get(name, [])]:
        visitor.open(path)
        visitor.resize(PAGE[0], height=PAGE[1])
        before = at_rest(visitor)
        if not before:
            continue
        visitor.open(presented(path))
        for width, height in HALLS:
            visitor.resize(width, height=height)
            assert keeps(before, at_rest(visitor)) == [], (path, width, height)
