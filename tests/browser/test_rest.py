"""While a visitor moves controls no page is run: pictures and words follow, and the page is run once, at rest."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from benchmarks.live.serve import running_app
from benchmarks.streamlit_private.protocol import begins_a_run
from tests.browser.conftest import Visitor

REST = 3  # seconds: longer than a press and its words take on a busy machine
BEHIND = "() => document.documentElement.hasAttribute('data-behind')"
HEARD = """() => [...document.querySelectorAll("*")]
  .map(element => element.shadowRoot?.querySelector("p[role=status]:not(.problem)")).find(Boolean)?.textContent"""

# What a picture does when an answer comes for a link that is no longer the page's.
SPEAK_OF_ANOTHER_LINK = """() => {
  const panel = document.querySelector(".st-key-stage [data-words=said_grid]").closest("[class*=st-key-panel_]")
  const inside = [...panel.querySelectorAll("*")].map(element => element.shadowRoot?.querySelector("[data-picture]"))
  const picture = inside.find(Boolean)
  const words = { query: "seed=999", places: { said_grid: { text: ["Words of the view before."] } } }
  picture._follow.carryOut({ type: "draw", content: { ...picture._follow.last, words, question: 0 }, late: false })
  picture._follow.mark()
}"""


@pytest.fixture(scope="module")
def resting() -> Iterator[str]:
    with running_app(settings={"ATTENTION_LAB_REST": str(REST)}) as url:
        yield url


def in_a_row(visitor: Visitor, path: str) -> None:
    """Go to a link; from here on acts are in a row."""
    visitor.back_to(path)
    visitor.choose_seed(1)
    visitor.wait()


def runs(visitor: Visitor) -> list[int]:
    """How many runs have begun since: a list that grows. The page is opened anew: only a new socket is watched."""
    begun: list[int] = []

    def watch(socket) -> None:
        socket.on("framereceived", lambda data: begun.append(1) if begins_a_run(data) else None)

    visitor.page.on("websocket", watch)
    visitor.page.reload()
    visitor.wait()
    return begun


def said(visitor: Visitor) -> str:
    return visitor.page.locator(".st-key-stage .said").first.inner_text()


def words_follow_a_row_of_presses_and_the_page_is_run_once_at_its_end(visitor, begun: list[int], path: str) -> None:
    in_a_row(visitor, path)
    begun.clear()
    box = visitor.page.get_by_role("spinbutton", name="Seed")
    box.press("ArrowUp")
    for seed in (3, 4, 5):
        box.press("ArrowUp")
        expect(visitor.page.locator(".st-key-_facts")).to_contain_text(f"seed {seed}")
    after_the_row, held = said(visitor), len(begun)
    visitor.wait()
    assert said(visitor) == after_the_row  # which the page has written by now
    assert len(begun) == held + 1 <= 2  # the first press may have stood alone for long enough
    assert "seed=5" in visitor.page.url
    assert not visitor.page.evaluate(BEHIND)


def words_ahead_of_the_page_are_put_back_if_an_older_run_writes_its_own(visitor) -> None:
    in_a_row(visitor, "/heads?weights=random")
    visitor.choose_seed(2)
    visitor.choose_seed(3)  # the second in a row: the page is not run yet
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("seed 3")
    newer = said(visitor)
    assert visitor.page.evaluate(BEHIND)
    visitor.page.evaluate("document.querySelector('.st-key-stage .said').textContent = 'what held before'")
    expect(visitor.page.locator(".st-key-stage .said").first).to_have_text(newer)


def words_of_a_view_that_is_left_give_way_to_the_page_s_own(visitor) -> None:
    visitor.back_to("/heads?weights=random")
    of_the_page = said(visitor)
    visitor.page.evaluate(SPEAK_OF_ANOTHER_LINK)
    assert said(visitor) == "Words of the view before."
    visitor.wait()
    assert said(visitor) == of_the_page


def an_open_answer_follows_and_a_screen_reader_hears_the_words_once_at_rest(visitor) -> None:
    in_a_row(visitor, "/heads?weights=random")
    visitor.press("Answer")
    answer = visitor.page.locator("[data-words=answer]")
    answer.wait_for()
    visitor.wait()
    before, heard = answer.inner_text(), visitor.page.evaluate(HEARD)
    visitor.choose_seed(3)
    expect(answer).not_to_have_text(before)
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("seed 3")
    assert visitor.page.evaluate(HEARD) == heard
    ahead, answered = said(visitor), answer.inner_text()
    visitor.wait()
    assert visitor.page.evaluate(HEARD) == ahead != heard
    assert answer.inner_text() == answered


def a_link_copied_before_the_page_was_run_holds_what_is_on_screen(visitor) -> None:
    in_a_row(visitor, "/heads?weights=random")
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    slider = visitor.page.get_by_role("slider", name="Tokens")
    slider.press("ArrowLeft")
    expect(visitor.page.locator("[data-words=shape_head]")).to_contain_text("9 × 9")
    visitor.press("Copy link")
    visitor.page.get_by_text("Link copied").wait_for()
    assert "seq_len=9" in visitor.page.evaluate("navigator.clipboard.readText()")
    visitor.page.context.clear_permissions()


def a_button_runs_the_page_at_once_with_all_that_was_moved(visitor) -> None:
    in_a_row(visitor, "/heads?weights=random")
    visitor.choose_seed(3)
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("seed 3")
    visitor.press("Undo")
    expect(visitor.page.get_by_role("spinbutton", name="Seed")).to_have_value("1")
    visitor.wait()
    assert "seed=1" in visitor.page.url


def acts_in_different_parts_of_a_page_are_one_run_of_it(visitor, begun: list[int]) -> None:
    in_a_row(visitor, "/profiling?profiling_view=parts&weights=random")
    begun.clear()
    row = visitor.page.get_by_role("spinbutton", name="Row")
    visitor.choose_seed(3)
    row.press("ArrowUp")
    visitor.wait()
    assert len(begun) == 2  # a lens's control asks for its part once more (tfm_ui/page/controls.py)
    visitor.page.wait_for_function("location.search.includes('seed=3') && location.search.includes('profiling_row=2')")
    assert not visitor.page.evaluate(BEHIND)
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text("seed 3")
    expect(row).to_have_value("2")
    row.press("ArrowDown")  # the part still runs by itself
    visitor.wait()
    assert "profiling_row" not in visitor.page.url
    assert "seed=3" in visitor.page.url


def test_words_follow_a_row_of_acts_and_the_page_is_run_once_at_its_end(visit, resting, request):
    visitor = visit("/heads?weights=random", at=resting)
    begun = runs(visitor)
    paths = ["/attention?weights=random", "/positions?positions_view=model"]
    for path in [*paths, "/heads?weights=random"] if request.config.getoption("all_combinations") else paths:
        words_follow_a_row_of_presses_and_the_page_is_run_once_at_its_end(visitor, begun, path)
    acts_in_different_parts_of_a_page_are_one_run_of_it(visitor, begun)
    words_ahead_of_the_page_are_put_back_if_an_older_run_writes_its_own(visitor)
    words_of_a_view_that_is_left_give_way_to_the_page_s_own(visitor)
    a_link_copied_before_the_page_was_run_holds_what_is_on_screen(visitor)
    a_button_runs_the_page_at_once_with_all_that_was_moved(visitor)
    an_open_answer_follows_and_a_screen_reader_hears_the_words_once_at_rest(visitor)
