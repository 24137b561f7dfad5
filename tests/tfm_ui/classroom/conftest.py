"""A store of rooms for each test."""

import pytest

from tfm_ui.classroom import requests, room
from tfm_ui.classroom.hub import Hub
from tfm_ui.classroom.requests import Members
from tfm_ui.classroom.tries import Tries
from tfm_ui.store import shared
from tfm_ui.store.rooms_local import LocalRooms


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The rooms of this test: none before it."""
    opened = LocalRooms(tmp_path)
    monkeypatch.setattr(room, "rooms", lambda: opened)
    monkeypatch.setattr(shared, "rooms", lambda: opened)
    for name in ("WRONG_BY_BROWSER", "WRONG_BY_NETWORK", "SENT_BY_BROWSER", "SENT_BY_NETWORK"):
        before = getattr(requests, name)
        monkeypatch.setattr(requests, name, Tries(before.most, before.per_minute))
    monkeypatch.setattr(requests, "HUB", Hub())
    monkeypatch.setattr(requests, "MEMBERS", Members())
    yield opened
    opened.close_file()
