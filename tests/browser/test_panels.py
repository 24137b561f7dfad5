"""What each panel gives away: numbers, files, source."""

import csv
import subprocess
import sys
from pathlib import Path
from shutil import copyfile

import numpy as np
import plotly.io
import pytest
from playwright.sync_api import Browser, expect

from tests.tfm_ui.pictures.figure_checks import array
from tfm_ui.text import colours

# page -> its views -> their panels; a page without views has one, ""
PANELS = {
    "/": {"": ["next"]},
    "/heads": {"": ["grid", "head"]},
    "/attention": {
        "steps": ["steps"],
        "arcs": ["arcs"],
        "contribution": ["contribution", "contribution_row"],
        "change": ["change_weights", "change_stream"],
        "scale": ["scale"],
        "dictionary": ["dictionary"],
    },
}


def download(visitor, panel: str, *buttons: str) -> list[Path]:
    visitor.press("Download", panel)
    files = []
    for button in buttons:
        with visitor.page.expect_download() as download:
            visitor.page.get_by_role("button", name=f"{button}: ").click()
        files.append(download.value.path())
    return files


@pytest.mark.parametrize("path", PANELS)
def test_every_panels_picture_is_saved_as_it_is_seen_and_as_a_page_that_needs_nothing_else(visit, path, browser):
    visitor = visit(path)
    for view, panels in PANELS[path].items():
        if view:
            visitor.page.locator(f".st-key-_view_{view} button").click()
        for panel in panels:
            visitor.page.locator(f".st-key-panel_{panel} :is(canvas, .main-svg)").first.wait_for()
            visitor.wait()
            png, html = download(visitor, panel, "PNG", "HTML")
            assert png.read_bytes().startswith(b"\x89PNG")
            needs_nothing_else(browser, html, panel)
            visitor.page.keyboard.press("Escape")  # the menu


def needs_nothing_else(browser: Browser, html: Path, panel: str) -> None:
    page = browser.new_page()
    asked, problems = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.set_content(html.read_text(), wait_until="load")
    page.locator("[data-picture] :is(canvas, .main-svg)").first.wait_for()
    assert [url for url in asked if not url.startswith(("data:", "blob:"))] == []
    assert problems == []
    if panel == "head":
        assert page.locator(".map").evaluate("e => Array.from(e._memory.weights.slice(0, 1))") == [1.0]
        page.locator(".map canvas").press("ArrowDown")
        expect(page.locator(".tip")).to_contain_text("query 1 “the” → key 1 “the”")
    page.close()


def test_the_csv_holds_the_numbers_of_the_picture(visit):
    visitor = visit("/heads?heads_head=2")
    (numbers,) = download(visitor, "head", "CSV")
    with numbers.open() as file:
        head, *rows = csv.reader(file)
    assert head[1:3] == ["1 the", "2 cat"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], np.float32), np.float32(visitor.weights()))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_figure_opens_in_a_notebook_with_the_lines_of_the_menu(visit, scheme, tmp_path):
    visitor = visit("/heads?heads_head=2", color_scheme=scheme)
    (file,) = download(visitor, "head", "JSON")
    figure = plotly.io.read_json(str(file))
    drawn = figure.to_dict()["data"][0]
    np.testing.assert_array_equal(np.nan_to_num(array(drawn["z"])), np.float32(visitor.weights()))
    assert figure.layout.template.layout.paper_bgcolor == colours.PAPER[scheme]
    assert figure.layout.title.text == visitor.heading().split("\n")[0].removesuffix(" query × key = 10 × 10")
    assert "heads_head=2" in figure.layout.meta["link"]
    first, last = visitor.page.locator("[data-testid=stPopoverBody] code").inner_text().splitlines()
    copyfile(file, tmp_path / "attention-lab-head.json")
    script = f"{first}\nprint(type({last}).__name__)"  # a notebook shows what its last line is
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ran.stdout == "Figure\n"


def test_the_summary_can_be_sorted(visit):
    visitor = visit("/heads")
    table = visitor.page.locator(".st-key-panel_heads_numbers [data-testid=stDataFrame]")
    first = table.locator("[data-testid=glide-cell-1-0]")  # column 0 marks the locked head
    first.wait_for(state="attached")
    assert first.text_content() == "L1 h1"
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    visitor.page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 15)  # the head of the column “entropy”
    expect(first).to_have_text("L1 h3")  # the lowest entropy
