"""The Clinic in a real browser: the verdict below the box, an upload and its link, the way into Masks, three clicks."""

import io
import re
import time

import numpy as np
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visitor
from tfm_core.study.mistakes import MISTAKES
from tfm_core.study.steps import Steps
from tfm_ui.lenses.clinic.state import ClinicState

MASK = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1]], bool)


def npy(values: np.ndarray) -> dict[str, object]:
    file = io.BytesIO()
    np.save(file, values)
    return {"name": "mask.npy", "mimeType": "application/x-npy", "buffer": file.getvalue()}


def expect_values(visitor: Visitor, panel: str, expected: np.ndarray) -> None:
    wanted, give_up = expected.astype(float).ravel().tolist(), time.monotonic() + PATIENCE / 1000
    maps = visitor.page.locator(f".st-key-panel_{panel} .maps")
    while (shown := maps.evaluate("e => [...e._memory?.values ?? []]")) != wanted:  # a run may put another there
        assert time.monotonic() < give_up, f"{panel}: expected {wanted}, got {shown}"
        visitor.page.wait_for_timeout(50)


def test_a_mask_is_read_comes_back_from_its_link_and_is_obeyed_in_masks(visit):
    visitor = visit("/clinic?clinic_pasted=")
    page = visitor.page
    inputs = page.locator(".st-key-clinic_box input[type=file]")
    inputs.set_input_files({"name": "x.npz", "mimeType": "application/zip", "buffer": b"PK\x03\x04"})
    expect(page.get_by_text(re.compile("x.npz: .*archive"))).to_be_in_viewport()
    expect(page.locator(".st-key-panel_clinic_mask canvas")).to_have_count(0)
    inputs.set_input_files(npy(~MASK))
    verdict = page.locator(".verdict")
    expect(verdict).to_contain_text("True stands everywhere above the diagonal")
    expect(verdict).to_be_in_viewport()
    expect_values(visitor, "clinic_mask", np.stack([~MASK, MASK]))
    link = page.url
    stranger = visit(link[link.index("/clinic") :])
    expect_values(stranger, "clinic_mask", np.stack([~MASK, MASK]))  # as the box says
    page.reload()
    expect_values(visitor, "clinic_mask", np.stack([~MASK, MASK]))
    page.get_by_role("button", name="Leak test with this mask").click()
    page.wait_for_url("**/masks?*")
    page.wait_for_function("location.search.includes('masks_paint=')")
    visitor.wait()
    link = page.evaluate("location.pathname + location.search")
    stranger.back_to(link.replace("masks_view=leaks", "masks_view=conventions") + "&masks_convention=SDPA%2C+boolean")
    expect_values(stranger, "masks_ours", MASK)


def test_from_nan_on_home_to_the_cure_takes_three_clicks(visit):
    visitor = visit("/")
    page = visitor.page
    page.locator(".st-key-card_clinic a").click()
    page.wait_for_url("**/clinic*")
    box = page.get_by_label("Paste a mask, or the line of code that makes it")
    box.fill("mask = (src != 0)[:, None, :, None]")
    box.press("Control+Enter")
    findings = page.locator(".st-key-words_clinic_findings")
    expect(findings).to_contain_text("NaN")
    expect(findings.locator("code").first).to_be_visible()


def test_a_tensor_is_diagnosed_and_its_mistake_seen(visit):
    visitor = visit("/clinic?clinic_view=tensor")
    page = visitor.page
    wrong = Steps(ClinicState().exercise).value("scores", MISTAKES["keys from the queries"].wrong).float().numpy()
    page.locator(".st-key-clinic_box input[type=file]").set_input_files(npy(wrong))
    expect(page.locator(".verdict")).to_contain_text("“keys from the queries”")
    expect(page.locator(".verdict")).to_be_in_viewport()
    page.get_by_role("button", name=re.compile("beside the right way")).click()
    expect(page.locator(".st-key-clinic_code_beside")).to_contain_text("key_from_query")
