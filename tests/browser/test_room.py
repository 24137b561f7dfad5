"""Pictures obey the room that the page gives them, and fill it while presenting."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_standalone import drawn, opened
from tfm_ui.pictures.registry import PICTURES

# As the page registers them: what a script reads of them is in pixels.
PROPERTIES = """
@property --room { syntax: "<length>"; inherits: true; initial-value: 0px }
@property --fill { syntax: "<number>"; inherits: true; initial-value: 0 }
"""
# No numbers: they are as large as they need.
CONTROLS = {"masks_composer", "masks_batch", "positions_knobs", "model_output_knobs", "model_efficient_knob"}
CONTROLS |= {"training_decode_knobs", "generate_knobs", "generate_kept_knobs", "generate_surprise_knobs"}
QUERIES = {"positions_clocks_a": "positions_a=rope", "positions_clocks_b": "positions_b=rope"}
QUERIES |= {"positions_bias_a": "positions_a=alibi", "positions_bias_b": "positions_b=alibi"}
WRITES = "weights=lab-gpt&text=The+captain+looked+at+the+sea"
QUERIES |= dict.fromkeys(
    ("generate_write", "generate_beams", "generate_look", "generate_kept", "generate_surprise"), WRITES
)
SIZE = """() => {
  const { offsetHeight, scrollHeight, clientWidth, scrollWidth } = document.querySelector("[data-picture]")
  return [offsetHeight, scrollHeight, clientWidth, scrollWidth]
}"""
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


def give(page: Page, room: int, fill: int = 0, letters: str = "") -> tuple[int, int, int, int]:
    """Give the picture so much room, as the page does; its height and its content's; its width and its content's."""
    page.evaluate(
        """([style, room, fill, letters]) => {
            document.getElementById("given")?.remove()
            document.head.append(Object.assign(document.createElement("style"), { id: "given", textContent: `${style}
              #picture { --room: ${room}px; --fill: ${fill} } html { font-size: ${letters || "16px"} }` })) }""",
        [PROPERTIES, room, fill, letters],
    )
    for _ in range(3):  # a picture hears of its room, and of what that makes of its own words
        drawn(page)
    return tuple(page.evaluate(SIZE))


SHOWN = [name for name in PICTURES if name not in CONTROLS]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1000, "height": 768})
    page.add_init_script(f"({LETTERS})()")
    yield page
    page.close()


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_never_higher_than_its_room_and_fills_it_in_large_letters_while_presenting(
    page: Page, tmp_path: Path, name: str
):
    problems = opened(page, tmp_path, name, QUERIES.get(name, ""))
    tall, inside, wide, within = give(page, 500)
    assert tall <= 500
    assert inside <= tall + 1
    assert within <= wide + 1
    for width, height, room in ((1000, 768, 535), (1896, 1080, 750)):
        page.set_viewport_size({"width": width, "height": height})
        drawn(page)
        page.evaluate("() => { window.letters = [] }")
        tall, *_ = give(page, room, 1, "2.75vh")
        if not tall:
            continue  # a picture of nothing
        assert tall <= room, (width, height)
        assert tall >= 0.66 * room, (width, height)
        assert [letter for letter in page.evaluate("window.letters") if letter[0] < height / 45 - 0.5] == []
    assert problems == []


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
