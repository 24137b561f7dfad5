"""A lens is a folder and a line: the lens in CONTRIBUTING is added from a temporary folder, and opened."""

import sys
from pathlib import Path

import pytest

from tests.opening import ROOT, go_to, new_app
from tests.pages.test_app import picture, text_on, widget
from tests.test_documents import FENCED
from tfm_ui import lenses
from tfm_ui.pictures.registry import PICTURES

NAME = "letters"


def example() -> str:
    """The code that CONTRIBUTING shows."""
    blocks = FENCED.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    (code,) = [body for language, body in blocks if language == "python" and f'name="{NAME}"' in body]
    return code


@pytest.fixture
def with_the_lens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / NAME).mkdir()
    (tmp_path / NAME / "__init__.py").write_text(example(), encoding="utf-8")
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
    assert header["names"] == ["an", "apple", "a"]
    widget(app, "letters_most").set_value(2).run()
    assert picture(app, NAME)[0]["names"] == ["an", "apple"]
    widget(app, "_preset_0").click().run()
    assert "Which of them is the longest?" in text_on(app)


def test_it_stands_in_the_bar_behind_the_others(with_the_lens):
    assert [lens.title for lens in lenses.lenses()][-1] == "Letters"
    app = go_to(new_app(present="true"), NAME).run()
    count = len(lenses.NAMES)
    assert f"{count} of {count}" in text_on(app)
