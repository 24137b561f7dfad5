"""The probe of the notebook's benchmark, on pictures of ours: it moves the pointer, and knows when that is answered."""

import pytest

from benchmarks import notebook
from benchmarks.notebook import CONTENDERS, VIEWPORT


@pytest.mark.parametrize("view", ["heads", "arcs"])
def test_a_hover_is_answered_in_a_page_of_its_own(view, browser, tmp_path, monkeypatch):
    monkeypatch.setattr(notebook, "LAYERS", 2)
    monkeypatch.setattr(notebook, "HEADS", 3)
    notebook.make(view, 32, tmp_path / "cell.html")
    contender = next(each for each in CONTENDERS if each.view == view)
    page = browser.new_page(viewport=VIEWPORT)
    first, hover = notebook.visit(page, contender, tmp_path / "cell.html")
    page.close()
    assert 0 < first < 60
    assert 0 < hover < 60_000
