"""The Download menu: the three files of a step, made when they are asked for, and the table of names and shapes."""

from html import unescape

import pytest

from tests.pages.test_app import with_menus
from tfm_ui.page import tensors

SHOWN = {  # panel -> its page and the parameters of a link to it
    "head": ("heads", {}),
    "steps": ("attention", {"attention_view": "steps"}),
    "masks_see": ("masks", {}),
    "model_output": ("model", {"model_view": "output"}),
}


def menu(key: str, page: str, fields: dict[str, str]):
    """A page with this panel's menus open: its app, and the files that the menu offers."""
    app = with_menus([key], page, **fields)
    assert not app.exception
    return app, [button.proto.label for button in app.get("download_button")]


@pytest.mark.parametrize("key", SHOWN)
def test_the_menu_has_three_files_and_a_table(key):
    app, buttons = menu(key, *SHOWN[key])
    assert [label for label in buttons if label.startswith(".")] == [".npz", ".safetensors", ".py"]
    (table,) = (block.proto.body for block in app.get("html") if 'class="take-along"' in block.proto.body)
    text = unescape(table)
    assert "query × d_model = 10 × 32" in text or "token × d_model = 10 × 32" in text
    assert "The .py needs torch and NumPy alone" in text


def test_no_file_is_made_before_somebody_asks_for_it(monkeypatch):
    def never(*_):
        raise AssertionError("expected nobody to make a file")

    monkeypatch.setattr(tensors.Step, "npz", never)
    monkeypatch.setattr(tensors.Step, "safetensors", never)
    monkeypatch.setattr(tensors, "page", never)
    menu("head", *SHOWN["head"])


def test_a_panel_without_tensors_offers_none():
    app, buttons = menu("model_ffn_sizes", "model", {"model_view": "feed_forward"})
    assert buttons
    assert not [label for label in buttons if label.startswith(".")]
    assert not [block for block in app.get("html") if 'class="take-along"' in block.proto.body]
