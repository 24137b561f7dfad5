"""The picture of a text that is written, in a window: what it shows, and where."""

from urllib.parse import parse_qs, urlencode, urlsplit

from playwright.sync_api import Locator

from tests.browser.conftest import Visitor
from tfm_ui.lenses.generate.panel import LAB
from tfm_ui.lenses.generate.state import GenerateState
from tfm_ui.lenses.generate.write.text import Write
from tfm_ui.state.model_state import ModelState

MODEL = ModelState(**LAB)
SHORT = f"/generate?{urlencode({**LAB, 'generate_steps': 20})}"


def picture(visitor: Visitor) -> Locator:
    """The picture, once it is drawn."""
    element = visitor.page.locator(".write")
    element.wait_for()
    visitor.page.wait_for_function("e => e._memory?.scene", arg=element.element_handle())
    return element


def texts(visitor: Visitor) -> list[str]:
    """The texts as they are shown, with the prompt."""
    return picture(visitor).locator(".text p").evaluate_all("all => all.map(e => e.textContent)")


def shown(text: str) -> str:
    """How a text stands on the page."""
    return text.replace("\n", "↵\n").replace("\t", "⇥")


def computed(visitor: Visitor) -> Write:
    """What the link in the address bar stands for, in plain Python."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(visitor.page.url).query).items()}
    steps, forced = int(query.get("generate_steps", 60)), query.get("generate_forced", "")
    return Write(MODEL, GenerateState(steps=steps, forced=forced, seed=int(query.get("generate_seed", 1))))


def at(visitor: Visitor) -> int:
    """The step on screen, from 1."""
    return int(picture(visitor).locator("output").inner_text().split()[1])


def committed(visitor: Visitor, parameter: str) -> None:
    """The address has this parameter, with just this value."""
    visitor.page.wait_for_function("text => location.search.slice(1).split('&').includes(text)", arg=parameter)
    visitor.wait()


def path(visitor: Visitor) -> str:
    """The address without its host."""
    return urlsplit(visitor.page.url)._replace(scheme="", netloc="").geturl()


def candidate(visitor: Visitor, row: int) -> tuple[int, dict[str, float]]:
    """A candidate of the step on screen: its id, and where its row is; for the mouse."""
    canvas = picture(visitor).locator("canvas")
    canvas.scroll_into_view_if_needed()
    return tuple(
        picture(visitor).evaluate(
            """(e, row) => { const { candidates } = e._memory.scene.step, canvas = e.querySelector("canvas")
                const box = canvas.getBoundingClientRect(), bar = box.width < 560 ? 64 : 0 // of the draw, on phones
                const high = (box.height - 50 - bar) / candidates.length
                return [candidates[row].id, { x: box.left + 200, y: box.top + 40 + (row + 0.5) * high }] }""",
            row,
        )
    )


def other_candidate(visitor: Visitor) -> int:
    """The row of the first candidate that was not taken."""
    return picture(visitor).evaluate(
        "e => e._memory.scene.step.candidates.findIndex(({ id }) => id !== e._memory.scene.step.token)"
    )
