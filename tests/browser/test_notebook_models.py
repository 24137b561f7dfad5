"""Widgets of models, runs and schemes in a real browser: what the reader does in them arrives in Python, and back."""

import pytest
from playwright.sync_api import Browser, Page

import attention_lab
from tests.browser.notebook import Notebook, pages_of_their_own
from tests.browser.test_notebook import TITLES, TREE
from tfm_core import Transformer, TransformerConfig
from tfm_core.training.config import of_task

MODEL = Transformer(TransformerConfig(vocab_size=4096, d_model=16, num_heads=2, num_layers=2)).eval()
SHAPES = f"() => [...{TREE}.querySelectorAll('header small')].map(e => e.textContent)"


@pytest.fixture
def page(browser: Browser):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    yield page
    page.close()


@pytest.fixture
def other(browser: Browser):
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    yield page
    page.close()


def steps():
    return attention_lab.steps(MODEL, "the cat sat on the mat", head=1, query=2)


def test_a_step_a_cell_and_a_temperature_are_chosen_in_the_picture_and_in_python(page: Page):
    widget = steps()
    notebook = Notebook(page, widget)
    page.get_by_role("tab", name="scores").click()
    page.wait_for_function(f"() => ({SHAPES})()[0].endsWith('scores')")
    assert widget.step == "scores"
    canvas = page.locator("figure[data-name=weights] canvas")
    canvas.focus()
    before = widget.query, widget.key
    for key in ("ArrowRight", "ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_function(f"() => ({SHAPES})()[0].endsWith('weights')")
    assert (widget.query, widget.key) != before
    title = page.locator(".derived h4").inner_text()
    names = widget._steps.queries
    assert title == f"Weight of “{names[widget.key]}” for “{names[widget.query]}”"
    page.locator(".warmth input").press("ArrowRight")
    page.wait_for_function(f"() => {TREE}.querySelector('.warmth output').textContent === '1.3'")
    page.wait_for_timeout(600)  # the act ends after 400 ms without another key
    assert widget.temperature == 1.3
    page.get_by_role("button", name="One step").click()
    page.wait_for_function(f"() => {TREE}.querySelectorAll('figure').length === 2")
    assert not widget.whole
    widget.layer, widget.step = 1, "output"
    notebook.follow()
    assert page.evaluate(TITLES) == ["Layer 2, head 2"]
    assert page.locator(".derived h4").inner_text() == "Output of “" + names[widget.query] + "”, channel 1"
    assert notebook.problems == []


def test_the_slider_of_a_run_is_a_trait(page: Page):
    widget = attention_lab.training(of_task("reverse"))
    notebook = Notebook(page, widget)
    page.locator(".plot .main-svg").first.wait_for()
    assert page.locator(".scrub output").inner_text().startswith("step 400 of 400")
    slider = page.locator(".scrub input")
    slider.focus()
    slider.press("ArrowLeft")
    page.wait_for_function(f"() => !{TREE}.querySelector('.scrub output').textContent.startsWith('step 400')")
    page.wait_for_timeout(600)  # the act ends after 400 ms without another key
    snapshots = list(widget.run.snapshots)
    assert widget.step == snapshots[-2]
    widget.step = snapshots[1]
    notebook.follow()
    assert page.locator(".scrub output").inner_text().startswith(f"step {snapshots[1]} of 400")
    widget.run = attention_lab.training(of_task("reverse", seed=4711)).run
    notebook.follow()
    assert page.evaluate(TITLES) == ["Reverse: how it is learned"]
    assert notebook.problems == []


def test_clocks_and_heatmaps_set_positions(page: Page, other: Page):
    turned = attention_lab.positions("rope", length=32)
    notebook = Notebook(page, turned)
    page.locator(".query input").press("ArrowRight")
    page.wait_for_function(f"() => {TREE}.querySelector('.said').textContent.startsWith('Query at m = 13')")
    assert turned.position == 13
    page.wait_for_timeout(600)  # key presses in a row are one act, which ends after 400 ms
    turned.key = 13
    notebook.follow()
    assert page.locator(".apart").inner_text() == "m − n = 0"
    assert notebook.problems == []
    added = attention_lab.positions("sinusoidal", length=16, d_model=8)
    notebook = Notebook(other, added)
    canvas = other.locator(".maps canvas").first
    canvas.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "Enter"):
        other.keyboard.press(key)
    other.wait_for_function(f"() => {TREE}.querySelector('.maps')._memory.header.picked?.[0] > 0")
    assert added.position > 0
    assert notebook.problems == []


@pytest.mark.parametrize("width", [390, 1200])
def test_a_page_of_its_own_needs_no_network(browser: Browser, tmp_path, width: int):
    widgets = {"steps": steps(), "training": attention_lab.training(of_task("reverse"))}
    widgets |= {name: attention_lab.positions(name) for name in ("learned", "rope", "t5")}
    pages = pages_of_their_own(browser, tmp_path, width, widgets)
    assert [name for name, _ in pages] == list(widgets)
