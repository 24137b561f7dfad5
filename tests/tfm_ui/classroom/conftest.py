"""A store of rooms for each test."""

import pytest

from tfm_ui.classroom import door, requests, room
from tfm_ui.classroom.door import Members
from tfm_ui.classroom.hub import Hub
from tfm_ui.classroom.tries import Tries
from tfm_ui.store import shared
from tfm_ui.store.rooms_local import LocalRooms


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch):
    """The rooms of this test: none before it."""
    opened = LocalRooms(tmp_path)
    monkeypatch.setattr(room, "rooms", lambda: opened)
    monkeypatch.setattr(shared, "rooms", lambda: opened)
    for of, name in ((door, "WRONG"), (requests, "SENT")):
        for whose in ("BROWSER", "NETWORK"):
            before = getattr(of, f"{name}_BY_{whose}")
            monkeypatch.setattr(of, f"{name}_BY_{whose}", Tries(before.most, before.per_minute))
    door.KNOWN_WRONG.clear()
    monkeypatch.setattr(requests, "HUB", Hub())
    monkeypatch.setattr(door, "MEMBERS", Members())
    yield opened
    opened.close_file()
