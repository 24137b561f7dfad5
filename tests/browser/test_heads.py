"""The Heads lens in a real browser."""

import re

from playwright.sync_api import expect

from benchmarks.streamlit_private.dom import ERROR, MENU, TABLE
from tests.browser.conftest import FRAMES, NO_MOTION
from tests.browser.links import same
from tfm_ui.lenses.heads.panels import Heads
from tfm_ui.lenses.heads.state import HeadsState
from tfm_ui.state.model_state import ModelState


def type_text(visitor, text: str) -> None:
    box = visitor.page.get_by_label("Text", exact=True)
    box.fill(text)
    box.press("Control+Enter")


def press(label: str, key: str):
    def act(visitor) -> None:
        visitor.page.get_by_role("slider", name=label).press(key)

    return act


def choose(visitor, label: str, option: str) -> None:
    box = visitor.page.get_by_role("combobox", name=label)
    box.scroll_into_view_if_needed()  # a list that is open closes when the sidebar scrolls
    visitor.page.evaluate(FRAMES)
    box.fill(option)
    visitor.page.get_by_role("option", name=option).wait_for()
    box.press("Enter")


def choose_positions(visitor) -> None:
    choose(visitor, "Positions", "alibi")


def open_the_mask(visitor) -> None:
    visitor.page.get_by_text("Causal: no looking ahead").click()


def choose_post_norm(visitor) -> None:
    visitor.page.get_by_text("More of the model").click()
    visitor.page.wait_for_function(NO_MOTION)  # while it unfolds, a list that opens closes again
    choose(visitor, "Norm", "post")


ACTS = {
    "text": lambda visitor: type_text(visitor, "every picture here is computed from real weights"),
    "tokens": press("Tokens", "ArrowLeft"),
    "heads": press("Heads", "ArrowRight"),
    "d_model": press("d_model", "ArrowRight"),
    "positions": choose_positions,
    "seed": lambda visitor: visitor.choose_seed(12),
    "causal": open_the_mask,
    "norm": choose_post_norm,
}


def another_number_of_layers_leaves_the_first_as_it_was(visitor) -> None:
    before = visitor.weights()
    press("Layers", "ArrowRight")(visitor)
    visitor.page.get_by_text("All 12 heads").wait_for()
    visitor.wait()
    assert visitor.weights() == before


def test_each_control_changes_the_picture_to_what_tfm_core_gives_for_the_new_link(visit):
    visitor = visit("/heads?heads_head=2")
    another_number_of_layers_leaves_the_first_as_it_was(visitor)
    visitor.page.locator(".chip").wait_for()  # it says that something is masked
    for name, act in ACTS.items():
        before, link = visitor.weights(), visitor.page.url
        act(visitor)
        visitor.page.wait_for_function("link => location.href !== link", arg=link)
        visitor.wait()
        after = visitor.weights()
        assert after != before, name
        same(after, visitor.page.url)
    visitor.page.locator(".chip").wait_for(state="hidden")  # nothing is


def hovering_previews_without_asking_the_server(visitor) -> None:
    visitor.weights()
    visitor.wait()
    sent = visitor.messages_sent
    for head in (2, 3, 4):
        visitor.head(1, head).hover()
        expect(visitor.page.locator(".glass b")).to_have_text(f"layer 1 · head {head}")
    assert visitor.messages_sent == sent


def the_grid_can_be_walked_and_locked_by_keyboard(visitor) -> None:
    visitor.head(1, 1).focus()
    for key in ("ArrowRight", "ArrowDown", "Enter"):
        visitor.page.keyboard.press(key)
    visitor.page.get_by_text("Layer 2, head 2").wait_for()
    visitor.wait()


def a_click_in_the_grid_locks_the_head_and_is_in_the_link(visitor) -> None:
    visitor.head(2, 3).click()
    visitor.page.get_by_text("Layer 2, head 3").wait_for()
    visitor.wait()
    visitor.page.wait_for_function("location.search.includes('heads_head=3')")
    expect(visitor.page).to_have_url(re.compile("heads_layer=2"))
    expect(visitor.head(2, 3)).to_have_attribute("aria-pressed", "true")
    same(visitor.weights(), visitor.page.url)


def a_double_click_isolates_a_head_and_escape_brings_the_others_back(visitor) -> None:
    pixel = "c => c.getContext('2d').getImageData(c.width * .9, c.height * .9, 1, 1).data.join()"
    canvas = visitor.page.locator(".cells canvas")
    before = canvas.evaluate(pixel)
    visitor.head(1, 1).dblclick()
    visitor.wait()
    assert canvas.evaluate(pixel) != before
    visitor.head(1, 1).press("Escape")
    assert canvas.evaluate(pixel) == before


def the_numbers_and_the_source_open(visitor) -> None:
    visitor.press("Source", "head")
    visitor.page.get_by_text("def attention_weights").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.press("Numbers", "head")
    visitor.page.locator(f"{MENU} {TABLE}").wait_for()
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(MENU).wait_for(state="hidden")


def table_row(visitor, row: int, x: int = 150) -> None:
    """A click on a row of the table of all heads, as it stands on screen, from 0; x = 20 is its mark."""
    table = visitor.page.locator(".st-key-table_heads_numbers")
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    visitor.page.mouse.click(box["x"] + x, box["y"] + 36 + 28 * row + 14)


def a_row_of_the_table_locks_its_head_sorted_or_not_and_the_locked_head_is_its_selected_row(visitor) -> None:
    heading = visitor.page.locator(".st-key-panel_head h2")

    def expect_locked(layer: int, head: int) -> None:
        expect(heading).to_contain_text(f"Layer {layer}, head {head}")
        visitor.page.wait_for_function(
            "at => document.querySelectorAll('.st-key-table_heads_numbers tbody tr')[at]?.ariaSelected === 'true'",
            arg=4 * (layer - 1) + head - 1,
        )

    expect_locked(1, 1)
    table_row(visitor, 2)
    expect_locked(1, 3)
    table_row(visitor, 5, x=20)
    expect_locked(2, 2)
    table_row(visitor, 6, x=60)  # its name
    expect_locked(2, 3)
    visitor.head(1, 2).click()
    expect_locked(1, 2)
    table_row(visitor, 2)  # the same cell as before
    expect_locked(1, 3)
    table_row(visitor, -1)  # the heading "entropy": now the lowest is first
    model = ModelState()
    entropy = Heads(model, HeadsState()).table()["entropy"]
    lowest = int(entropy.argmin())
    table_row(visitor, 0)
    expect(heading).to_contain_text(f"Layer {lowest // 4 + 1}, head {lowest % 4 + 1}")
    assert visitor.page.locator(ERROR).count() == 0


def test_a_head_of_the_grid_is_previewed_locked_isolated_and_its_numbers_open(visit):
    visitor = visit("/heads")
    hovering_previews_without_asking_the_server(visitor)
    the_grid_can_be_walked_and_locked_by_keyboard(visitor)
    a_click_in_the_grid_locks_the_head_and_is_in_the_link(visitor)
    a_double_click_isolates_a_head_and_escape_brings_the_others_back(visitor)
    the_numbers_and_the_source_open(visitor)
    a_row_of_the_table_locks_its_head_sorted_or_not_and_the_locked_head_is_its_selected_row(visitor)


def column_labels_have_room(visitor, heads: int) -> None:
    for width in (390, 1024, 1440):
        visitor.resize(width)
        visitor.page.locator(".cells canvas").wait_for()
        labels = visitor.page.locator(".cells .column")
        assert labels.last.inner_text().endswith(str(heads))
        assert labels.evaluate_all("all => all.filter(e => e.scrollWidth > e.clientWidth).length") == 0, (heads, width)


def test_the_grid_has_room_for_its_labels_and_says_where_thumbnails_are_pooled(visit):
    visitor = visit("/heads?num_heads=4", width=390)
    column_labels_have_room(visitor, 4)
    expect(visitor.page.locator(".pooled")).to_be_hidden()
    for heads in (8, 16):
        visitor.resize(390)
        visitor.back_to(f"/heads?num_heads={heads}")
        column_labels_have_room(visitor, heads)
    # Thumbnails smaller than their cells lose no weight.
    visitor.back_to("/heads?seq_len=128&num_heads=16&tokenizer=character&text=" + "abcdefghij+" * 14)
    visitor.page.get_by_text("pooled: the largest of").wait_for()
