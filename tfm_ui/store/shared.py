"""The store of this server: Redis if the setting names one, else a file that all processes of the server share.

The file is in a folder that the server makes before it starts other processes (`begin`), and removes when it ends
(`end`). Its processes find it by an environment variable, which they inherit. A process that inherits none, as in
tests, makes a folder of its own. A server that is killed leaves its folder behind: the next server removes it, as
nobody holds its lock any more. If the folder is removed while the server runs, as by whoever tidies up temporary files,
it is made anew under its name, so that all processes go on sharing one.
"""

import atexit
import errno
import logging
import os
import shutil
import stat
import sys
import threading
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING

from tfm_ui.settings import SETTINGS
from tfm_ui.store import model_folder
from tfm_ui.store.kinds import KINDS
from tfm_ui.store.local import LocalStore
from tfm_ui.store.rooms import RoomStore
from tfm_ui.store.rooms_local import LocalRooms
from tfm_ui.store.spare import WithSpare
from tfm_ui.store.store import KeyValueStore, StoreAway

if TYPE_CHECKING:
    from tfm_ui.store.redis_store import RedisStore

VARIABLE = model_folder.SERVER  # names the folder; no setting: a server overwrites it
BEGINS, LOCK = "attention-lab-", "server"
_log = logging.getLogger(__name__)
_lock = threading.Lock()
_made: list[tuple[Path, int]] = []  # the folder that this process has made, and its open lock


def begin() -> None:
    """Make this server's folder. Called once, before the server starts other processes."""
    _remove_what_was_left()
    with suppress(OSError):  # then the first who needs the store is told
        _make()


def end() -> None:
    """Remove the folder, if this process has made one. It may be used no longer."""
    while _made:
        folder, lock = _made.pop()
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):
            os.close(lock)


def store() -> KeyValueStore:
    """The store of this server.

    Raises:
        StoreAway: if there is no folder for it, and none can be made.
    """
    if not SETTINGS.store:
        return _local(folder())
    try:
        return WithSpare(_redis(), _local(folder()))
    except StoreAway:  # there is no spare one, and nobody may need it
        return _redis()


def rooms() -> RoomStore:
    """Where the rooms of this server are: without a spare place, as all servers must see the same.

    Raises:
        StoreAway: if there is no folder for them, and none can be made.
    """
    return _redis_rooms() if SETTINGS.store else _local_rooms(folder())


def problem() -> str:
    """Why the store does not answer, in a sentence; "" if it does."""
    try:
        return store().ready()
    except StoreAway as away:
        return str(away)


def advice() -> str:
    """What of the store's own settings loses what is kept, in a sentence; "" if nothing does."""
    needed = sum(kind.together for kind in KINDS) + SETTINGS.rooms * SETTINGS.room_bytes
    return _redis().advice(needed) if SETTINGS.store else ""


def warn() -> None:
    """Tell the log once, when the server starts, what of the store's own settings loses what is kept."""
    if told := advice():
        _log.warning(told)


def folder() -> Path:
    """The folder of this server, which all of its processes share.

    Raises:
        StoreAway: if there is none, and none can be made.
    """
    named = os.environ.get(VARIABLE, "")
    if named and _stands(Path(named)):  # looked at without the lock: every page and picture comes by here
        return Path(named)
    with _lock:
        try:
            if named := os.environ.get(VARIABLE, ""):
                _stay(Path(named))
                return Path(named)
            return _make()
        except OSError as error:
            raise StoreAway(f"This server can keep nothing: no folder can be made ({error.strerror}).") from error


def _make() -> Path:
    made = Path(mkdtemp(prefix=BEGINS))  # only this user may enter it
    _made.append((made, _locked(made)))
    atexit.register(end)
    os.environ[VARIABLE] = str(made)
    return made


def _stands(folder: Path) -> bool:
    """Whether the folder is there, and its lock, if this process has made it."""
    makes = any(made == folder for made, _ in tuple(_made))
    return (folder / LOCK).exists() if makes else folder.is_dir()


def _stay(folder: Path) -> None:
    """Make the folder anew, if somebody has removed it.

    Raises:
        OSError: if that does not work, or if another user's folder stands in its place.
    """
    if not folder.is_dir():
        _log.warning("%s was removed, with all uploads and measurements in it, and is made anew.", folder)
        folder.mkdir(mode=0o700, exist_ok=True)
        about = folder.lstat()
        if not stat.S_ISDIR(about.st_mode) or (hasattr(os, "geteuid") and about.st_uid != os.geteuid()):
            raise PermissionError(errno.EPERM, "another user's folder stands in its place")
    for number, (made, lock) in enumerate(_made):
        if made == folder and not (folder / LOCK).exists():
            os.close(lock)
            _made[number] = folder, _locked(folder)


def _locked(folder: Path) -> int:
    """The open lock of a folder, by which the next server sees that this one runs."""
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    _held(lock)
    return lock


def _remove_what_was_left() -> None:
    """Remove the folders of this user's servers that were killed: nobody holds their lock."""
    with suppress(OSError):
        for lock in Path(gettempdir()).glob(f"{BEGINS}*/{LOCK}"):
            with suppress(OSError):
                descriptor = os.open(lock, os.O_RDWR)
                try:
                    if _held(descriptor):
                        shutil.rmtree(lock.parent, ignore_errors=True)
                finally:
                    os.close(descriptor)


def _held(descriptor: int) -> bool:
    """Take the lock of an open file, if nobody else holds it; return whether that worked. Windows is not asked."""
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@cache
def _local(folder: Path) -> LocalStore:
    return LocalStore(folder)


@cache
def _local_rooms(folder: Path) -> LocalRooms:
    return LocalRooms(folder)


@cache
def _redis_rooms() -> RoomStore:
    from tfm_ui.store.rooms_redis import RedisRooms

    return RedisRooms(_redis())


@cache
def _redis() -> "RedisStore":
    from tfm_ui.store.redis_store import RedisStore

    return RedisStore(SETTINGS.store, SETTINGS.deployment)
