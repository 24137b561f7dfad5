"""A checkpoint in a zip: unpacked into a folder, which is there whole or not at all.

Only files that a checkpoint has are written, each under its plain name. No size that the archive names is believed.
"""

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path, PureWindowsPath
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from tfm_core.pretrained.checkpoint import CONFIG, INDEX, TOKENIZER, WEIGHTS, no_weights

KEPT = frozenset(
    {
        CONFIG,
        WEIGHTS,
        INDEX,
        TOKENIZER,
        "tokenizer_config.json",
        "special_tokens_map.json",
        "generation_config.json",
        "vocab.txt",
        "merges.txt",
    }
)
SHARD = re.compile(r"model-\d{1,6}-of-\d{1,6}\.safetensors", re.ASCII)
MOST_MEMBERS = 2000  # twice as many as a checkpoint may have shards
AT_ONCE = 2**20  # bytes that are read at a time, which the list of the members has to fit into
ENCRYPTED = 0x1  # the bit of a member's flags
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # of bzip2 and LZMA, zipfile unpacks any amount at once

# What zipfile raises over an archive that is cut or damaged, and a file over what cannot be read.
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    OverflowError,
    ValueError,
)


class Listing(NamedTuple):
    """What an archive holds.

    Attributes:
        members: plain name -> the member that `unpack` writes under it.
        ignored: the paths of all others, as they stand in the archive; anybody may have written them.
    """

    members: Mapping[str, zipfile.ZipInfo]
    ignored: tuple[str, ...]


def unpack(content: BinaryIO | Path, folder: Path, *, most: int) -> Path:
    """Write a checkpoint's files into a folder, which is made; what else is in the archive is ignored.

    Args:
        content: a zip with config.json and model.safetensors, or its shards with their index, all in the same folder,
            whatever that is called. It may have a tokenizer, too.
        folder: where the files are written. It is not there yet, or empty.
        most: bytes of all these files together.

    Returns:
        The folder.

    Raises:
        ValueError: for another archive, with what was expected and what came. The folder is then as it was.
        OSError: if the files cannot be written, as on a full disk; also then.
    """
    if folder.exists() and not (folder.is_dir() and next(folder.iterdir(), None) is None):
        raise ValueError(f"{folder.name}: expected a folder that is not there yet, or is empty; got one with files")
    with _opened(content) as (archive, where):
        members = _listing(archive, where, most).members
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as made:  # renamed at the end
            whole = Path(made, "whole")
            whole.mkdir()
            left = most
            for name, member in members.items():
                left -= _write(archive, member, whole / name, left, where)
            if folder.exists():  # not every system renames onto an empty one
                folder.rmdir()
            whole.rename(folder)
    return folder


def listing(content: BinaryIO | Path, *, most: int) -> Listing:
    """What an archive holds, before anything is unpacked.

    Args and errors: those of `unpack`.
    """
    with _opened(content) as (archive, where):
        return _listing(archive, where, most)


class _ReadInParts:
    """A file of which nobody reads much at once: zipfile takes the list of all members as long as it says it is."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes; without a size, zipfile asks for those at the end that may be a comment."""
        if size > AT_ONCE:
            raise zipfile.BadZipFile(f"a list of members that takes {size:,} bytes")
        return self._file.read(size)


@contextmanager
def _opened(content: BinaryIO | Path) -> Iterator[tuple[zipfile.ZipFile, str]]:
    """The archive, and what sentences call it."""
    where = content.name if isinstance(content, Path) else "the archive"
    with ExitStack() as opened:
        try:
            file = opened.enter_context(content.open("rb")) if isinstance(content, Path) else content
            archive = opened.enter_context(zipfile.ZipFile(_ReadInParts(file)))
        except UNREADABLE as problem:
            raise ValueError(f"{where}: expected a whole zip; got {str(problem)!r:.200}") from problem
        yield archive, where


def _listing(archive: zipfile.ZipFile, where: str, most: int) -> Listing:
    infos = archive.infolist()
    if len(infos) > MOST_MEMBERS:
        raise ValueError(f"{where}: expected at most {MOST_MEMBERS:,} files; got {len(infos):,}")
    paths = [(info, _parts(info, where)) for info in infos]
    files = [(info, parts) for info, parts in paths if parts and not info.orig_filename.endswith("/")]
    folder = _folder([parts for _, parts in files], where)
    members: dict[str, zipfile.ZipInfo] = {}
    ignored: list[str] = []
    beside: list[str] = []
    for info, (*above, name) in files:
        if above == folder:
            beside.append(name)
        if above != folder or not (name in KEPT or SHARD.fullmatch(name)):
            ignored.append(info.orig_filename)
        elif name in members:
            raise ValueError(f"{where}: expected one {name}; got two")
        elif info.compress_type not in COMPRESSIONS:
            raise ValueError(f"{where}: {name}: expected it stored or deflated; got another compression")
        else:
            members[name] = info
    if WEIGHTS not in members and INDEX not in members:
        raise no_weights(beside, where)
    declared = sum(info.file_size for info in members.values())
    if declared > most:
        raise ValueError(f"{where}: expected files of at most {most:,} bytes in all; got {declared:,}")
    return Listing(members, tuple(ignored))


def _parts(info: zipfile.ZipInfo, where: str) -> list[str]:
    """The parts of a member's path, if that is an honest one of a file or a folder."""
    path = info.orig_filename  # zipfile itself shortens and changes some
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or "\0" in path or ".." in parts or PureWindowsPath(path).drive:
        raise ValueError(f"{where}: expected paths that stay inside a folder; got {path!r:.100}")
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ValueError(f"{where}: expected files and folders; got {path!r:.100}, which is a link or the like")
    if info.flag_bits & ENCRYPTED:
        raise ValueError(f"{where}: expected files without a password; got {path!r:.100}, which is encrypted")
    return [part for part in parts if part not in ("", ".")]


def _folder(paths: list[list[str]], where: str) -> list[str]:
    """The folder of the checkpoint: that of the config.json that lies highest. Those below are of other models."""
    above = [folder for *folder, name in paths if name == CONFIG]
    if not above:
        few = ", ".join(repr("/".join(parts))[:60] for parts in paths[:5]) or "no files"
        raise ValueError(f"{where}: expected {CONFIG} and {WEIGHTS}; got {few}")
    highest = min(map(len, above))
    first, *others = (folder for folder in above if len(folder) == highest)
    if others:
        raise ValueError(f"{where}: expected one {CONFIG}; got {len(others) + 1} in folders beside each other")
    return first


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, most: int, where: str) -> int:
    """Unpack a member into a new file, and count its bytes, of which the archive may have told anything."""
    start = f"{where}: {target.name}: expected"
    count = 0
    with ExitStack() as opened:
        try:
            source = opened.enter_context(archive.open(member))
        except UNREADABLE as problem:
            raise ValueError(f"{start} a file that can be unpacked; got {str(problem)!r:.200}") from problem
        file = opened.enter_context(target.open("xb"))
        while True:
            try:
                part = source.read(AT_ONCE)
            except UNREADABLE as problem:
                raise ValueError(f"{start} a file that can be unpacked; got {str(problem)!r:.200}") from problem
            if not part:
                break
            count += len(part)
            if count > most:
                raise ValueError(f"{start} at most {most:,} bytes; got more")
            file.write(part)
    if count != member.file_size:
        raise ValueError(f"{start} {member.file_size:,} bytes, as the archive says; got {count:,}")
    return count
