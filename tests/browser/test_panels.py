"""What each panel gives away: numbers, files, source."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import plotly.io
from playwright.sync_api import Browser, expect

from benchmarks.streamlit_private.dom import FIRST_CELL, MENU, TABLE
from tests.tfm_ui.pictures.figure_checks import array
from tfm_ui.page.panels import NOTEBOOK
from tfm_ui.text import colours

# Link -> its panels: a canvas, and a chart, which Plotly draws; with --all every panel of these pages. That the file of
# each picture needs nothing else, tests/browser/test_every_picture.py has.
PANELS = {"/heads?heads_head=2": ["head"], "/attention?attention_view=scale": ["scale"]}
MORE = {
    "/": ["next"],
    "/heads?heads_head=2": ["grid"],
    "/attention": ["steps"],
    "/attention?attention_view=arcs": ["arcs"],
    "/attention?attention_view=contribution": ["contribution", "contribution_row"],
    "/attention?attention_view=dictionary": ["dictionary"],
    "/attention?attention_view=change": ["change_weights", "change_stream"],
}


def download(visitor, panel: str, *buttons: str) -> list[Path]:
    visitor.press("Download", panel)
    files = []
    for button in buttons:
        with visitor.page.expect_download() as download:
            visitor.page.get_by_role("button", name=f"{button}: ").click()
        files.append(download.value.path())
    return files


def saved_as_seen_and_as_a_page_that_needs_nothing_else(visitor, panel: str, browser: Browser) -> None:
    visitor.page.locator(f".st-key-panel_{panel} :is(canvas, .main-svg)").first.wait_for()
    visitor.wait()
    png, html = download(visitor, panel, "PNG", "HTML")
    assert png.read_bytes().startswith(b"\x89PNG"), panel
    needs_nothing_else(browser, html, panel)
    close(visitor)


def close(visitor) -> None:
    """The menu, before which the run that a download asks for has ended: one that ends later closes the next menu."""
    visitor.wait()
    visitor.page.keyboard.press("Escape")
    visitor.page.locator(MENU).wait_for(state="hidden")


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


def the_csv_holds_the_numbers_of_the_picture(visitor) -> None:
    (numbers,) = download(visitor, "head", "CSV")
    with numbers.open() as file:
        head, *rows = csv.reader(file)
    assert head[1:3] == ["1 the", "2 cat"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], np.float32), np.float32(visitor.weights()))
    close(visitor)


def the_figure_is_that_of_the_picture_and_the_menu_has_the_lines_for_a_notebook(visitor, scheme: str) -> None:
    (file,) = download(visitor, "head", "JSON")
    figure = plotly.io.read_json(str(file))
    drawn = figure.to_dict()["data"][0]
    np.testing.assert_array_equal(np.nan_to_num(array(drawn["z"])), np.float32(visitor.weights()))
    assert figure.layout.template.layout.paper_bgcolor == colours.PAPER[scheme]
    assert figure.layout.title.text == visitor.heading().split("\n")[0].removesuffix(" query × key = 10 × 10")
    assert "heads_head=2" in figure.layout.meta["link"]
    lines = visitor.page.locator(f"{MENU} code").inner_text()
    assert lines == NOTEBOOK.format("attention-lab-head.json")  # tests/laws/test_picture_figures.py runs them
    close(visitor)


def the_tensors_come_with_a_page_that_runs_beside_them(visitor, folder: Path) -> None:
    visitor.press("Download", "head")
    for ending in ("npz", "safetensors", "py"):
        with visitor.page.expect_download() as download:
            visitor.page.get_by_role("button", name=f".{ending}", exact=True).click()
        assert download.value.suggested_filename == f"attention-lab-head.{ending}"
        download.value.save_as(folder / download.value.suggested_filename)
    page = [sys.executable, "-I", folder / "attention-lab-head.py"]
    done = subprocess.run(page, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "output             (10, 32)             largest difference" in done.stdout
    with np.load(folder / "attention-lab-head.npz") as taken:
        np.testing.assert_allclose(taken["weights"][1].ravel(), np.float32(visitor.weights()).ravel(), atol=1e-6)
    close(visitor)


def the_summary_can_be_sorted(visitor) -> None:
    table = visitor.page.locator(f".st-key-panel_heads_numbers {TABLE}")
    first = table.locator(FIRST_CELL)  # column 0 marks the locked head
    first.wait_for(state="attached")
    assert first.text_content() == "L1 h1"
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    visitor.page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 15)  # the head of the column “entropy”
    expect(first).to_have_text("L1 h3")  # the lowest entropy


def test_a_panel_gives_away_its_numbers_its_figure_and_its_picture(visit, browser, request, tmp_path):
    visitor = visit("/heads?heads_head=2")
    the_csv_holds_the_numbers_of_the_picture(visitor)
    the_tensors_come_with_a_page_that_runs_beside_them(visitor, tmp_path)
    the_figure_is_that_of_the_picture_and_the_menu_has_the_lines_for_a_notebook(visitor, "light")
    the_summary_can_be_sorted(visitor)
    visitor.resize(1440, "dark")
    visitor.back_to("/heads?heads_head=2")  # a run of the page, which tells the server of the colours
    the_figure_is_that_of_the_picture_and_the_menu_has_the_lines_for_a_notebook(visitor, "dark")
    visitor.resize(1440)
    for links in (PANELS, MORE) if request.config.getoption("all_combinations") else (PANELS,):
        for link, panels in links.items():
            visitor.back_to(link)
            for panel in panels:
                saved_as_seen_and_as_a_page_that_needs_nothing_else(visitor, panel, browser)
