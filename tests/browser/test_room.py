"""Pictures obey the room that the page gives them, and fill it while presenting; test_every_picture.py tries each."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.room import QUERIES, SIZE, give
from tests.browser.test_standalone import drawn, opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1000, "height": 768})
    yield page
    page.close()


def test_a_picture_follows_its_room_and_is_as_ever_without_one(page: Page, tmp_path: Path):
    page.set_viewport_size({"width": 1100, "height": 900})
    for name in ("head", "change_weights", "heads", "steps", "arcs", "positions_clocks_a", "positions_curves"):
        opened(page, tmp_path, name, QUERIES.get(name, ""))
        drawn(page)
        free = page.evaluate(SIZE)[0]
        little, much = give(page, 240)[0], give(page, 800, 1)[0]
        assert little < free, name
        assert little <= 240 or name == "steps", (name, little)
        assert much > little, name
        assert give(page, 0)[0] == free, name


def test_a_cell_that_fills_the_room_is_at_most_twice_as_wide_as_high(page: Page, tmp_path: Path):
    page.set_viewport_size({"width": 1800, "height": 700})
    opened(page, tmp_path, "head", "")
    give(page, 400, 1)
    layout = page.evaluate("document.querySelector('.map')._memory.layout")
    assert layout["cell"] < layout["wide"] <= 2 * layout["cell"]
    opened(page, tmp_path, "contribution", "")
    give(page, 400, 1)
    layout = page.evaluate("document.querySelector('.maps')._memory.layout")
    assert layout["ch"] < layout["cw"] <= 2 * layout["ch"]
