"""Where the bytes of runs and comparisons are kept: a folder of limited size, the oldest out first.

What is kept under a name consists of parts, each with an ending: `<name>.json` always, and of a run
`<name>.safetensors`. Several processes may share the folder: a file appears at once and whole, and while several parts
are written the JSON is not there. `<name>.owner` says by a hash whose it is, if it is somebody's: nobody can push out
all that others have. The app may put another `Place` in the folder's stead, which several servers share.
"""

import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from tfm_core.kept import kept_folder

SHIPPED = Path(__file__).parent / "shipped"  # what comes with the app
FOLDER = "ATTENTION_LAB_RUNS"  # the environment variable that names the folder
LIMIT = 100_000_000  # bytes of all files in it
LOADED = "loaded"  # begins the names of weights that were not trained here
JSON, TENSORS, OWNER = "json", "safetensors", "owner"  # endings
PART, ABANDONED = ".part-", 600.0  # begins files that are being written; seconds after which nobody writes them still
Parts = Mapping[str, bytes]  # ending -> content
Stamp = Hashable  # another stamp means other content


class Place(Protocol):
    """Keeps parts by name. Any thread and any process may call the methods; each raises OSError if it cannot do it."""

    @property
    def where(self) -> str:
        """What sentences call it."""

    def stamp(self, name: str) -> Stamp | None:
        """Tells whether the content is still what was read before; None if there is none."""

    def read(self, name: str) -> Parts:
        """All parts of one content; none if there is none, or if another process is writing it."""

    def write(self, name: str, parts: Parts, owner: str = "") -> None:
        """Keep these parts in place of earlier ones, and remove the oldest content for which there is no room.

        Args:
            name: another content's is another.
            parts: all of them.
            owner: whose it is, whose oldest content goes first; "" for nobody's.
        """

    def names(self, prefix: str) -> list[str]:
        """The names that begin like this."""

    def remove(self, name: str) -> None:
        """Remove all parts, if there are any."""


def default_folder() -> Path:
    """The folder that the environment names, or one in the user's cache."""
    return kept_folder(FOLDER, "runs")


class Folder:
    """A `Place` on disk; the folder is made when something is kept for the first time.

    Args:
        path: where the files are.
        limit: bytes of all files.
        each: bytes of an owner's files; 0 if that has no limit of its own.
        where: what sentences call it; its path, by default.
    """

    def __init__(self, path: Path, limit: int = LIMIT, *, each: int = 0, where: str = "") -> None:
        self.path, self.limit, self.each = path, limit, each
        self._where = where

    @property
    def where(self) -> str:
        """What sentences call it."""
        return self._where or str(self.path)

    def stamp(self, name: str) -> Stamp | None:
        """The number, size and time of the JSON."""
        try:
            known = self._file(name, JSON).stat()
        except OSError:
            return None
        return known.st_ino, known.st_size, known.st_mtime_ns

    def read(self, name: str) -> Parts:
        """All parts of one content; none if there is none, or if another process is writing it."""
        try:
            with self._file(name, JSON).open("rb") as file:
                parts = {JSON: file.read()}
        except OSError:
            return {}
        with suppress(OSError):
            parts[TENSORS] = self._file(name, TENSORS).read_bytes()
        try:
            same = self._file(name, JSON).read_bytes() == parts[JSON]
        except OSError:
            return {}
        return parts if same else {}  # other parts may belong to what another process is writing

    def write(self, name: str, parts: Parts, owner: str = "") -> None:
        """Keep these parts in place of earlier ones, and remove the oldest content for which there is no room."""
        whose = {OWNER: blake2b(owner.encode(), digest_size=16).hexdigest().encode()} if owner else {}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._remove_abandoned()
            for ending in (JSON, OWNER):
                self._file(name, ending).unlink(missing_ok=True)
            every = {**whose, **parts}
            for ending in sorted(every, key=JSON.__eq__):  # the JSON last
                write(self._file(name, ending), every[ending])
            self._make_room(name)
        except OSError:
            self.remove(name)
            raise

    def names(self, prefix: str) -> list[str]:
        """The names that begin like this."""
        return [path.stem for path in self._files(f"{prefix}*.{JSON}")]

    def remove(self, name: str) -> None:
        """Remove all parts, if there are any; what cannot be removed stays."""
        for ending in (JSON, TENSORS, OWNER):
            with suppress(OSError):
                self._file(name, ending).unlink()

    def _file(self, name: str, ending: str) -> Path:
        return self.path / f"{name}.{ending}"

    def _files(self, pattern: str) -> Iterator[Path]:
        with suppress(OSError):
            yield from self.path.glob(pattern)

    def _remove_abandoned(self) -> None:
        """Remove what processes have half written that were killed."""
        for path in self._files(f"{PART}*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > ABANDONED:
                    path.unlink()

    def _make_room(self, newest: str) -> None:
        """Remove the oldest content, first the owner's, then anyone's, until all files fit; the newest stays.

        What visitors have loaded has a fifth of the room to itself, so that nobody can push out what was trained.
        """
        is_loaded = newest.startswith(LOADED)
        limit, each = (most // 5 if is_loaded else most for most in (self.limit, self.each))
        sizes: dict[str, int] = {}
        ages: dict[str, float] = {}
        for path in self._files("*-*.*"):
            with suppress(OSError):
                if path.name.startswith(PART) or path.name.startswith(LOADED) != is_loaded:
                    continue
                known = path.stat()
                sizes[path.stem] = sizes.get(path.stem, 0) + known.st_size
                ages[path.stem] = max(ages.get(path.stem, 0.0), known.st_mtime)
        oldest = sorted(sizes.keys() - {newest}, key=ages.__getitem__)
        if each and (owner := self._owner(newest)):
            whose = [name for name in oldest if self._owner(name) == owner]
            self._drop(whose, sizes, sum(sizes[name] for name in (*whose, newest)) - each)
        self._drop([name for name in oldest if name in sizes], sizes, sum(sizes.values()) - limit)

    def _drop(self, names: list[str], sizes: dict[str, int], too_much: int) -> None:
        """Remove the first of these names until so many bytes are gone."""
        for name in names:
            if too_much <= 0:
                return
            self.remove(name)
            too_much -= sizes.pop(name)

    def _owner(self, name: str) -> bytes:
        """The hash of whose it is; b"" if it is nobody's."""
        try:
            return self._file(name, OWNER).read_bytes()[:64]
        except OSError:
            return b""


def write(path: Path, content: bytes) -> None:
    """All of it or nothing, whoever else reads or writes."""
    with NamedTemporaryFile(dir=path.parent, prefix=PART, delete=False) as part:
        try:
            part.write(content)
            part.close()
            Path(part.name).chmod(0o644)  # other processes of the host read it, too
            Path(part.name).replace(path)
        except OSError:
            Path(part.name).unlink(missing_ok=True)
            raise
