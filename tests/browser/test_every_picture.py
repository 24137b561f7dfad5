"""Every picture alone, as a file that needs nobody: at each width, in the room of a page, and in that of a hall."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.charts import faults
from tests.browser.room import CONTROLS, QUERIES, give
from tests.browser.test_standalone import drawn, opened
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling import measurements
from tfm_ui.pictures.registry import PICTURES

WIDTHS = (390, 760, 1440)
HALLS = ((1000, 768, 535), (1896, 1080, 750))  # a window, and the room that it gives the picture
SHOWN = [name for name in PICTURES if name not in CONTROLS]
CHARTS = [name for name, picture in PICTURES.items() if picture.canvas.name == "chart"]
# A link that makes names and numbers long, and curves many.
LONG = {
    "text": "@alice", "seq_len": "300", "num_heads": "16", "positional": "t5", "architecture": "decoder",
    "positions_a": "t5", "positions_b": "rope", "positions_length": "4096", "positions_max_len": "100",
    "num_layers": "8", "model_depth": "48", "model_top": "20",
    "profiling_sizes": "256,16,8,2048%0A64,4,2,50%0A128,8,4,100",
    "profiling_targets": "with+weights,LSTM,GRU,convolution,nn.TransformerEncoder",
}  # fmt: skip
# The smallest letters of what was drawn since, in pixels.
LETTERS = """() => {
  window.letters = []
  for (const { prototype } of [CanvasRenderingContext2D]) {
    const { fillText } = prototype
    prototype.fillText = function (...all) {
      if (all[0]) window.letters.push([parseFloat(this.font.replace(/^[^.\\d]*(\\d+ )?/, "")), all[0]])
      return fillText.apply(this, all)
    }
  }
}"""


@pytest.fixture(scope="module")
def kept(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_init_script(f"({LETTERS})()")
    yield page
    page.close()


@pytest.fixture
def page(kept: Page, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A window that the tests leave to each other: each opens its own file. What is measured is at hand."""
    monkeypatch.setattr(measurements, "find", lambda plan, name="": plausible(plan) if plan else None)
    yield kept
    kept.goto("about:blank")


def fits_each_width(page: Page) -> bool:
    """Check that at no width the page scrolls sideways, or a text of a chart is cut off or lies over another."""
    is_chart = False
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        plot = page.locator(".plot")
        if plot.is_visible():  # of a scheme that has no such picture there is none
            is_chart = True
            assert faults(plot) == [], width
    return is_chart


def obeys_its_room(page: Page) -> None:
    """Check that the picture is never higher than its room, and fills it in large letters while presenting."""
    page.set_viewport_size({"width": 1000, "height": 768})
    tall, inside, wide, within = give(page, 500)
    assert tall <= 500
    assert inside <= tall + 1
    assert within <= wide + 1
    for width, height, room in HALLS:
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        page.evaluate("() => { window.letters = [] }")
        tall, *_ = give(page, room, 1, "2.75vh")
        if not tall:
            continue  # a picture of nothing
        assert tall <= room, (width, height)
        assert tall >= 0.66 * room, (width, height)
        assert [letter for letter in page.evaluate("window.letters") if letter[0] < height / 45 - 0.5] == []


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_fits_each_width_and_obeys_its_room(page: Page, tmp_path: Path, name: str):
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    problems = opened(page, tmp_path, name, QUERIES.get(name, ""))
    fits_each_width(page)
    obeys_its_room(page)
    assert problems == []


def test_a_chart_with_long_names_and_many_curves_fits_each_width(page: Page, tmp_path: Path):
    shown = 0
    for name in CHARTS:
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        problems = opened(page, tmp_path, name, "&".join(f"{key}={value}" for key, value in LONG.items()))
        shown += fits_each_width(page)
        assert problems == [], name
    assert shown > 30
