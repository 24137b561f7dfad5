"""Uploads of the Clinic: kept by visitor, within bytes, and found by whoever knows their name."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfm_core.clinic.test_read_text import npy
from tests.tfm_ui.store.empty import empty_store
from tfm_ui.lenses.clinic import uploads
from tfm_ui.lenses.clinic.mask import Doctor
from tfm_ui.lenses.clinic.state import ClinicState, UploadName
from tfm_ui.lenses.clinic.uploads import GONE, File, find, keep, name_of
from tfm_ui.settings import ENTRIES
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import kinds


@pytest.fixture(autouse=True)
def kept():
    with empty_store(uploads) as opened:
        yield opened


def test_what_was_brought_is_found_by_its_name_alone():
    name = keep(File("a.txt", b"1 0"), "Ada")
    assert find(name) == File("a.txt", b"1 0")
    with pytest.raises(LookupError, match="upload it again"):
        find("b")


@given(name=st.text(max_size=40), data=st.binary(max_size=200))
def test_a_file_comes_back_to_the_last_byte(name, data):
    assert find(keep(File(name, data), "Ada")) == File(name, data)


@pytest.mark.parametrize("value", [b"", b"\n", b"{\nx", b"\xff\n1 0", b'"a"\nnot packed'])
def test_bytes_that_this_lens_has_not_written_are_told_as_gone(kept, value):
    kept.put(kinds.UPLOADS, "a", value, "Ada")
    with pytest.raises(LookupError, match="upload it again"):
        find("a")


def test_of_too_much_the_oldest_goes_first(kept, monkeypatch):
    data = np.random.default_rng(0).bytes(990)  # which cannot be packed tighter
    size = len(uploads.as_bytes(File("a", data))) + 1024
    monkeypatch.setattr(uploads, "UPLOADS", kinds.Kind("few", together=5 * size, each=3 * size, reading_renews=True))
    names = [keep(File(letter, data), "Ada") for letter in "abc"]
    find(names[0])  # now b is the oldest
    last = keep(File("d", data), "Ada")
    assert kept.keys(uploads.UPLOADS) == [names[2], names[0], last]


def test_the_largest_file_has_room_also_on_a_small_host():
    data = npy(np.random.default_rng(0).normal(size=(1024, 1024)))
    name = keep(File("a.npy", data), "Ada")
    assert find(name).data == data
    assert len(uploads.as_bytes(File("a.npy", data))) < ENTRIES["upload_bytes_per_visitor"].hosted


def test_a_file_that_is_too_large_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(uploads, "UPLOADS", kinds.Kind("uploads", together=5000, each=3000))
    with pytest.raises(ValueError, match=r"uploads: expected at most 1,976 bytes, got [\d,]+"):
        keep(File("a", np.random.default_rng(0).bytes(10_000)), "Ada")


def test_a_name_cannot_be_made_up_from_the_content_and_is_another_for_each_visitor(monkeypatch):
    file = File("a", b"10\n11")
    name = name_of(file, "Ada")
    assert re.fullmatch("[0-9a-f]{32}", name)  # 128 bits
    assert name == name_of(file, "Ada")
    others = {name_of(file, "Bob"), name_of(File("a", b"10"), "Ada"), name_of(File("b", file.data), "Ada")}
    assert len(others | {name, name_of(file, "Ad")}) == 5
    monkeypatch.setattr(uploads, "SECRET", b"of another server")
    assert name_of(file, "Ada") != name


def test_whoever_has_the_link_sees_the_mask_and_its_picture():
    mask = np.tri(10, dtype=bool)
    state = ClinicState(pasted="", upload=keep(File("mask.npy", npy(mask)), "Ada"))
    _, numbers = Doctor.content(ModelState(), state)
    np.testing.assert_array_equal(numbers.ravel()[:100].reshape(10, 10), mask)
    other = ClinicState(pasted="", upload=name_of(File("mask.npy", npy(mask)), "Bob"))
    assert Doctor(ModelState(), other).reading == GONE


@pytest.mark.parametrize(("raw", "name"), [("a" * 32, "a" * 32), ("", ""), ("0123456789abcdef", "old"), ("x", "old")])
def test_a_link_names_an_upload_or_nothing(raw, name):
    value, reason = UploadName("Uploaded mask").read(raw, "old")
    assert value == name
    assert bool(reason) == (raw not in ("", name))
