"""The room that a page gives to a picture, and what the picture makes of it."""

from playwright.sync_api import Page

from tests.browser.test_standalone import drawn

# The properties as the page registers them: what a script reads of them is in pixels.
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


def give(page: Page, room: int, fill: int = 0, letters: str = "") -> tuple[int, int, int, int]:
    """Give the picture room, as the page does; return its height and its content's, its width and its content's."""
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
