"""Acts on all controls of a place, none of which may move the main picture."""

import pytest
from playwright.sync_api import Locator

from tests.browser.conftest import Visitor
from tests.browser.stage import top


def act(visitor: Visitor, control: Locator) -> None:
    """Change a control in its own way."""
    kind = control.evaluate("e => e.type || e.getAttribute('role') || e.tagName")
    if kind == "range":
        control.focus()
        visitor.page.keyboard.press("ArrowRight")
    elif kind == "textarea":
        control.fill("an apple a day keeps the doctor away, and a pear does not")
        control.press("Control+Enter")
    elif kind in ("number", "text") and control.get_attribute("role") != "combobox":
        control.focus()
        visitor.page.keyboard.press("ArrowUp")
        visitor.page.keyboard.press("Enter")
    elif kind == "combobox" or control.get_attribute("role") == "combobox":
        control.click()
        visitor.page.keyboard.press("ArrowDown")
        visitor.page.keyboard.press("Enter")
    else:
        control.click(force=True)
    visitor.wait()


# Not the choice between views under one tab, which opens another picture, as a tab does.
BUTTONS = "button[kind=tertiary]:not(.st-key-choice button)"
CONTROLS = f":is(input, textarea, [role=radio], {BUTTONS}):visible"
NAME = "e => `${e.type || e.getAttribute('role') || e.tagName} ${e.getAttribute('aria-label') || e.innerText}`"


def acts_move_nothing(visitor: Visitor, place: str, known: set[str]) -> None:
    """Act on every control of a place that is not known yet, and find the stage where it was; then it is known."""
    visitor.wait()
    before = top(visitor)
    for number in range(visitor.page.locator(f"{place} {CONTROLS}").count()):
        control = visitor.page.locator(f"{place} {CONTROLS}").nth(number)
        if not control.count() or control.is_disabled() or (name := control.evaluate(NAME)) in known:
            continue
        known.add(name)
        act(visitor, control)
        assert top(visitor) == pytest.approx(before, abs=0.5), (place, name)
        visitor.page.keyboard.press("Escape")
