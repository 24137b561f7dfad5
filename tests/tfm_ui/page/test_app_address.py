"""The address of the app, of which the links to sheets, lectures and the speaker's page are made."""

import pytest

from tfm_ui.page import frame, share


@pytest.mark.parametrize(
    ("address", "page", "app"),
    [
        ("https://lab.example/masks", "masks", "https://lab.example"),
        ("https://lab.example/", "", "https://lab.example"),
        ("https://lab.example", "", "https://lab.example"),
        ("https://lab.example/below/learn", "learn", "https://lab.example/below"),
        ("https://lab.example/below/", "", "https://lab.example/below"),
    ],
)
def test_it_is_what_the_pages_stand_below(monkeypatch, address, page, app):
    monkeypatch.setattr(share, "address", lambda: address)
    monkeypatch.setattr(frame, "asked_lens", lambda: page)
    assert frame.app_address() == app
