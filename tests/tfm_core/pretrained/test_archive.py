"""Checkpoints in zips: only their files are written, and of an archive that is refused nothing is left."""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save

from tests.tfm_core.pretrained.checkpoints import made, saved
from tfm_core.pretrained import archive
from tfm_core.pretrained.archive import listing, unpack
from tfm_core.pretrained.checkpoint import CONFIG, WEIGHTS, open_checkpoint

MOST = 10_000_000
TENSORS = save({"a": torch.arange(1000.0)})
BOTH = [(CONFIG, b"{}"), (WEIGHTS, TENSORS)]
Member = tuple[str | zipfile.ZipInfo, bytes]


def zipped(members: Iterable[Member] = BOTH, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip of these members, in which a name may stand twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", how) as whole:
        for name, content in members:
            if isinstance(name, str):
                entry = zipfile.ZipInfo(name)
                entry.filename = entry.orig_filename = name
                entry.compress_type = how
            else:
                entry = name
            whole.NameToInfo.clear()  # it would warn of names that stand there twice
            whole.writestr(entry, content)
    return file.getvalue()


def told(content: bytes | BinaryIO | Path, folder: Path, *, most: int = MOST) -> str:
    """The sentence with which an archive is refused, after which all is as it was."""
    before = sorted(folder.parent.rglob("*"))
    with pytest.raises(ValueError, match=r"expected .*; got ") as refused:
        unpack(io.BytesIO(content) if isinstance(content, bytes) else content, folder, most=most)
    assert type(refused.value) is ValueError
    assert sorted(folder.parent.rglob("*")) == before
    sentence = str(refused.value)
    assert sentence.isprintable()
    assert len(sentence) < 700
    return sentence


@pytest.mark.parametrize("top", ["", "model/", "./", "models--a/snapshots/0/"])
@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_checkpoint_is_unpacked_from_whatever_folder_it_is_in(top: str, how: int, tmp_path: Path) -> None:
    more = [
        ("tokenizer.json", b"{}"),
        ("README.md", b"# a"),
        ("pytorch_model.bin", b"."),
        ("1_Pooling/config.json", b"[]"),
    ]
    content = zipped([("__MACOSX/._config.json", b"m"), *((top + name, each) for name, each in BOTH + more)], how)
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    sources: list[BinaryIO | Path] = [path, io.BytesIO(content)]
    for number, source in enumerate(sources):
        folder = unpack(source, tmp_path / f"deep{number}" / "there", most=MOST)
        assert folder == tmp_path / f"deep{number}" / "there"
        assert sorted(file.name for file in folder.iterdir()) == [CONFIG, WEIGHTS, "tokenizer.json"]
        assert (folder / CONFIG).read_bytes() == b"{}"
        assert (folder / WEIGHTS).read_bytes() == TENSORS
        assert [file.name for file in folder.parent.iterdir()] == ["there"]
        assert folder.stat().st_mode == folder.parent.stat().st_mode  # and not as private as a temporary folder
    ignored = ["README.md", "pytorch_model.bin", "1_Pooling/config.json"]
    assert listing(path, most=MOST).ignored == ("__MACOSX/._config.json", *(top + name for name in ignored))


def test_shards_are_unpacked_with_their_index(tmp_path: Path) -> None:
    source = saved(made("llama"), tmp_path / "source", max_shard_size="10KB")
    (source / "model.safetensors.part").touch()
    content = zipped((f"top/{file.name}", file.read_bytes()) for file in sorted(source.iterdir()))
    opened = open_checkpoint(unpack(io.BytesIO(content), tmp_path / "there", most=MOST))
    expected = open_checkpoint(source)
    assert opened.shapes == expected.shapes
    assert all(torch.equal(opened.tensors[name], tensor) for name, tensor in expected.tensors.items())
    assert not (tmp_path / "there" / "model.safetensors.part").exists()


def test_an_empty_folder_is_used_and_a_full_one_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    assert unpack(io.BytesIO(zipped()), folder, most=MOST) == folder
    assert told(zipped(), folder).startswith("there: expected a folder that is not there yet, or is empty")
    assert told(zipped(), folder / CONFIG).startswith("config.json: expected a folder")


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "a/..", "/x", "//server/share/x", "C:x", "c:/x", "a\\x", "..\\x", "\\\\server\\x", "a\0x",
     "../config.json", "/config.json", "C:config.json", "x/../config.json"],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(path: str, tmp_path: Path) -> None:
    sentence = told(zipped([*BOTH, (path, b"{}")]), tmp_path / "there")
    assert sentence.startswith("the archive: expected paths that stay inside a folder; got ")


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
@pytest.mark.parametrize("name", [WEIGHTS, "README.md"])
def test_links_and_devices_are_refused(mode: int, name: str, tmp_path: Path) -> None:
    link = zipfile.ZipInfo(name)
    link.create_system = 3
    link.external_attr = (mode | 0o777) << 16
    sentence = told(zipped([(CONFIG, b"{}"), (link, b"/etc/passwd")]), tmp_path / "there")
    assert f"expected files and folders; got '{name}', which is a link or the like" in sentence


def patched(content: bytes, name: str, *, local: dict[int, bytes], central: dict[int, bytes]) -> bytes:
    """An archive in which a member's two headers say something else, by the place in them."""
    changed = bytearray(content)
    for start, length, changes in ((b"PK\3\4", 30, local), (b"PK\1\2", 46, central)):
        at = next(each.start() for each in re.finditer(re.escape(start), content)
                  if content[each.start() + length :].startswith(name.encode()))  # fmt: skip
        for place, new in changes.items():
            changed[at + place : at + place + len(new)] = new
    return bytes(changed)


def of_size(content: bytes, name: str, size: int) -> bytes:
    """An archive that tells another size of an unpacked member."""
    return patched(content, name, local={22: struct.pack("<I", size)}, central={24: struct.pack("<I", size)})


def encrypted(name: str) -> bytes:
    return patched(zipped([*BOTH, ("README.md", b"a")]), name, local={6: b"\1"}, central={8: b"\1"})


STORED = zipped(how=zipfile.ZIP_STORED)
WRONG_CRC = patched(zipped(), WEIGHTS, local={14: b"\0\0\0\0"}, central={16: b"\0\0\0\0"})
ANOTHER_NAME = patched(zipped(), WEIGHTS, local={30: b"X"}, central={})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "expected a whole zip; got 'File is not a zip file'"),
        (b"PK", "expected a whole zip; got 'File is not a zip file'"),
        (zipped()[:-30], "expected a whole zip"),
        (zipped()[100:], "expected "),
        (TENSORS, "expected a whole zip"),
        (STORED.replace(TENSORS[200:300], b"\xff" * 100), "model.safetensors: expected a file that can be unpacked"),
        (WRONG_CRC, "Bad CRC-32"),
        (ANOTHER_NAME, "model.safetensors: expected a file that can be unpacked"),
        (patched(zipped(), CONFIG, local={8: b"\x63"}, central={10: b"\x63"}), "expected it stored or deflated; got"),
        (patched(zipped(), CONFIG, local={}, central={6: b"\xff"}), "got 'zip file version 25.5'"),
        (patched(zipped(), CONFIG, local={6: b"\x40"}, central={8: b"\x40"}), "expected a file that can be unpacked"),
        (zipped(how=zipfile.ZIP_BZIP2), "config.json: expected it stored or deflated; got another compression"),
        (zipped(how=zipfile.ZIP_LZMA), "config.json: expected it stored or deflated; got another compression"),
        (encrypted(WEIGHTS), "expected files without a password; got 'model.safetensors', which is encrypted"),
        (encrypted("README.md"), "expected files without a password; got 'README.md', which is encrypted"),
        (zipped([*BOTH, (WEIGHTS, TENSORS)]), "expected one model.safetensors; got two"),
        (zipped([*BOTH, (f"./{WEIGHTS}", TENSORS)]), "expected one model.safetensors; got two"),
        (zipped([("a/config.json", b"{}"), ("b/config.json", b"{}")]), "expected one config.json; got 2 in folders"),
        (zipped([("a/config.json", b"{}"), *((f"a/{name}", each) for name, each in BOTH)]), "expected one config.json"),
        (zipped([]), "expected config.json and model.safetensors; got no files"),
        (zipped(BOTH[1:]), "expected config.json and model.safetensors; got 'model.safetensors'"),
        (zipped(BOTH[:1]), "expected model.safetensors, or model.safetensors.index.json with its shards; got 'config"),
        (zipped([*BOTH[:1], ("pytorch_model.bin", b"a")]), "got 'pytorch_model.bin', which is pickled"),
        (zipped([*BOTH[:1], (f"other/{WEIGHTS}", TENSORS)]), "expected model.safetensors, or"),
        (zipped([(CONFIG + "/", b""), (WEIGHTS, TENSORS)]), "expected config.json and model.safetensors"),
        (zipped((f"{number}.txt", b"") for number in range(2001)), "expected at most 2,000 files; got 2,001"),
        (of_size(zipped(), WEIGHTS, 2**31), "expected files of at most 10,000,000 bytes in all; got 2,147,483,650"),
    ],
)  # fmt: skip
def test_another_archive_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    assert words in told(content, tmp_path / "there")


def test_a_list_of_members_that_takes_much_memory_is_not_read(tmp_path: Path) -> None:
    content = zipped((f"{number:0200}.txt", b"") for number in range(5000))
    assert "a list of members that takes" in told(content, tmp_path / "there")


def test_a_path_that_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "a.zip").mkdir()
    for name in ("none.zip", "a.zip"):
        assert told(tmp_path / name, tmp_path / "there").startswith(f"{name}: expected a whole zip; got ")


# sizes that are not those that the archive tells


def test_so_many_bytes_as_allowed_are_unpacked_and_no_more(tmp_path: Path) -> None:
    size = 2 + len(TENSORS)
    assert "bytes in all; got 4,0" in told(zipped(), tmp_path / "there", most=size - 1)
    unpack(io.BytesIO(zipped()), tmp_path / "there", most=size)


def test_a_bomb_is_refused_by_what_it_declares_or_by_what_is_written(tmp_path: Path) -> None:
    bomb = zipped([(CONFIG, b"{}"), (WEIGHTS, bytes(50_000_000))])
    assert len(bomb) < 100_000
    assert "expected files of at most 10,000,000 bytes in all; got 50,000,002" in told(bomb, tmp_path / "there")
    assert "expected a file that can be unpacked" in told(of_size(bomb, WEIGHTS, 5), tmp_path / "there")


def test_bytes_are_counted_whatever_is_declared(tmp_path: Path) -> None:
    """Today zipfile stops at the declared size; that is not promised."""
    file = zipfile.ZipFile(io.BytesIO(zipped([(WEIGHTS, bytes(5_000_000))])))
    with file, pytest.raises(ValueError, match="x: a: expected at most 1,000 bytes; got more"):
        archive._write(file, file.infolist()[0], tmp_path / "a", 1000, "x")
    assert (tmp_path / "a").stat().st_size == 0


@pytest.mark.parametrize("how", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("size", [3, 999])
def test_a_member_that_is_shorter_or_longer_than_declared_is_refused(how: int, size: int, tmp_path: Path) -> None:
    content = of_size(zipped([(CONFIG, b'{"a": 1}'), (WEIGHTS, TENSORS)], how), CONFIG, size)
    for crc in (None, zlib.crc32(b'{"a": 1}'[:size])):
        if crc is not None:
            told_crc = struct.pack("<I", crc)
            content = patched(content, CONFIG, local={14: told_crc}, central={16: told_crc})
        if crc is not None and size == 3:  # whatever follows is nobody's, and what is there is as it was declared
            folder = unpack(io.BytesIO(content), tmp_path / "there", most=MOST)
            assert (folder / CONFIG).read_bytes() == b'{"a'
        else:
            assert "config.json: expected " in told(content, tmp_path / "there")


def test_nothing_is_left_when_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        unpack(io.BytesIO(zipped()), tmp_path / "there", most=MOST)
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, len(STORED) - 1), st.integers(0, 255), st.sampled_from(["cut", "other"]))
def test_a_spoiled_archive_is_refused_or_holds_the_same(place: int, byte: int, change: str) -> None:
    content = STORED[:place] if change == "cut" else STORED[:place] + bytes([byte]) + STORED[place + 1 :]
    sentence = ""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary, "there")
        try:
            unpack(io.BytesIO(content), folder, most=MOST)
        except ValueError as problem:
            sentence = str(problem)
        files = {file.name: file.read_bytes() for file in Path(temporary).rglob("*.*")}
    assert files == dict(BOTH) or (re.search("expected .*; got ", sentence) and not files)
