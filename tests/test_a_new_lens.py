"""A lens is a folder and a line: the lens that CONTRIBUTING shows is added from a folder elsewhere, and opened."""

import shutil
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.streamlit_private.app_test import go_to
from tests.opening import ROOT, new_app
from tests.pages.test_app import picture, text_on, widget
from tests.test_documents import FENCED
from tests.tfm_ui.pictures.charts import names
from tfm_ui import lenses
from tfm_ui.page.lens import View
from tfm_ui.page.questions import Question
from tfm_ui.pictures.registry import PICTURES, made

NAME = "letters"


FOLDER = ROOT / "tests" / "example_lens"  # mypy and ruff check it with the rest


def test_contributing_shows_this_lens():
    blocks = FENCED.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert (FOLDER / NAME / "__init__.py").read_text("utf-8") in [code for _, code in blocks]


@pytest.fixture
def with_the_lens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    shutil.copytree(FOLDER / NAME, tmp_path / NAME)
    monkeypatch.setattr(lenses, "__path__", [*lenses.__path__, str(tmp_path)])
    monkeypatch.setattr(lenses, "NAMES", [*lenses.NAMES, NAME])
    yield
    PICTURES.pop(NAME, None)
    sys.modules.pop(f"{lenses.__name__}.{NAME}", None)
    lenses.lens.cache_clear()
    monkeypatch.undo()
    lenses.lenses()


def test_a_lens_of_one_folder_and_one_line_is_opened(with_the_lens):
    app = go_to(new_app(text="an apple a day", letters_most="3"), NAME).run()
    assert not app.exception
    assert "3 tokens have 8 letters." in text_on(app)
    header, _ = picture(app, NAME)
    assert names(header) == ["an", "apple", "a"]
    widget(app, "letters_most").set_value(2).run()
    assert names(picture(app, NAME)[0]) == ["an", "apple"]
    assert "every token has a letter" in text_on(app)
    assert "Which token has the most letters?" in text_on(app)
    widget(app, "_next_question").click().run()
    assert "Which of these four is the longest?" in text_on(app)
    assert app.session_state["letters_most"] == 4


def test_it_stands_in_the_bar_behind_the_others(with_the_lens):
    assert [lens.title for lens in lenses.lenses()][-1] == "Letters"
    app = go_to(new_app(present="true"), NAME).run()
    count = len(lenses.NAMES)
    assert f"{count} of {count}" in text_on(app)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"views": {"letters": View(shows=[]), "words": View(shows=[])}},
            r"expected the views \['letters'\]",
        ),
        (
            {"views": {"letters": View(shows=[], controls=["mots"])}},
            r"expected fields of LettersState: \['question', 'most'\]",
        ),
        ({"questions": [Question("Two", "Which?", lambda *_: "Two.", controls={"mots": 2})]}, r"got \['mots'\]"),
    ],
)
def test_a_mistake_in_a_lens_is_said_when_it_is_loaded(with_the_lens, change, message):
    with pytest.raises(ValueError, match=message):
        replace(lenses.lens(NAME), **change)


def test_a_lens_has_the_name_of_its_folder_and_a_panel_that_of_a_registered_picture(with_the_lens, monkeypatch):
    package = import_module(f"{lenses.__name__}.{NAME}")
    monkeypatch.setattr(package, "LENS", replace(package.LENS, name="words"))
    with pytest.raises(ValueError, match="expected a lens with the name of its folder, 'letters', got 'words'"):
        lenses.lens(NAME)
    with pytest.raises(ValueError, match="got 'letterz'"):
        made("letterz", "")
