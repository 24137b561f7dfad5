"""Streamlit's elements are where the app's styles, scripts and tests look for them; what a new Streamlit has changed.

All that is not there is listed at once, with what it is for. docs/streamlit.md has the whole list.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from benchmarks.live.serve import running_app
from benchmarks.streamlit_private.dom import (
    APP,
    COMPONENT,
    ELEMENT,
    ERROR,
    FIRST_CELL,
    FOLD,
    HEADER,
    LENSES,
    MAIN,
    MARKDOWN,
    MENU,
    PLAIN_TEXT,
    PROGRESS,
    SIDEBAR,
    SKELETON,
    SPINNER,
    STATE,
    TABLE,
    UNFOLD,
)


class Part(NamedTuple):
    """An element of Streamlit's.

    Attributes:
        selector: finds it.
        holds: a text that stands in it, or a selector of what it is or has; "" if it is enough that it is there.
        used: who looks for it, and what for.
    """

    selector: str
    holds: str
    used: str


STYLES, PAGE, SCRIPTS = "assets/streamlit_private/page.css", "assets/page/page.css", "assets/streamlit_private/dom.js"
WIDE = [
    Part(HEADER, "header", f"{STYLES}: the bar at the top is low"),
    Part(f"{HEADER} > div", "nav", f"{STYLES}: and what is in it"),
    Part(LENSES, "Second", f"{STYLES}: links to lenses are narrow in a narrow window; tests press them"),
    Part(f'{LENSES}[href$="/second"]', "Second", "tfm_ui/page/frame.py: a group of pages begins here"),
    Part(f"{LENSES}[aria-current]", "First", f"{STYLES}: the page that is open"),
    Part(f"{HEADER} nav [inert] a", "Further page 16", f"{STYLES}: pages that have no room in the bar"),
    Part(f"{HEADER} nav [aria-haspopup]", "more", f"{STYLES}: what they are behind names the open one"),
    Part(".stMainBlockContainer", "the last", f"{STYLES}: room around the page"),
    Part(".stMainBlockContainer .stVerticalBlock", "the last", f"{STYLES}: room between elements"),
    Part(".stSidebar .stVerticalBlock", "sidebar’s text", f"{STYLES}: room between controls of the model"),
    Part(f"{SIDEBAR} {MARKDOWN}", "sidebar’s text", "tests: the sidebar’s title"),
    Part(FOLD, "button", f"{SCRIPTS}: the sidebar is folded where it has no room"),
    Part(MAIN, "the last", f"{SCRIPTS}: keys scroll it while presenting"),
    Part(f"{APP}:not([{STATE}=running])", "the last", f"{SCRIPTS}: whether the page is being run"),
    Part(f"{ELEMENT}[data-stale=false]", "", f"{STYLES}: what is renewed does not fade"),
    Part(".stDataFrame", "canvas", f"{STYLES}: what is behind the controls fades"),
    Part(".stAlert", "alert’s text", f"{STYLES}: what is behind the controls fades"),
    Part(".stMarkdown", "unfolded", f"{STYLES}: what is behind the controls fades"),
    Part(".st-key-table_a .stElementToolbar", "button", f"{STYLES}: it would lie over a sentence"),
    Part(f"{ELEMENT}.st-key-list", "[role=combobox]", "tests: controls by their keys"),
    Part(TABLE, FIRST_CELL, "tests: cells of tables"),
    Part(PROGRESS, "progress’s words", "tests and benchmarks: how far a measurement is"),
    Part(PLAIN_TEXT, "plain text", "benchmarks/live/clock.js: when the floor’s page has changed"),
    Part(ERROR, "[role=alert]", "tests: links end in no error"),
    Part(COMPONENT, "", "benchmarks/live/serve.py: a page is at rest when its components have come"),
    Part(SKELETON, "", "benchmarks/live/serve.py: a page is at rest when nothing is on its way"),
    Part(".st-key-line_a [role=radio]", "segment a", "tests: which controls there are"),
    # By our keys, by roles and kinds of inputs: how elements lie in each other.
    Part(":has(> .st-key-tabs)", "tab", f"{PAGE}: what surrounds a container, such as the places in the header"),
    Part(".st-key-tabs > * > *", "button", f"{PAGE}: tabs stand on one line"),
    Part(".st-key-tabs button[kind=primary]", "tab", f"{PAGE}: the tab that is open"),
    Part(".st-key-tabs button p", "tab", f"{PAGE}: labels for the ear alone"),
    Part(".st-key-tabs [translate=no]", "check", "assets/page/present.css: icons are smaller while presenting"),
    Part(".st-key-line_a :has(> label):has([type=number])", "number", f"{PAGE}: label and box stand side by side"),
    Part(".st-key-line_a :has(> label):has([role=combobox])", "list", f"{PAGE}: label and list stand side by side"),
    Part(".st-key-line_a :has(> [type=number])", "button", f"{PAGE}: how wide boxes are"),
    Part(".st-key-line_a :has(> * > [role=combobox])", "button", f"{PAGE}: how wide lists are"),
    Part(".st-key-line_a label:has([type=checkbox])", "switch", "assets/page/present.css: switches are on their line"),
    Part(".st-key-more_a :has(> label):has(textarea)", "long text", f"{PAGE}: texts in menus are wide"),
    Part(".st-key-more_a :has(> label):has([type=text])", "short text", f"{PAGE}: texts in menus are wide"),
    Part(".st-key-more_a :has(> label):has([type=file])", "upload", f"{PAGE}: uploads in menus are wide"),
    Part(".st-key-_facts > * > *", "button", "assets/page/present.css: the facts are one low line"),
    Part(".st-key-columns_0 > * > :has(> * [class*=st-key-panel_])", "panel", f"{PAGE}: columns become rows"),
    Part(".st-key-formulas > * > * div:has(> .katex-display)", ".katex", f"{PAGE}: formulas stand close"),
    Part(".st-key-alerts [role=alert] div:has(> p)", "alert’s text", f"{PAGE}: notices are low"),
    Part(".st-key-alerts details", "unfolded", f"{PAGE}: the rest of the notices"),
    Part(":has(> * > [role=progressbar]) p", "progress’s words", f"{PAGE}: progress has the rest of a row"),
    Part("div:has(> a)", "link to a page", "assets/page/present.css: a card without its link"),
]
WITH_MENU = [Part(MENU, "in the menu", "tests: menus"), Part("[role=dialog]", "in the menu", f"{PAGE}: menus are high")]
WITH_LIST = [Part("[role=listbox]", "b", f"{SCRIPTS}: an open list does not close what it was opened in")]
BUSY = [
    Part(f"[{STATE}=running]", "spinner’s text", f"{STYLES}, {SCRIPTS}: the page is being run, and says so"),
    Part(f".st-key-running {SPINNER}", "spinner’s text", "tests: what is being computed is said"),
    Part(".st-key-running:has(p)", "spinner’s text", f"{PAGE}: what is being computed is said over the page"),
    Part("[data-stale=true]", "the last", f"{STYLES}: what is renewed does not fade"),
]
NARROW = [
    Part(UNFOLD, "button", f"{STYLES}: the button says what is in the sidebar; tests press it"),
    Part(".stSidebar nav", "Second", f"{STYLES}: phones have the links on the page"),
]
IS_THERE = """([selector, holds]) => [...document.querySelectorAll(selector)].some(element => {
  if (!holds || element.textContent.includes(holds)) return true
  try { return element.matches(holds) || element.querySelector(holds) !== null } catch { return false }
})"""


@pytest.fixture(scope="module")
def parts() -> Iterator[str]:
    with running_app(script="tests/browser/parts_of_streamlit.py") as url:
        yield url


def missing(page: Page, parts: list[Part]) -> list[str]:
    """A line for each part that is not on the page; each has a while to come."""
    gone = []
    for part in parts:
        try:
            page.wait_for_function(IS_THERE, arg=[part.selector, part.holds], timeout=10_000 if not gone else 500)
        except NotInTime:
            gone.append(f"{part.selector} with {part.holds or 'anything'}: {part.used}")
    return gone


def test_streamlits_elements_are_where_they_are_looked_for(browser, parts):
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.goto(parts)
    expect(page.get_by_text("the last").first).to_be_attached()
    gone = missing(page, WIDE)
    page.get_by_role("button", name="menu").click()
    gone += missing(page, WITH_MENU)
    page.keyboard.press("Escape")
    page.get_by_role("combobox", name="list").click()
    gone += missing(page, WITH_LIST)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Wait").click()
    gone += missing(page, BUSY)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(parts)
    gone += missing(page, NARROW)
    page.close()
    assert not gone, f"{len(gone)} elements of Streamlit are not found:\n" + "\n".join(gone)
