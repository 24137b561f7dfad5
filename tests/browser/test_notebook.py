"""Widgets of a notebook in a real browser: what is drawn, chosen and read, and files of their own."""

import pytest
import torch
from playwright.sync_api import Browser, Page

import attention_lab
from attention_lab.picture import Picture
from tests.attention_lab.test_given import WORDS, weights
from tests.browser.notebook import Notebook, pages_of_their_own
from tests.browser.test_standalone import drawn

TREE = "document.querySelector('main > div').shadowRoot"
TITLES = f"() => [...{TREE}.querySelectorAll('header b')].map(e => e.textContent)"
COLOURS = """canvas => { const { width, height } = canvas
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer)
  return new Set(pixels).size }"""


@pytest.fixture
def page(browser: Browser):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    yield page
    page.close()


def two_layers():
    return attention_lab.heads(weights(2, 4, 6, 6), WORDS)


def test_a_click_and_keys_lock_a_head_which_python_reads_and_what_python_sets_is_drawn(page: Page):
    widget = two_layers()
    notebook = Notebook(page, widget)
    assert page.evaluate(TITLES) == ["All 8 heads", "Layer 1, head 1"]
    for canvas in (".cells canvas", ".map canvas"):
        assert page.locator(canvas).evaluate(COLOURS) > 8
    heads = page.locator(".head")
    heads.nth(6).click()
    page.wait_for_function(f"() => String(({TITLES})()).endsWith('Layer 2, head 3')")
    assert widget.head == (1, 2)
    assert heads.nth(6).get_attribute("aria-pressed") == "true"
    heads.nth(6).press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => String(({TITLES})()).endsWith('Layer 1, head 3')")
    assert widget.head == (0, 2)
    widget.head = (1, 3)
    notebook.follow()
    assert page.evaluate(TITLES)[1] == "Layer 2, head 4"
    shown = page.locator(".map").evaluate("e => [...e._memory.weights]")
    assert shown == weights(2, 4, 6, 6)[1, 3].flatten().tolist()
    assert notebook.problems == []


def test_a_hover_reads_a_cell_as_in_the_app(page: Page):
    notebook = Notebook(page, two_layers())
    canvas = page.locator(".map canvas")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    weight = weights(2, 4, 6, 6)[0, 0, 1, 0].item()
    assert f"query 2 “cat” → key 1 “the”\nweight {weight:.4f}" in page.locator(".map .tip").inner_text()
    assert notebook.problems == []


def test_keys_in_a_picture_do_not_reach_the_notebook(page: Page):
    Notebook(page, two_layers())
    page.evaluate("() => { window.heard = 0; document.addEventListener('keydown', () => window.heard++) }")
    page.locator(".head").first.focus()
    for key in ("a", "x", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    assert page.evaluate("() => window.heard") == 0
    assert page.locator("main > div").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_a_selection_of_arcs_is_a_traitlet(page: Page):
    widget = attention_lab.arcs(weights(2, 4, 6, 6), WORDS, layer=1)
    notebook = Notebook(page, widget)
    canvas = page.locator(".arcs canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => !{TREE}.querySelector('.clear').hidden")
    page.wait_for_timeout(600)  # the script tells once the reader has rested for 350 ms
    assert widget.selection == "q2"
    page.get_by_role("button", name="Head 3").click()
    page.wait_for_timeout(600)
    assert widget.shown == "1 2 4"
    widget.layer = 0
    notebook.follow()
    assert page.evaluate(TITLES) == ["Layer 1, 4 heads"]
    assert notebook.problems == []


def test_a_large_mask_is_zoomed_by_python(page: Page):
    widget = attention_lab.masks(torch.ones(600, 600).tril().bool())
    notebook = Notebook(page, widget)
    page.locator(".maps .zoom button[data-by='1']").click()
    page.wait_for_function(f"() => {TREE}.querySelector('.maps')._memory.header.part.rows < 600")
    assert widget.part == "150,150,300,300"
    assert notebook.problems == []


@pytest.mark.parametrize(
    ("style", "mode", "paper"),
    [
        ("body { background: #111111 }", "auto", "rgb(14, 19, 25)"),
        ("body { background: #fffff8 }", "auto", "rgb(255, 255, 255)"),
        ("body { background: #111111 }", "light", "rgb(255, 255, 255)"),
        ("body { background: oklch(98% 0.01 95) }", "auto", "rgb(255, 255, 255)"),
        ("body { background: color(srgb 0.07 0.07 0.07) }", "auto", "rgb(14, 19, 25)"),
    ],
)
def test_a_widget_wears_the_notebooks_mode(page: Page, style: str, mode: str, paper: str):
    widget = attention_lab.heads(weights(2, 4, 6, 6), WORDS, mode=mode)
    Notebook(page, widget, style=style)
    assert page.locator(".widget").evaluate("e => getComputedStyle(e).backgroundColor") == paper


def test_a_theme_that_changes_is_followed(page: Page):
    notebook = Notebook(page, two_layers(), style="body.dark { background: #000 } body { background: #fff }")
    assert page.locator(".widget").get_attribute("data-mode") == "light"
    page.evaluate("() => document.body.classList.add('dark')")
    page.wait_for_function(f"() => {TREE}.querySelector('.widget').dataset.mode === 'dark'")
    drawn(page)
    corner = page.locator(".map canvas").evaluate("e => [...e.getContext('2d').getImageData(1, 1, 1, 1).data]")
    assert corner[:3] == [14, 19, 25]
    assert notebook.problems == []


@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_of_its_own_needs_no_network(browser: Browser, tmp_path, width: int):
    widgets = {
        "heads": two_layers(),
        "arcs": attention_lab.arcs(weights(2, 4, 6, 6), WORDS),
        "masks": attention_lab.masks(torch.ones(6, 6).tril()),
    }
    for name, page in pages_of_their_own(browser, tmp_path, width, widgets):
        assert page.locator("canvas").last.evaluate(COLOURS) > 4, name
        assert page.locator(".widget").get_attribute("data-mode") == "dark"


def test_a_page_of_its_own_shows_the_head_that_is_clicked(page: Page, tmp_path):
    file, widget = tmp_path / "heads.html", two_layers()
    file.write_text(widget.to_html(), encoding="utf-8")
    page.goto(file.as_uri())
    page.locator(".head").nth(6).click()
    page.wait_for_function(f"() => String(({TITLES})()).endsWith('Layer 2, head 3')")
    assert page.locator(".map").evaluate("e => [...e._memory.weights]") == weights(2, 4, 6, 6)[1, 2].flatten().tolist()
    assert page.locator(".head").nth(6).get_attribute("aria-pressed") == "true"
    assert widget.head == (0, 0)  # nobody has told Python


def test_a_chart_that_carries_its_script_is_drawn_while_python_runs_cells(page: Page, monkeypatch):
    monkeypatch.setattr(Picture, "_carried", set())
    notebook = Notebook(page, attention_lab.positions("sinusoidal"), busy=True)
    page.locator(".chart .main-svg").first.wait_for()
    assert notebook.problems == []


def test_words_do_not_wait_for_the_script_that_draws_charts(page: Page):
    widget = attention_lab.positions("sinusoidal")
    widget.library = b""  # another widget has it, which is not on this page
    notebook = Notebook(page, widget, busy=True)
    waits = page.locator(".waits")
    assert page.evaluate(TITLES) == ["sinusoidal: added to embeddings", "Curves of dimensions"]
    assert [each.is_visible() for each in waits.all()] == [False, True]
    assert page.locator(".maps canvas").evaluate(COLOURS) > 8  # which needs no Plotly
    page.evaluate("() => rest()")
    page.locator(".chart .main-svg").first.wait_for()
    assert not waits.last.is_visible()
    assert page.evaluate("() => document.querySelectorAll('head script').length") == 1
    assert notebook.problems == []


@pytest.mark.parametrize(("mode", "paper"), [("dark", "rgb(14, 19, 25)"), ("light", "rgb(255, 255, 255)")])
def test_a_page_of_its_own_has_the_mode_that_was_chosen(page: Page, tmp_path, mode: str, paper: str):
    file = tmp_path / "heads.html"
    file.write_text(attention_lab.heads(weights(1, 1, 2, 2), mode=mode).to_html(), encoding="utf-8")
    page.emulate_media(color_scheme="dark" if mode == "light" else "light")
    page.goto(file.as_uri())
    for part in ("body", ".widget"):
        assert page.locator(part).evaluate("e => getComputedStyle(e).backgroundColor") == paper


def test_a_widget_that_is_removed_listens_to_nothing(page: Page):
    Notebook(page, two_layers())
    page.evaluate("() => { leave(); document.querySelector('main').replaceChildren() }")
    page.emulate_media(color_scheme="dark")
    drawn(page)
