"""Every picture alone, as a file that needs nobody: at each width, in the room of a page, and in that of a hall."""

import base64
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.charts import faults
from tests.browser.room import CONTROLS, QUERIES, give
from tests.browser.test_standalone import drawn, opened
from tests.tfm_ui.lenses.profiling.reports import plausible
from tfm_ui.lenses.profiling.measurements import measurements
from tfm_ui.pictures.registry import PICTURES, made

# A picture is drawn at the first two widths, one with long names at the first, where they have the least room, and each
# in one of the two halls; with --all at each width and in both.
WIDTHS = (390, 1440, 760)
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


# Most of the time that a file takes is for reading its scripts. A canvas of many pictures has them drawn one after the
# other by the scripts of one file, each on new elements and with the last lines of that file's script.
MANY = ("chart", "maps")
ANOTHER = """
let leave
window.another = (html, data) => {
  leave?.()
  document.getElementById("given")?.remove()
  document.getElementById("picture").innerHTML = html
  const [header, numbers] = decode(Uint8Array.from(atob(data), sign => sign.charCodeAt(0)))
  const root = document.querySelector("[data-picture]")
  leave = draw({ header, numbers, root, setTriggerValue: nothing, ...alone, local: {} })
  document.querySelector("#foot").textContent = header.foot ?? ""
}
</script>
</html>
"""
Shown = Callable[[str, str], Page]  # a picture's name and a link -> the window that shows it


class Windows:
    """One for the pictures of each canvas that has many, and one for all others, each of which is a file of its own."""

    def __init__(self, browser: Browser, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._pages: dict[str, Page] = {}
        self.problems: dict[str, list[str]] = {}

    def show(self, name: str, query: str) -> Page:
        """Show a picture in a narrow window."""
        canvas = PICTURES[name].canvas
        kind = canvas.name if canvas.name in MANY else ""
        if kind not in self._pages:
            self._pages[kind] = self._browser.new_page()
            self._pages[kind].add_init_script(f"({LETTERS})()")
        page = self._pages[kind]
        page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        if kind and kind in self.problems:
            numbers = base64.b64encode(made(name, query)).decode()
            page.evaluate("([html, numbers]) => another(html, numbers)", [canvas.html, numbers])
            drawn(page)
        else:
            self.problems[kind] = opened(page, self._folder, name, query, more=ANOTHER)
        return page

    def close(self) -> None:
        for page in self._pages.values():
            page.context.close()


@pytest.fixture(scope="module")
def windows(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Windows]:
    windows = Windows(browser, tmp_path_factory.mktemp("files"))
    yield windows
    windows.close()


@pytest.fixture
def shown(windows: Windows, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """Show a picture, which has no problem until the end. What is measured is at hand."""
    monkeypatch.setattr(measurements, "find", lambda plan, name="": plausible(plan) if plan else None)
    yield windows.show
    problems = {kind: list(problems) for kind, problems in windows.problems.items() if problems}
    for each in windows.problems.values():
        each.clear()
    assert problems == {}


def fits_each_width(page: Page, widths: Sequence[int], name: str = "") -> bool:
    """Check that at no width the page scrolls sideways, or a text of a chart is cut off or lies over another."""
    is_chart = False
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        drawn(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        plot = page.locator(".plot")
        if plot.is_visible():  # of a scheme that has no such picture there is none
            is_chart = True
            assert faults(plot) == [], (name, width)
    return is_chart


def obeys_its_room(page: Page, halls: Sequence[tuple[int, int, int]]) -> None:
    """Check that the picture is never higher than its room, and fills it in large letters while presenting."""
    page.set_viewport_size({"width": 1000, "height": 768})
    tall, inside, wide, within = give(page, 500)
    assert tall <= 500
    assert inside <= tall + 1
    assert within <= wide + 1
    for width, height, room in halls:
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
def test_a_picture_fits_each_width_and_obeys_its_room(shown: Shown, name: str, request: pytest.FixtureRequest):
    page, everything = shown(name, QUERIES.get(name, "")), request.config.getoption("all_combinations")
    fits_each_width(page, WIDTHS if everything else WIDTHS[:2])
    obeys_its_room(page, HALLS if everything else HALLS[SHOWN.index(name) % 2 :][:1])


@pytest.mark.parametrize("canvas", MANY)
def test_a_picture_that_is_drawn_after_another_is_that_of_its_own_file(
    shown: Shown, browser: Browser, tmp_path: Path, canvas: str
):
    """The pictures that share a file are thus measured as if each were opened alone."""
    first, second = [name for name in SHOWN if PICTURES[name].canvas.name == canvas][:2]
    shown(first, "")
    after = shown(second, "")
    page = browser.new_page(viewport={"width": WIDTHS[0], "height": 900})
    assert opened(page, tmp_path, second, "") == []
    images = [each.locator("#picture").screenshot() for each in (after, page)]
    page.context.close()
    assert images[0] == images[1]


def test_a_chart_with_long_names_and_many_curves_fits_each_width(shown: Shown, request: pytest.FixtureRequest):
    query = "&".join(f"{key}={value}" for key, value in LONG.items())
    widths = WIDTHS if request.config.getoption("all_combinations") else WIDTHS[:1]
    assert sum(fits_each_width(shown(name, query), widths, name) for name in CHARTS) > 30
