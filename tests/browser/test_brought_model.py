"""A model that a visitor brings: its zip in the box, the page that shows it, what is wrong with another, its link."""

import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.tfm_core.pretrained.checkpoints import made, saved
from tests.tfm_core.pretrained.made_tokenizers import gpt2


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    """A small Llama with a tokenizer, in one zip."""
    merges = gpt2()
    folder = saved(made("llama", vocab_size=merges.get_vocab_size()), tmp_path_factory.mktemp("brought"))
    merges.save(str(folder / "tokenizer.json"))
    path = folder / "model.zip"
    with zipfile.ZipFile(path, "w") as zipped:
        for name in ("config.json", "model.safetensors", "tokenizer.json"):
            zipped.write(folder / name, name)
    return path


def test_a_zip_is_read_shown_and_comes_back_from_its_link(visit, archive):
    visitor = visit("/heads?text=The+cat+sat")
    page = visitor.page
    page.get_by_role("combobox", name="Weights").click()
    page.get_by_role("option", name="From a file or folder").click()
    files = page.locator("input[type=file]").first
    files.set_input_files({"name": "wrong.zip", "mimeType": "application/zip", "buffer": b"PK\x03\x04"})
    alert = page.get_by_role("alert").filter(has_text="wrong.zip")
    expect(alert).to_contain_text("expected")
    expect(page.locator(".st-key-facts")).to_contain_text("Random weights")  # nothing is lost
    files.set_input_files(archive)
    expect(page.locator(".st-key-facts")).to_contain_text("Your Llama model, from a file · 3 × 6")
    expect(page.get_by_role("heading", name="All 18 heads")).to_be_visible()
    box = page.get_by_role("combobox", name="Weights")
    expect(box).to_have_count(1)  # while the page is being run, Streamlit shows the box of before as well
    expect(box).to_have_value("Your Llama model")
    link = page.url
    assert "weights=mine-" in link
    weights = visitor.weights()
    visitor.open(link[link.index("/heads") :])
    expect(page.get_by_role("heading", name="All 18 heads")).to_be_visible()
    assert visitor.weights() == weights


def test_a_path_that_leads_nowhere_is_told_beside_its_box(visit):
    page = visit("/heads?text=The+cat+sat").page
    page.get_by_role("combobox", name="Weights").click()
    page.get_by_role("option", name="From a file or folder").click()
    page.get_by_label("Or a path on this machine").fill("/nowhere/at/all")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="/nowhere/at/all")).to_contain_text("expected a folder")
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_label("Or a path on this machine")).to_have_count(0)
