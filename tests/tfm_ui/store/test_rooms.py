"""Rooms in the store, whichever it is: values within bounds, written if nothing has changed, gone as a whole."""

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_ui.store.test_stores import same_store
from tfm_ui.store import rooms_local, rooms_redis
from tfm_ui.store.redis_store import RedisStore
from tfm_ui.store.rooms import Bounds, NoRoom, RoomFull
from tfm_ui.store.rooms_local import LocalRooms
from tfm_ui.store.rooms_redis import RedisRooms

BOUNDS = Bounds(rooms=3, per_network=2, values=4, bytes=300)


@pytest.fixture(params=["local", "redis"])
def rooms(request, tmp_path):
    if request.param == "local":
        opened = LocalRooms(tmp_path)
        yield opened
        opened.close_file()
    else:
        store = RedisStore(request.getfixturevalue("empty_redis"))
        yield RedisRooms(store)
        store.close()


def test_a_room_is_open_until_it_is_closed(rooms):
    assert rooms.open("KXTM", {"about": b"1"}, "net", BOUNDS)
    assert not rooms.open("KXTM", {"about": b"2"}, "other", BOUNDS)
    assert rooms.read("KXTM") == {"about": b"1"}
    assert rooms.codes() == ["KXTM"]
    rooms.close("KXTM")
    rooms.close("KXTM")
    assert rooms.codes() == []
    with pytest.raises(NoRoom):
        rooms.read("KXTM")
    with pytest.raises(NoRoom):
        rooms.write("KXTM", {"late": b"1"}, BOUNDS)
    assert rooms.codes() == []


def test_there_are_as_many_rooms_as_allowed_in_all_and_of_a_network(rooms):
    assert rooms.open("AAAA", {"about": b"1"}, "net", BOUNDS)
    assert rooms.open("BBBB", {"about": b"1"}, "net", BOUNDS)
    with pytest.raises(RoomFull, match="As many rooms are open"):
        rooms.open("CCCC", {"about": b"1"}, "net", BOUNDS)
    assert rooms.open("CCCC", {"about": b"1"}, "other", BOUNDS)
    with pytest.raises(RoomFull):
        rooms.open("DDDD", {"about": b"1"}, "third", BOUNDS)
    rooms.close("AAAA")
    assert rooms.open("DDDD", {"about": b"1"}, "third", BOUNDS)


def test_values_are_written_only_if_what_is_given_still_holds(rooms):
    rooms.open("KXTM", {"asked": b"first"}, "net", BOUNDS)
    assert rooms.write("KXTM", {"answer": b"7"}, BOUNDS, given={"asked": b"first", "shown": b""})
    assert not rooms.write("KXTM", {"answer": b"8"}, BOUNDS, given={"asked": b"second"})
    assert rooms.write("KXTM", {"shown": b"yes"}, BOUNDS)
    assert not rooms.write("KXTM", {"answer": b"9"}, BOUNDS, given={"asked": b"first", "shown": b""})
    assert rooms.read("KXTM") == {"asked": b"first", "answer": b"7", "shown": b"yes"}
    assert rooms.write("KXTM", {"shown": b"", "answer": b""}, BOUNDS)
    assert rooms.read("KXTM") == {"asked": b"first"}


def test_what_is_too_much_is_refused_and_changes_nothing(rooms):
    rooms.open("KXTM", {"a": b"1"}, "net", BOUNDS)
    rooms.write("KXTM", {"b": b"1", "c": b"1", "d": b"1"}, BOUNDS)
    before = rooms.read("KXTM")
    with pytest.raises(RoomFull, match="holds as many answers"):
        rooms.write("KXTM", {"a": b"2", "e": b"1"}, BOUNDS)
    with pytest.raises(RoomFull):
        rooms.write("KXTM", {"a": bytes(301)}, BOUNDS)
    assert rooms.read("KXTM") == before
    assert rooms.write("KXTM", {"a": bytes(200)}, BOUNDS)
    assert rooms.write("KXTM", {"a": b"", "e": b"1"}, BOUNDS)


def test_thousands_of_values_are_removed_at_once(rooms):
    many = Bounds(rooms=3, per_network=2, values=20_000, bytes=10**7)
    rooms.open("KXTM", {"a": b"1"}, "net", many)
    values = {f"answer:{number}": b"1" for number in range(6000)}
    for start in range(0, 6000, 3000):
        part = {name: values[name] for name in [*values][start : start + 3000]}
        assert rooms.write("KXTM", part, many)
    assert rooms.write("KXTM", dict.fromkeys(values, b""), many)
    assert rooms.read("KXTM") == {"a": b"1"}


def test_a_room_goes_when_its_time_is_over(rooms, monkeypatch):
    for kind in (rooms_local, rooms_redis):
        monkeypatch.setattr(kind, "LIFETIME", 1)
    rooms.open("KXTM", {"about": b"1"}, "net", BOUNDS)
    assert rooms.read("KXTM")
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            rooms.read("KXTM")
        except NoRoom:
            break
        time.sleep(0.05)
    assert rooms.codes() == []
    assert rooms.open("KXTM", {"about": b"2"}, "net", Bounds(1, 1, 4, 300))
    assert rooms.read("KXTM") == {"about": b"2"}


def test_who_listens_hears_of_each_change(rooms):
    heard, came = [], threading.Event()

    def hear(code):
        heard.append(code)
        came.set()

    rooms.open("KXTM", {"about": b"1"}, "net", BOUNDS)
    stop = rooms.listen(hear)
    if isinstance(rooms, RedisRooms):
        assert came.wait(10)  # it is connected: until then it may have missed something
        assert heard == [""]
    heard.clear()
    for act in (lambda: rooms.write("KXTM", {"a": b"1"}, BOUNDS), lambda: rooms.close("KXTM")):
        came.clear()
        act()
        assert came.wait(10)
    assert heard == ["KXTM", "KXTM"]
    stop()


@same_store
@given(
    values=st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=20),
        st.binary(min_size=1, max_size=50), min_size=1, max_size=8,
    )
)  # fmt: skip
def test_names_and_values_may_be_anything(rooms, values):
    rooms.close("KXTM")
    assert rooms.open("KXTM", {"about": b"1"}, "net", Bounds(9, 9, 99, 9999))
    values.pop("network", None)
    assert rooms.write("KXTM", values, Bounds(9, 9, 99, 9999))
    assert rooms.read("KXTM") == {"about": b"1"} | values
