"""While a visitor moves controls no page is run: pictures and words follow, and the page is run once, at rest."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from benchmarks.live.serve import running_app
from tests.browser.conftest import Visitor

REST = 3  # seconds: longer than a press and its words take on a busy machine
BEHIND = "() => document.documentElement.hasAttribute('data-behind')"
HEARD = """() => [...document.querySelectorAll(".st-key-unseen_words *")]
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


def said(visitor: Visitor) -> str:
    return visitor.page.locator(".st-key-stage .said").first.inner_text()


def facts_say(visitor: Visitor, what: str) -> None:
    expect(visitor.page.locator(".st-key-_facts")).to_contain_text(what)


def a_link_copied_before_the_page_was_run_holds_what_is_on_screen_and_a_button_runs_it_with_all_that_was_moved(
    visitor,
) -> None:
    visitor.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for seed in (2, 1):  # of the first act that a browser tells nobody knows that it is a press
        visitor.choose_seed(seed)
        visitor.wait()
    visitor.choose_seed(3)
    facts_say(visitor, "seed 3")
    visitor.press("Copy link")
    visitor.page.get_by_text("Link copied").wait_for()
    assert "seed=3" in visitor.page.evaluate("navigator.clipboard.readText()")
    assert visitor.page.evaluate(BEHIND)
    visitor.page.context.clear_permissions()
    visitor.press("Undo")
    expect(visitor.page.get_by_role("spinbutton", name="Seed")).to_have_value("1")
    visitor.wait()
    assert "seed=1" in visitor.page.url


def words_follow_a_row_of_presses_and_the_page_is_run_once_at_its_end(visitor, path: str) -> None:
    visitor.back_to(path)
    visitor.choose_seed(1)
    visitor.wait()
    before = visitor.runs
    box = visitor.page.get_by_role("spinbutton", name="Seed")
    box.press("ArrowUp")
    for seed in (3, 4, 5):
        box.press("ArrowUp")
        facts_say(visitor, f"seed {seed}")
    after_the_row, held = said(visitor), visitor.runs
    visitor.wait()
    assert said(visitor) == after_the_row  # which the page has written by now
    assert visitor.runs == held + 1 <= before + 2  # the first press may have come too late for the row before
    assert "seed=5" in visitor.page.url
    assert not visitor.page.evaluate(BEHIND)


def words_of_a_view_that_is_left_give_way_to_the_page_s_own(visitor) -> None:
    visitor.back_to("/heads?weights=random")
    of_the_page = said(visitor)
    visitor.page.evaluate(SPEAK_OF_ANOTHER_LINK)
    assert said(visitor) == "Words of the view before."
    visitor.wait()
    assert said(visitor) == of_the_page


def an_open_answer_follows_and_a_screen_reader_hears_the_words_once_at_rest(visitor) -> None:
    """Words that are ahead of the page are put back, too, if an older run writes its own."""
    visitor.back_to("/heads?weights=random&num_heads=16&heads_question=many-heads")  # the answer names a head
    visitor.choose_seed(1)
    visitor.press("Answer")
    answer = visitor.page.locator("[data-words=answer]")
    answer.wait_for()
    visitor.wait()
    before, heard = answer.inner_text(), visitor.page.evaluate(HEARD)
    visitor.choose_seed(3)
    expect(answer).not_to_have_text(before)
    facts_say(visitor, "seed 3")
    assert visitor.page.evaluate(HEARD) == heard
    ahead, answered = said(visitor), answer.inner_text()
    assert visitor.page.evaluate(BEHIND)
    visitor.page.evaluate("document.querySelector('.st-key-stage .said').textContent = 'what held before'")
    expect(visitor.page.locator(".st-key-stage .said").first).to_have_text(ahead)
    visitor.wait()
    assert visitor.page.evaluate(HEARD) == ahead != heard
    assert answer.inner_text() == answered


def acts_in_different_parts_of_a_page_are_one_run_of_it(visitor) -> None:
    visitor.back_to("/profiling?profiling_view=parts&weights=random")
    visitor.choose_seed(1)
    visitor.wait()
    before = visitor.runs
    row = visitor.page.get_by_role("spinbutton", name="Row")
    visitor.choose_seed(3)
    row.press("ArrowUp")
    visitor.wait()
    assert visitor.runs == before + 1
    visitor.page.wait_for_function("location.search.includes('seed=3') && location.search.includes('profiling_row=2')")
    assert not visitor.page.evaluate(BEHIND)
    facts_say(visitor, "seed 3")
    expect(row).to_have_value("2")
    row.press("ArrowDown")  # the part still runs by itself
    visitor.wait()
    assert "profiling_row" not in visitor.page.url
    assert "seed=3" in visitor.page.url


def test_words_follow_a_row_of_acts_and_the_page_is_run_once_at_its_end(visit, resting, request):
    """A press is one of a row if it follows another within seconds."""
    visitor = visit("/heads?weights=random", at=resting)
    a_link_copied_before_the_page_was_run_holds_what_is_on_screen_and_a_button_runs_it_with_all_that_was_moved(visitor)
    words_of_a_view_that_is_left_give_way_to_the_page_s_own(visitor)
    an_open_answer_follows_and_a_screen_reader_hears_the_words_once_at_rest(visitor)
    paths = ["/attention?weights=random", "/positions?positions_view=model"]
    for path in [*paths, "/heads?weights=random"] if request.config.getoption("all_combinations") else paths:
        words_follow_a_row_of_presses_and_the_page_is_run_once_at_its_end(visitor, path)
    acts_in_different_parts_of_a_page_are_one_run_of_it(visitor)
