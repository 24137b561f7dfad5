"""Where the main picture of a view is in the window."""

import time
from typing import NamedTuple

from benchmarks.streamlit_private.dom import MAIN, TABLE
from tests.browser.conftest import Visitor
from tfm_ui.lenses import lens
from tfm_ui.page.lens import Lens
from tfm_ui.page.questions import Question
from tfm_ui.state.links import share_link
from tfm_ui.state.model_state import ModelState

# All that the script of a picture draws in; or the table, in a view whose main thing is a table.
BOXES = """() => {
  const within = (node, what) => [...node.querySelectorAll("*")].flatMap(e => [
    ...e.matches(what) ? [e] : [], ...e.shadowRoot ? within(e.shadowRoot, what) : []])
  const stage = document.querySelector(".st-key-stage"), pictures = within(stage, "[data-picture]")
  const main = pictures.length ? pictures : within(stage, "table:not([role]), TABLE")
  return main.map(e => e.getBoundingClientRect()).filter(box => box.width && box.height)
    .map(({ left, top, width, height }) => [left, top, width, height])
}""".replace("TABLE", TABLE)


class Box(NamedTuple):
    """A rectangle in pixels of the window."""

    left: float
    top: float
    width: float
    height: float


def boxes(visitor: Visitor) -> list[Box]:
    """The boxes of the main picture; of one that stands in two panels, both.

    On a busy machine the browser shows a picture a moment after the page is at rest, so this waits for it.
    """
    visitor.page.wait_for_function(f"() => ({BOXES})().length")
    return [Box(*box) for box in visitor.page.evaluate(BOXES)]


def around(these: list[Box]) -> Box:
    """The smallest box around these."""
    left, top = min(box.left for box in these), min(box.top for box in these)
    right, bottom = max(box.left + box.width for box in these), max(box.top + box.height for box in these)
    return Box(left, top, right - left, bottom - top)


def picture(visitor: Visitor) -> Box:
    """The box of the main picture."""
    return around(boxes(visitor))


def whole_picture(visitor: Visitor, height: float) -> Box:
    """The box of the main picture, once it is within the window: it may hear of its room after the page is at rest."""
    give_up = time.monotonic() + 10
    while (box := picture(visitor)).top + box.height > height and time.monotonic() < give_up:
        visitor.page.wait_for_timeout(50)
    return box


def top(visitor: Visitor) -> float:
    """Where the stage begins: whatever stands above the picture would move it."""
    element = visitor.page.locator(".st-key-stage")
    return element.evaluate(f"e => e.getBoundingClientRect().top + document.querySelector('{MAIN}').scrollTop")


def path(name: str) -> str:
    """The path of the lens with this name."""
    return f"/{'' if name == 'home' else name}"


def question_of(each: Lens, view: str) -> Question:
    """The first question that is about this view."""
    return next(q for q in each.questions if len(each.views) == 1 or q.view(each.state) == view)


def path_of(name: str, view: str = "") -> str:
    """The path to a view, by default the first one, of the lens with this name, in the set-up of its first question."""
    each = lens(name)
    question = question_of(each, view or next(iter(each.views)))
    page = each.state(**question.controls, question=each.questions.index(question) + 1)
    return share_link(path(name), (ModelState(**question.model), ""), (page, each.prefix))


def presented(path: str) -> str:
    """The path to the same view, presented."""
    return f"{path}{'&' if '?' in path else '?'}present=true"
