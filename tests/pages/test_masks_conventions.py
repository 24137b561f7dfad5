"""The view conventions of the Masks lens without a browser."""

import sys
from importlib import import_module

import pytest

from tests.pages.test_app import picture, start, text_on
from tfm_core.study.mask_conventions import CONVENTIONS
from tfm_ui.lenses.masks.conventions import calls

PAGE = "masks"
PICTURES = ["masks_ours", "masks_handed"]


def lens(**query: str):
    return start(PAGE, masks_view="conventions", **query)


def all_pictures(app) -> None:
    for name in PICTURES:
        header, numbers = picture(app, name)
        assert header["about"]
        assert "NaN" not in str({**header, "about": ""})
        assert numbers


ARCHITECTURES = [
    {"architecture": "decoder", "norm": "post"},
    {"architecture": "encoder-decoder", "masks_place": "decoder"},
    {"architecture": "encoder-decoder", "masks_place": "cross", "norm": "post"},
]


@pytest.fixture
def without_transformers(monkeypatch):
    """An installation that lacks the library, as the image for hosting does."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "transformers"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "transformers", None)  # so that each import of it fails
    calls.hugging_face.cache_clear()
    yield
    calls.hugging_face.cache_clear()


@pytest.mark.parametrize("model", [{}, *ARCHITECTURES])
@pytest.mark.parametrize("name", CONVENTIONS)
def test_without_transformers_every_page_runs_and_says_that_it_is_not_installed(name, model, without_transformers):
    with pytest.raises(ImportError):
        import_module("transformers")
    app = lens(masks_convention=name, **model)
    all_pictures(app)
    assert "transformers is not installed here" in text_on(app)
    assert app.code[0].value.startswith("import torch\n")
    assert "✕" not in text_on(app)
