"""Key presses in a page with a clock: how long until the pictures show the result."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser

from benchmarks.live.serve import AT_REST
from benchmarks.streamlit_private.dom import PLAIN_TEXT, STATE
from tfm_ui.state.links import as_text

CLOCK = Path(__file__).with_name("clock.js")
# 260 words, 1,039 characters: enough for 256 tokens by word, and for 1,024 by character.
TEXT = " ".join(
    f"the {animal} {does} by the {other} and then the {other} {does} too ,"
    for animal, other, does in zip(
        "cat dog fox hen owl bat cow pig elk ant bee cod eel emu gnu jay kid yak rat ram".split(),
        "sea oak hut den bay hay inn ivy log mud pit rod sun tub van web yew zoo fog bog".split(),
        "sat ran hid dug ate sang slept stood swam spoke fell woke cried froze grew drew lay rose shone wept".split(),
        strict=True,
    )
)


@dataclass(frozen=True)
class Tick:
    """Milliseconds from a key press to the paint that shows its result.

    Attributes:
        first: until the first picture of the page has changed.
        all: until all pictures have changed.
    """

    first: float
    all: float


def parameters(tokens: int, **more: Any) -> dict[str, Any]:
    """A model's parameters, with a text that fills this many tokens: words up to 256 tokens, characters beyond."""
    return {"text": TEXT, "tokenizer": "word" if tokens <= 256 else "character", "seq_len": tokens, **more}


def link(path: str, tokens: int, **more: Any) -> str:
    """The link to a page with that model."""
    given = parameters(tokens, **more)
    return f"{path}?{urlencode({name: as_text(value) for name, value in given.items()})}"


class Clocked:
    """A page that measures when its pixels change."""

    def __init__(self, browser: Browser, url: str) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 900})
        self.context.add_init_script(
            f'window.partOfStreamlit = {{ state: "{STATE}", text: "{PLAIN_TEXT}" }};\n{CLOCK.read_text()}'
        )
        self.page = self.context.new_page()
        self.page.goto(url)
        self.page.evaluate("clock.settled()")

    def first_seen(self) -> dict[str, float]:
        """Seconds from the start of the visit to the first "text" and to the first "canvas"."""
        return {name: at / 1000 for name, at in self.page.evaluate("firstSeen").items()}

    def press(self, slider: str, key: str) -> Tick:
        """Press a key on a slider, and wait until the page no longer changes."""
        self.page.get_by_role("slider", name=slider).focus()
        return self._pressed(key)

    def fill(self, box: str, value: object) -> None:
        """Type a number into a box, and wait until the page no longer changes."""
        self.page.get_by_label(box, exact=True).fill(str(value))
        self._pressed("Enter")

    def _pressed(self, key: str) -> Tick:
        self.page.evaluate("clock.arm()")
        self.page.keyboard.press(key)
        marks = self.page.evaluate("clock.settled()").values()
        self.page.wait_for_function(
            AT_REST, polling=50
        )  # only then the next act finds the controls as this one left them
        return Tick(min(mark["first"] for mark in marks), max(mark["last"] for mark in marks))

    def close(self) -> None:
        self.context.close()
