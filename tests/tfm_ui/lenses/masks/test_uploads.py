"""Uploaded masks: kept by visitor, within bytes, and found by whoever knows their name."""

import io
import re
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save

from tests.tfm_ui.store.empty import empty_store
from tfm_core.clinic.files import read_file
from tfm_core.clinic.table import SIDE, Table
from tfm_ui.lenses.masks.conventions import uploads
from tfm_ui.lenses.masks.conventions.foreign import GONE, Foreign
from tfm_ui.lenses.masks.conventions.uploads import as_bytes, find, from_bytes, keep, name_of
from tfm_ui.lenses.masks.state import MasksState, UploadName
from tfm_ui.settings import ENTRIES
from tfm_ui.state.model_state import ModelState
from tfm_ui.store import kinds


@pytest.fixture(autouse=True)
def kept():
    with empty_store(uploads) as opened:
        yield opened


def table(side: int = 4) -> Table:
    return Table(np.ones((side, side)), "numbers")


def same(left: Table, right: Table) -> None:
    np.testing.assert_array_equal(left.values, right.values)
    np.testing.assert_array_equal(np.signbit(left.values), np.signbit(right.values))
    assert left.values.dtype == right.values.dtype == np.float64
    assert (left.kind, left.notes) == (right.kind, right.notes)


def test_what_was_brought_is_found_by_its_name_alone():
    keep("a", "Ada", table())
    same(find("a"), table())
    assert find("a") is find("a")  # read once
    with pytest.raises(LookupError):
        find("b")


@given(
    values=arrays(np.float64, array_shapes(min_dims=2, max_dims=2), elements=st.floats(allow_nan=False)),
    notes=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0")), max_size=3),
)
def test_a_table_comes_back_to_the_last_digit(values, notes):
    whole = Table(values, "numbers", tuple(notes))
    same(from_bytes(as_bytes(whole)), whole)


def test_most_masks_take_a_byte_for_each_number():
    assert len(as_bytes(table(SIDE))) < SIDE**2 + 2000
    same(from_bytes(as_bytes(table(3))), table(3))


class Harmful:
    """What a pickle would execute."""

    def __reduce__(self):
        return print, ("executed",)


def test_what_somebody_else_has_written_into_the_store_is_no_upload_and_is_not_executed(kept, capsys):
    pickled, words = io.BytesIO(), np.frombuffer(b'["numbers", [], "float64", ""]', np.uint8).copy()
    np.savez(pickled, values=np.array([[Harmful()]]), words=np.array(["numbers"]))
    others = [
        pickled.getvalue(),
        save({"values": np.ones(3), "words": words}),
        save({"values": np.ones((1, SIDE * SIDE + 1), np.uint8), "words": words}),
        save({"values": np.ones((3, 3)), "words": words[:-4]}),
        save({"values": np.ones((3, 3)), "words": np.frombuffer(b"[" * 100_000, np.uint8).copy()}),
        save({"values": np.ones((3, 3))}),
        as_bytes(table())[:-30],
        b"",
        b"\x80\x04N.",
        b"PK\x03\x04",
    ]
    for data in others:
        kept.put(kinds.UPLOADS, "a", data, "Ada")
        with pytest.raises(LookupError, match="expected an upload"):
            find("a")
    assert capsys.readouterr().out == ""


def test_of_too_much_the_oldest_goes_first(kept, monkeypatch):
    size = len(as_bytes(table())) + 1024
    monkeypatch.setattr(uploads, "UPLOADS", kinds.Kind("few", together=5 * size, each=3 * size, reading_renews=True))
    keep("other", "Bob", table())
    for name in ("a", "b", "c"):
        keep(name, "Ada", table())
    find("a")  # now b is the oldest of Ada's
    keep("d", "Ada", table())
    assert kept.keys(uploads.UPLOADS) == ["other", "c", "a", "d"]
    for number in range(20):
        keep(f"{number}", f"visitor {number}", table())
    assert kept.keys(uploads.UPLOADS) == ["15", "16", "17", "18", "19"]


def test_the_largest_file_has_room_also_on_a_small_host_and_all_visitors_share_a_bound():
    largest = Table(np.random.default_rng(0).normal(size=(SIDE, SIDE)), "numbers")
    keep("a", "Ada", largest)
    same(find("a"), largest)
    each, together = ENTRIES["upload_bytes_per_visitor"], ENTRIES["upload_bytes"]
    assert each.local < together.local <= 2**27
    assert (kinds.UPLOADS.each, kinds.UPLOADS.together) == (each.local, together.local)


def test_a_table_that_is_too_large_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(uploads, "UPLOADS", kinds.Kind("uploads", together=5000, each=3000))
    with pytest.raises(ValueError, match=r"uploads: expected at most 1,976 bytes, got [\d,]+"):
        keep("a", "Ada", table(100))


def test_a_name_cannot_be_made_up_from_the_content_and_is_another_for_each_visitor(monkeypatch):
    name = name_of(b"10\n11", "Ada")
    assert re.fullmatch("[0-9a-f]{32}", name)  # 128 bits
    assert name == name_of(b"10\n11", "Ada")
    assert len({name, name_of(b"10\n11", "Bob"), name_of(b"10\n10", "Ada"), name_of(b"a10\n11", "Ad")}) == 4
    monkeypatch.setattr(uploads, "SECRET", b"of another server")
    assert name_of(b"10\n11", "Ada") != name


def test_whoever_has_the_link_sees_the_mask_and_its_picture():
    model, mask = ModelState(), read_file(b"\n".join(b" ".join([b"1", b"0"] * 5) for _ in range(10)))
    name = name_of(b"a file", "Ada")
    keep(name, "Ada", mask)
    state = MasksState(pasted="", upload=name)
    same(Foreign(model, state).read, mask)
    _, numbers = Foreign.content(model, state)
    np.testing.assert_array_equal(numbers.ravel()[:100].reshape(10, 10), mask.values)
    other = MasksState(pasted="", upload=name_of(b"a file", "Bob"))
    assert Foreign(model, other).brought == GONE


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_unpacks_without_a_bound_is_refused_before_it_is_unpacked(how):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as archive:
        archive.writestr("mask.npy", bytes(50_000_000))
    assert len(file.getvalue()) < 50_000
    with pytest.raises(ValueError, match="compressed as NumPy does not"):
        read_file(file.getvalue())


def test_the_link_of_an_upload_holds_a_digest_alone():
    digest = name_of(b"1 0", "Ada")
    assert UploadName("x").read(digest, "") == (digest, "")
    assert UploadName("x").read("", "") == ("", "")
    assert UploadName("x").read("../etc", "")[0] == ""
