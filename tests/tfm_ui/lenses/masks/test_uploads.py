"""Uploaded masks: kept by visitor, within bytes, and found by nobody else."""

import re
import tracemalloc

import numpy as np
import pytest

from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.mask_text import SIDE, Table
from tfm_ui.lenses.masks.conventions.pasted import GONE, pasted_mask
from tfm_ui.lenses.masks.conventions.pasted_file import read_file
from tfm_ui.lenses.masks.conventions.pictures import foreign
from tfm_ui.lenses.masks.conventions.uploads import ALL, EACH, UPLOADS, Uploads, bytes_of, name_of
from tfm_ui.lenses.masks.state import MasksState
from tfm_ui.state.model_state import ModelState


def table(side: int = 4) -> Table:
    return Table(np.ones((side, side)), "numbers")


def kept(store: Uploads, *names: str) -> list[str]:
    """Which of these are there, without having them looked at."""
    return [name for name in names if name in store._kept]


def test_what_was_brought_is_found_by_its_visitor_and_by_a_picture_that_knows_the_name():
    store, mask = Uploads(), table()
    store.keep("a", "Ada", mask)
    assert store.find("a", "Ada") is store.find("a") is mask
    for name, visitor in (("a", "Bob"), ("b", "Ada"), ("a", "")):
        with pytest.raises(LookupError):
            store.find(name, visitor)


def test_of_too_much_of_a_visitor_the_oldest_of_that_visitor_goes():
    room = 3 * bytes_of(table())
    store = Uploads(each=room, together=100 * room)
    store.keep("other", "Bob", table())
    for name in ("a", "b", "c"):
        store.keep(name, "Ada", table())
    store.find("a")  # now b is the oldest
    store.keep("d", "Ada", table())
    assert kept(store, "other", "a", "b", "c", "d") == ["other", "a", "c", "d"]
    assert store.bytes_kept("Ada") == room
    store.keep("d", "Ada", table())  # brought again: counted once
    assert store.bytes_kept("Ada") == room
    assert store.bytes_kept() == room + bytes_of(table())


def test_of_too_much_of_all_the_oldest_of_anyone_goes_and_many_visitors_take_no_more_than_one():
    room = 5 * bytes_of(table())
    store = Uploads(each=room, together=room)
    for i in range(500):
        store.keep(f"{i}", f"visitor {i}", table())
        assert store.bytes_kept() <= room
    assert kept(store, *map(str, range(500))) == ["495", "496", "497", "498", "499"]
    assert len(store._bytes) == 5


def test_a_table_larger_than_the_room_is_not_kept():
    store = Uploads(each=100, together=100)
    store.keep("a", "Ada", table(8))
    assert store.bytes_kept() == 0


def test_two_of_the_largest_files_have_room_and_all_visitors_share_a_bound():
    largest = read_file(("\n".join([" ".join("1" * SIDE)] * SIDE)).encode())
    assert largest.values.shape == (SIDE, SIDE)
    store = Uploads()
    store.keep("a", "Ada", largest)
    assert store.find("a") is largest
    assert bytes_of(largest) <= EACH <= ALL <= 2**27


@pytest.mark.parametrize("side", [1, 1000])
def test_bytes_are_those_that_the_process_really_holds(side):
    store, count = Uploads(2**40, 2**40), 300 if side == 1 else 3
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for i in range(count):
            store.keep(name_of(b"%d" % i, "Ada"), "Ada", read_file(b"\n".join([b" ".join([b"1"] * side)] * side)))
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert 0.4 * store.bytes_kept() < held < 1.1 * store.bytes_kept()


def test_a_name_cannot_be_made_up_from_the_content_and_is_another_for_each_visitor(monkeypatch):
    name = name_of(b"10\n11", "Ada")
    assert re.fullmatch("[0-9a-f]{16}", name)
    assert name == name_of(b"10\n11", "Ada")
    assert len({name, name_of(b"10\n11", "Bob"), name_of(b"10\n10", "Ada"), name_of(b"a10\n11", "Ad")}) == 4
    monkeypatch.setattr(uploads, "SECRET", b"of another server")
    assert name_of(b"10\n11", "Ada") != name


def test_another_visitor_is_told_that_it_is_gone_and_the_picture_is_drawn_by_its_name():
    model, mask = ModelState(), Table(np.tri(10), "numbers")
    name = name_of(b"a file", "Ada")
    UPLOADS.keep(name, "Ada", mask)
    state = MasksState(pasted="", upload=name)
    assert pasted_mask(model, state, "Ada")[0].read is mask
    assert pasted_mask(model, state, "Bob") == (None, GONE)
    _, numbers = foreign(model, state)
    np.testing.assert_array_equal(numbers.ravel()[:100].reshape(10, 10), np.tri(10))
