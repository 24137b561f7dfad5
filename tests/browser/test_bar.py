"""The bar of pages: three groups, and nothing out of sight without a sign, in windows of every width."""

from playwright.sync_api import Page, expect

from benchmarks.streamlit_private.dom import HEADER, LENSES
from tests.browser.accessible import barriers
from tests.browser.conftest import PHONE, Visitor
from tfm_ui.lenses import lenses

TITLES = ["Home", "Learn", *(each.title for each in lenses()[1:])]
REST = f"{HEADER} nav [aria-haspopup]"
# Of each link in the bar that has room there: its name, and what stands above it.
SHOWN = """all => all.filter(link => !link.closest("[inert]")).map(link => {
  const [text, above] = [link.innerText, getComputedStyle(link, "::before").content.split(" / ")[0]]
  return [text, above === "normal" || above === "none" ? "" : JSON.parse(above)]
})"""
NAMED = """button => getComputedStyle(button, "::before").content.replace("none", "")"""
# How far the row goes on before and after what is in sight, its signs, and whether the open page's link is in sight.
ROW = """row => {
  const room = row.getBoundingClientRect(), here = row.querySelector("[aria-current]").getBoundingClientRect()
  const sign = side => getComputedStyle(row, side).content.split(" / ")[0].replaceAll('"', "")
  return { before: row.scrollLeft, after: row.scrollWidth - row.clientWidth - row.scrollLeft,
    signs: [sign("::before"), sign("::after")].map(it => it === "none" ? "" : it),
    isHere: here.left >= room.left && here.right <= room.right }
}"""


def shown(page: Page) -> list[list[str]]:
    return page.locator(LENSES).evaluate_all(SHOWN)


def groups_have_names(page: Page) -> None:
    assert [title for title, _ in shown(page)] == TITLES[: len(shown(page))]
    named = {title: above for title, above in shown(page) if above}
    assert named.items() <= {"Heads": "look", "Clinic": "check"}.items()
    assert "Heads" in named


def all_pages_have_room(visitor: Visitor, width: int) -> None:
    visitor.resize(width)
    visitor.open("/profiling?seed=5")  # a narrow window folds the sidebar when the app is opened
    groups_have_names(visitor.page)
    assert len(shown(visitor.page)) == len(TITLES), width
    expect(visitor.page.locator(REST)).to_have_count(0)


def what_has_no_room_is_a_press_away_and_the_open_page_is_named(visitor: Visitor) -> None:
    page = visitor.page
    visitor.resize(900)
    visitor.open("/profiling?seed=5")
    groups_have_names(page)
    hidden = len(TITLES) - len(shown(page))
    assert 0 < hidden < 5
    expect(page.locator(REST)).to_have_text(f"{hidden} more")
    assert page.locator(REST).bounding_box()["x"] < page.locator(".st-key-share").bounding_box()["x"]
    assert page.locator(REST).evaluate(NAMED) == '"Profiling,"'
    visitor.go("Heads")
    visitor.wait()
    assert page.locator(REST).evaluate(NAMED) == ""  # Heads is in sight itself
    page.locator(REST).click()
    page.get_by_role("menuitem", name="Training").click()
    page.wait_for_url("**/training*")
    visitor.wait()


def test_the_bar_has_three_groups_and_what_has_no_room_stands_behind_a_button(visit):
    visitor = visit("/profiling?seed=5")
    for width in (1440, 1280, 1024):
        all_pages_have_room(visitor, width)
    what_has_no_room_is_a_press_away_and_the_open_page_is_named(visitor)


def row_of(visitor: Visitor) -> dict:
    visitor.wait()
    return visitor.page.locator(".st-key-lens_links").evaluate(ROW)


def rows_say_that_they_go_on(visitor: Visitor, path: str) -> None:
    visitor.back_to(path)
    row = row_of(visitor)
    assert row["isHere"], path
    assert row["signs"] == ["‹" * (row["before"] > 1), "›" * (row["after"] > 1)], (path, row)
    assert row["before"] + row["after"] > 0, path


def a_press_on_a_sign_scrolls(visitor: Visitor) -> None:
    visitor.back_to("/heads")
    links = visitor.page.locator(".st-key-lens_links")
    assert row_of(visitor)["signs"][1] == "›"
    box = links.bounding_box()
    for _ in range(4):
        if row_of(visitor)["signs"][1]:
            visitor.page.touchscreen.tap(box["x"] + box["width"] - 8, box["y"] + box["height"] / 2)
    assert row_of(visitor)["signs"] == ["‹", ""]
    assert visitor.page.url.partition("?")[0].endswith("/heads")  # no link was pressed
    links.get_by_role("link", name="Profiling").tap()
    visitor.page.wait_for_url("**/profiling*")
    assert row_of(visitor)["isHere"]


def test_on_a_phone_the_row_says_on_which_sides_it_goes_on_and_names_its_groups(visit):
    visitor = visit("/heads", **PHONE)
    links = visitor.page.locator(".st-key-lens_links")
    assert links.locator("a").all_inner_texts() == TITLES
    assert links.locator(".group").all_inner_texts() == ["look", "check"]
    for path in ("/", "/learn", "/heads", "/model", "/profiling"):
        rows_say_that_they_go_on(visitor, path)
    a_press_on_a_sign_scrolls(visitor)
    visitor.resize(700, height=900)
    assert row_of(visitor)["isHere"]
    expect(visitor.page.locator(LENSES)).to_have_count(0)  # Streamlit has put its own away
    assert barriers(visitor) == []
