"""A mask from elsewhere in a real browser: uploaded, drawn, used, obeyed by the model, and back from its link."""

import io
import time

import numpy as np
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visitor

QUERY = "text=one+two+three&seq_len=3&causal=false&masks_view=conventions&masks_mask=&masks_texts=&masks_item=1"
QUERY += "&masks_convention=SDPA%2C+boolean"  # which can say any mask, so that the picture is one map
MASK = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]], bool)


def expect_values(visitor: Visitor, panel: str, expected: np.ndarray) -> None:
    wanted, give_up = expected.astype(float).ravel().tolist(), time.monotonic() + PATIENCE / 1000
    maps = visitor.page.locator(f".st-key-panel_{panel} .maps")
    while (shown := maps.evaluate("e => [...e._memory?.values ?? []]")) != wanted:  # a run may put another there
        assert time.monotonic() < give_up, f"{panel}: expected {wanted}, got {shown}"
        visitor.page.wait_for_timeout(50)


def test_uploads_are_read_used_obeyed_and_come_back_from_the_link(visit):
    visitor = visit(f"/masks?{QUERY}")
    page, file = visitor.page, io.BytesIO()
    np.save(file, ~MASK)
    page.get_by_role("button", name="Your own mask").click()
    menu = page.locator(".st-key-more_your_own_mask")  # which says itself what was brought: the panel is far below
    inputs = menu.locator("input[type=file]")
    inputs.set_input_files({"name": "x.npz", "mimeType": "application/zip", "buffer": b"PK\x03\x04"})
    expect(menu.get_by_text("x.npz: This archive cannot be read")).to_be_in_viewport()
    expect(page.locator(".st-key-panel_masks_foreign canvas")).to_have_count(0)  # that is the text's, not the file's
    inputs.set_input_files({"name": "mask.npy", "mimeType": "application/x-npy", "buffer": file.getvalue()})
    expect(menu.get_by_text("True stands everywhere above the diagonal")).to_be_in_viewport()
    expect(page.get_by_text("This archive cannot be read")).to_have_count(0)
    expect_values(visitor, "masks_foreign", np.stack([~MASK, MASK]))
    rows = b"1;0;0\n1;1;0\n0;1;1\n"
    inputs.set_input_files({"name": "mask.csv", "mimeType": "text/csv", "buffer": rows})
    expect(menu.get_by_text("1 stands only on the diagonal and below")).to_be_in_viewport()
    expect_values(visitor, "masks_foreign", np.stack([MASK, MASK]))
    link = page.url
    expect(menu.get_by_text("Whoever has the link of this page sees the uploaded mask")).to_have_count(1)
    stranger = visit(link[link.index("/masks") :])
    expect_values(stranger, "masks_foreign", np.stack([MASK, MASK]))  # as was said
    page.reload()
    expect_values(visitor, "masks_foreign", np.stack([MASK, MASK]))  # the same browser still has it
    page.get_by_role("button", name="Use as this lens’s mask").click()
    page.wait_for_function("location.search.includes('masks_paint=')")
    expect(page.locator(".st-key-panel_masks_foreign").get_by_text("It is this lens’s mask now")).to_be_visible()
    expect_values(visitor, "masks_ours", MASK)
    link = page.url
    stranger.back_to(link[link.index("/masks") :])
    expect_values(stranger, "masks_ours", MASK)
    assert "masks_pasted=" not in link or "masks_pasted=&" in link
