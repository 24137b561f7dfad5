"""The diagram of the Model lens in a real browser, wide and on a phone."""

import re
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, Locator, expect

from tests.browser.conftest import Visitor
from tests.browser.test_standalone import drawn, opened
from tfm_ui.lenses.model.diagram.drawing import Diagram
from tfm_ui.lenses.model.state import ModelLensState
from tfm_ui.state.model_state import ModelState

STACK = "Decoder-only, pre-norm"
READ = """e => e._memory.sides.map(side => ({
  title: side.title,
  columns: side.columns.map(column => column.name),
  boxes: side.boxes.map(({ text, x, y, w, h, picked }) => ({ text, x, y, w, h, picked })),
}))"""


def drawing(visitor: Visitor) -> Locator:
    """The diagram, once it is drawn."""
    picture = visitor.page.locator(".diagram")
    visitor.page.wait_for_function("e => e._memory?.sides", arg=picture.element_handle())
    return picture


def a_block_is_opened_at_full_size_and_three_ways_lead_back(visitor: Visitor) -> None:
    """The button, Escape, and the browser's Back; by keys the focus goes along. A list that is open closes first."""
    page = visitor.page
    network, back = (
        page.get_by_role("button", name=name) for name in (f"{STACK}: Feed-forward", "Back to the machine")
    )
    for go_back in (back.click, lambda: page.keyboard.press("Escape"), page.go_back):
        network.click()
        expect(page.get_by_text("One block: norm, sub-layer, sum")).to_be_visible()
        for chosen in ("view=block", "sub_layer=feed-forward", "step=sub-layer"):
            expect(page).to_have_url(re.compile(f"model_{chosen}"))
        expect(page.locator(".diagram")).to_have_count(0)
        visitor.wait()
        visitor.page.wait_for_function("!attentionLabHistory.pushed")  # the act is over
        go_back()
        drawing(visitor)
        expect(page).not_to_have_url(re.compile("model_view"))
        visitor.wait()
    network.press("Enter")
    expect(back).to_be_focused()
    page.get_by_role("combobox", name="Steps").press("ArrowDown")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(back).to_be_visible()
    page.keyboard.press("Escape")
    expect(network).to_be_focused()


def test_a_click_on_a_block_opens_it_and_is_in_the_link(visit):
    visitor = visit("/model?num_layers=8")
    drawing(visitor)
    a_block_is_opened_at_full_size_and_three_ways_lead_back(visitor)
    expect(visitor.page).to_have_url(re.compile("model_block=feed_forward"))
    expect(visitor.page.get_by_text("The block: Feed-forward, gelu (layer 1)")).to_be_visible()
    visitor.page.get_by_role("button", name="Layer 1 of 8: show all").click()
    expect(visitor.page).to_have_url(re.compile("model_all_layers=true"))
    visitor.page.get_by_role("button", name=f"{STACK}: Layer 5").click()
    expect(visitor.page.get_by_text("The block: Feed-forward, gelu (layer 5)")).to_be_visible()
    visitor.page.reload()
    visitor.wait()
    expect(visitor.page.get_by_text("The block: Feed-forward, gelu (layer 5)")).to_be_visible()
    expect(visitor.page.locator(".diagram button[aria-current=true]")).to_have_count(1)


def boxes_lie_below_each_other_within_their_room(boxes: list[dict[str, float]], room: list[float]) -> None:
    for box in boxes:
        assert 0 <= box["x"] < box["x"] + box["w"] <= room[0]
        assert 0 <= box["y"] < box["y"] + box["h"] <= room[1]
    for above, below in zip(boxes[1:], boxes, strict=False):
        assert above["y"] + above["h"] < below["y"], "boxes do not touch"


def test_each_machine_is_drawn_as_configured_wide_and_on_a_phone(browser: Browser, tmp_path: Path):
    """The picture is opened as a file. Which rows a machine has: tests/tfm_ui/lenses/model/test_model_diagram.py."""
    page = browser.new_page()
    for architecture, norm in product(("encoder", "decoder", "encoder-decoder"), ("pre", "post")):
        panel = Diagram(ModelState(architecture=architecture, norm=norm, positional="rope"), ModelLensState())
        alone = ["Decoder-only"]  # an encoder too: it is causal
        stacks = [stack.capitalize() for stack in panel.counts] if len(panel.counts) > 1 else alone
        page.set_viewport_size({"width": 1200, "height": 900})
        query = f"architecture={architecture}&norm={norm}&positional=rope"
        problems = opened(page, tmp_path, "model_diagram", query)
        for width in (1200, 350):  # what the page leaves for it of 1440 and of a phone's 390 pixels
            page.set_viewport_size({"width": width, "height": 900})
            drawn(page)
            picture = page.locator(".diagram")
            sides, room = picture.evaluate(READ), picture.evaluate("e => [e.clientWidth, e.clientHeight]")
            assert [side["title"] for side in sides] == [f"{stack}, {norm}-norm" for stack in stacks]
            for side, stack in zip(sides, panel.counts, strict=True):
                assert [box["text"] for box in side["boxes"]] == [row.text for row in panel.rows_of(stack)]
                boxes_lie_below_each_other_within_their_room(side["boxes"], room)
                if width > 400:
                    assert side["columns"][:3] == ["flows out", "parameters", "multiply-adds"]
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), query
        assert problems == [], query
    page.close()
