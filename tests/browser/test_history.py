"""The address bar and the browser's history: one act, one entry; values, picture and address always agree."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import ERROR, MARKDOWN, SIDEBAR
from tests.opening import BAD_QUERIES
from tfm_ui.state.links import LINK_CHARS

TEXT = f"{SIDEBAR} .st-key-text textarea"  # on Home the text is edited in place, too


class Trail:
    """A window whose history is walked: after each step, where it is and what it shows."""

    def __init__(self, visitor) -> None:
        self.visitor, self.page = visitor, visitor.page

    def at(self, path: str, **parameters: str) -> None:
        """Wait until the address is this and no more, then compare it with the controls."""
        wanted = {name: [value] for name, value in parameters.items()}
        for _ in range(100):
            address = urlsplit(self.page.url)
            if address.path == path and parse_qs(address.query) == wanted:
                break
            self.page.wait_for_timeout(100)
        assert (urlsplit(self.page.url).path, parse_qs(urlsplit(self.page.url).query)) == (path, wanted)
        self.visitor.wait()
        self.page.wait_for_function("!attentionLabHistory.pushed")  # the act is over: what comes now is another entry
        assert parse_qs(urlsplit(self.page.url).query) == wanted
        if path == "/heads":
            layer, head = (parameters.get(f"heads_{name}", "1") for name in ("layer", "head"))
            assert self.visitor.heading().startswith(f"Layer {layer}, head {head}")
        if "present" not in parameters:
            expect(self.page.get_by_label("Seed", exact=True)).to_have_value(parameters.get("seed", "7"))

    def back(self, path: str, **parameters: str) -> None:
        self.page.go_back()
        self.at(path, **parameters)

    def forward(self, path: str, **parameters: str) -> None:
        self.page.go_forward()
        self.at(path, **parameters)

    def lock(self, layer: int, head: int) -> None:
        self.visitor.head(layer, head).click()
        self.page.get_by_text(f"Layer {layer}, head {head}", exact=True).wait_for()

    def type(self, text: str) -> None:
        box = self.page.locator(TEXT)
        box.fill(text)
        box.press("Control+Enter")


@pytest.fixture
def trail(visit):
    return lambda path: Trail(visit(path))


def back_takes_back_one_act_a_press_and_forward_brings_it_back(walk: Trail) -> None:
    """The walk starts from Home, with the seed 5."""
    walk.visitor.head(2, 3).click()
    walk.at("/heads", seed="5", heads_layer="2", heads_head="3")
    walk.visitor.go("Home")
    walk.at("/", seed="5")
    walk.visitor.head(1, 4).click()  # which leads to a head that is not the one before
    walk.at("/heads", seed="5", heads_head="4")
    walk.visitor.ask("Looking ahead")
    walk.at("/heads", causal="false", heads_question="looking-ahead")
    walk.visitor.go("Home")
    walk.at("/", causal="false")
    walk.back("/heads", causal="false", heads_question="looking-ahead")
    walk.back("/heads", seed="5", heads_head="4")
    walk.back("/", seed="5")
    walk.back("/heads", seed="5", heads_layer="2", heads_head="3")
    walk.back("/", seed="5")
    walk.forward("/heads", seed="5", heads_layer="2", heads_head="3")
    walk.forward("/", seed="5")
    walk.forward("/heads", seed="5", heads_head="4")
    walk.forward("/heads", causal="false", heads_question="looking-ahead")
    walk.forward("/", causal="false")


def back_does_not_stop_at_a_link_that_was_mended(walk: Trail) -> None:
    walk.visitor.back_to("/?seed=5")
    walk.at("/", seed="5")
    walk.page.goto(walk.visitor.address + "/heads?num_heads=7&seq_len=-5&heads_head=99&seed=7&present=maybe")
    walk.at("/heads", num_heads="8", seq_len="2", heads_head="8")
    walk.lock(1, 2)
    walk.at("/heads", num_heads="8", seq_len="2", heads_head="2")
    walk.back("/heads", num_heads="8", seq_len="2", heads_head="8")
    walk.back("/", seed="5")


def test_back_takes_back_one_act_a_press_and_does_not_stop_at_a_link_that_was_mended(trail):
    walk = trail("/?seed=5")
    back_takes_back_one_act_a_press_and_forward_brings_it_back(walk)
    back_does_not_stop_at_a_link_that_was_mended(walk)


def test_walking_fast_through_the_history_moves_no_control(trail):
    walker = trail("/heads")
    for _ in range(4):  # the second sets another text, of 11 tokens, the fifth 512: Tokens shows other numbers
        link = walker.page.url
        walker.page.locator(".st-key-_next_question button").click()
        walker.page.wait_for_function("link => location.href !== link", arg=link)
        walker.visitor.wait()
        walker.page.wait_for_function("!attentionLabHistory.pushed")
    for steps in (-4, 4, -2, 1, -3, 4):
        for _ in range(abs(steps)):
            walker.page.evaluate("step => history.go(step)", 1 if steps > 0 else -1)
            walker.page.wait_for_timeout(60)
        walker.page.wait_for_timeout(500)
        walker.visitor.wait()
        link = parse_qs(urlsplit(walker.page.url).query)
        assert "d_ff" not in link
        assert link.get("seq_len", ["11"])[0] in ("11", "512")  # those of the two questions, and none that nobody set


def undo_knows_of_a_change_within_a_fragment(walk: Trail) -> None:
    undo = walk.page.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_disabled()
    walk.lock(2, 2)
    walk.page.wait_for_function("!document.querySelector('.st-key-_undo button').disabled")
    undo.hover()
    walk.page.get_by_text("Undoes: heads_layer 2 → 1, heads_head 2 → 1").wait_for()
    undo.click()
    walk.at("/heads")
    walk.page.wait_for_function("document.querySelector('.st-key-_undo button').disabled")


def back_to_another_page_takes_nothing_along(walk: Trail) -> None:
    walk.visitor.back_to("/masks")
    walk.visitor.go("Heads")
    walk.at("/heads")
    walk.page.get_by_role("slider", name="Tokens").press("ArrowRight")
    walk.at("/heads", seq_len="11")
    walk.back("/masks")
    walk.forward("/heads", seq_len="11")
    walk.visitor.go("Masks")
    walk.at("/masks", seq_len="11")  # a link of the page does


def a_head_click_runs_the_lens_alone(walk: Trail) -> None:
    walk.visitor.back_to("/heads")
    title = walk.page.locator(f"{SIDEBAR} {MARKDOWN}").first
    title.evaluate("e => e.dataset.mine = 1")
    walk.lock(2, 2)
    walk.at("/heads", heads_layer="2", heads_head="2")
    expect(title).to_have_attribute("data-mine", "1")


def slider_ticks_do_not_fill_the_history(walk: Trail) -> None:
    walk.visitor.back_to("/heads")
    entries = walk.page.evaluate("history.length")
    for _ in range(3):
        walk.page.get_by_role("slider", name="Tokens").press("ArrowRight")
        walk.page.wait_for_timeout(100)
    walk.at("/heads", seq_len="13")
    assert walk.page.evaluate("history.length") == entries


def undo_and_reset_are_acts_too(walk: Trail) -> None:
    walk.visitor.back_to("/heads?seed=5")
    walk.lock(2, 2)
    walk.at("/heads", seed="5", heads_layer="2", heads_head="2")
    walk.visitor.press("Undo")
    walk.at("/heads", seed="5")
    walk.visitor.press("Reset")
    walk.at("/heads")
    walk.back("/heads", seed="5")
    walk.back("/heads", seed="5", heads_layer="2", heads_head="2")


def a_sample_is_chosen_from_the_menu_and_stands_in_the_link_by_its_name(walk: Trail) -> None:
    walk.visitor.back_to("/heads")
    walk.visitor.press("Samples")
    walk.page.get_by_text("@jack").click()
    walk.at("/heads", text="@jack")
    walk.page.get_by_text("Nursery rhyme, The House That Jack Built").wait_for()
    walk.back("/heads")
    assert walk.page.locator(TEXT).input_value().startswith("the cat sat")


def test_undo_reset_ticks_and_samples_in_the_history_of_one_page(trail):
    walk = trail("/heads")
    undo_knows_of_a_change_within_a_fragment(walk)  # first: on a page that was just opened nothing can be undone
    a_head_click_runs_the_lens_alone(walk)
    slider_ticks_do_not_fill_the_history(walk)
    back_to_another_page_takes_nothing_along(walk)
    undo_and_reset_are_acts_too(walk)
    a_sample_is_chosen_from_the_menu_and_stands_in_the_link_by_its_name(walk)


def carried(walk, text: str) -> None:
    """The address holds the text's beginning, and says so."""
    walk.page.get_by_text("Links, and the address bar, carry the first").wait_for()
    walk.visitor.wait()
    assert len(walk.page.url) <= LINK_CHARS
    part = parse_qs(urlsplit(walk.page.url).query)["text"][0]
    assert 100 < len(part) < len(text)
    assert text.startswith(part)
    said = walk.page.get_by_text("Links, and the address bar, carry the first").inner_text()
    assert f"the first {len(part):,} of the {len(text):,} characters of “Text”" in said
    expect(walk.page.locator(TEXT)).to_have_value(text)


def the_address_is_never_too_long_and_back_brings_back_all_of_the_text(walk: Trail, text: str) -> None:
    walk.type(text)
    carried(walk, text)
    walk.lock(2, 3)
    walk.page.wait_for_function("location.search.includes('heads_head=3')")
    carried(walk, text)
    walk.page.go_back()
    walk.page.get_by_text("Layer 1, head 1").wait_for()
    carried(walk, text)
    walk.visitor.ask("Looking ahead")
    walk.at("/heads", causal="false", heads_question="looking-ahead")
    walk.page.go_back()
    carried(walk, text)
    walk.visitor.go("Home")
    walk.page.locator(".st-key-card_heads").wait_for()
    carried(walk, text)
    link = walk.visitor.link()
    assert len(link) <= LINK_CHARS
    assert parse_qs(urlsplit(link).query) == parse_qs(urlsplit(walk.page.url).query)


def undo_brings_back_a_long_text_and_so_does_back(walk: Trail, text: str) -> None:
    walk.type(text)
    carried(walk, text)
    walk.visitor.press("Reset")
    walk.at("/heads")
    walk.visitor.press("Undo")
    carried(walk, text)
    walk.back("/heads")
    walk.page.go_back()
    carried(walk, text)


def test_a_long_text_is_never_too_long_for_the_address_and_comes_back_whole(trail):
    """An address writes these signs as nine, or as three; tests/tfm_ui/state/test_links.py has texts of any kind."""
    walk = trail("/heads")
    the_address_is_never_too_long_and_back_brings_back_all_of_the_text(walk, "🦊👩‍👩‍👧‍👦" * 200)
    walk.visitor.back_to("/heads")
    undo_brings_back_a_long_text_and_so_does_back(walk, ("&=%+# " * 300).strip())


# The few that put something into the address themselves, or that a browser may read in another way than Python does:
# tests/pages/test_app.py opens all of them, and tests/laws/test_hostile_links.py reads many more.
@pytest.mark.parametrize(
    ("path", "queries"),
    [("/", (BAD_QUERIES[7], BAD_QUERIES[-1])), ("/heads", (*BAD_QUERIES[4:7], BAD_QUERIES[8]))],
)
def test_whatever_a_link_says_there_is_a_working_page(visit, path, queries, request):
    if request.config.getoption("all_combinations"):
        queries = BAD_QUERIES
    visitor = visit(path + queries[0])
    for number, query in enumerate(queries):
        if number:
            visitor.open(path + query)  # each is a first visit: a new session of the server
        visitor.page.locator(".ask").wait_for()
        assert visitor.page.locator(ERROR).count() == 0, query
        visitor.page.wait_for_function(f"location.href.length <= {LINK_CHARS}")
        visitor.page.get_by_role("slider", name="Heads").press("ArrowRight")
        visitor.page.wait_for_function("location.search.includes('num_heads=')")
        visitor.wait()
        assert visitor.page.locator(ERROR).count() == 0, query
