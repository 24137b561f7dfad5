"""A store in a file that all processes of a server share: SQLite, which keeps each step whole for all others."""

import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tfm_ui.store.store import EXTRA, Entry, Kind, StoreAway, digest_of, network_of

PATIENCE = 5.0  # seconds that a step waits for other processes, whose steps take milliseconds
TABLE = """
CREATE TABLE IF NOT EXISTS kept (
    kind TEXT, key TEXT, owner TEXT, digest TEXT, size INTEGER, used INTEGER, value BLOB, PRIMARY KEY (kind, key)
);
CREATE INDEX IF NOT EXISTS by_age ON kept (kind, used);
"""
NOW = "CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)"  # microseconds since 1970
# A time for each use, never the same twice: the order of uses is that of the times.
USED = f"MAX({NOW}, 1 + IFNULL((SELECT MAX(used) FROM kept WHERE kind = :kind), 0))"


class LocalStore:
    """A `KeyValueStore` in a folder, whose file only this user can read.

    Args:
        folder: where the file is; it must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "kept.sqlite"
        # The connections that nobody uses now: a step has one of its own, so that no thread waits while another one's
        # step waits for another process. Beside each stands whose it is, as a forked process needs another, and the
        # number of the file that it has opened, as whoever tidies up temporary files may have removed it.
        self._idle: deque[tuple[sqlite3.Connection, int, int]] = deque()

    def put(self, kind: Kind, key: str, value: bytes, owner: str = "") -> None:
        """Keep a value in place of an earlier one, and drop the oldest values for which there is no room."""
        kind.check(key, value, owner)
        row = {"kind": kind.name, "key": key, "owner": owner, "digest": digest_of(value), "size": len(value) + EXTRA}
        with self._step(kind) as step:
            step.execute("DELETE FROM kept WHERE kind = :kind AND key = :key", row)
            step.execute(
                f"INSERT INTO kept VALUES (:kind, :key, :owner, :digest, :size, {USED}, :value)", row | {"value": value}
            )
            if kind.each:
                _make_room(step, kind.each, "kind = ? AND owner = ?", (kind.name, owner))
            if kind.network and (network := network_of(owner)):
                _make_room(step, kind.network, "kind = ? AND instr(owner || ' ', ? || ' ') = 1", (kind.name, network))
            _make_room(step, kind.together, "kind = ?", (kind.name,))

    def entry(self, kind: Kind, key: str) -> Entry | None:
        """What is known of a value, which counts as reading it; None if there is none."""
        row = self._read(kind, key, "owner, digest")
        return Entry(*row) if row else None

    def get(self, kind: Kind, key: str) -> bytes | None:
        """A value; None if there is none."""
        row = self._read(kind, key, "value")
        return row[0] if row else None

    def keys(self, kind: Kind) -> list[str]:
        """All keys of a kind, the oldest first."""
        with self._step(kind) as step:
            return [key for (key,) in step.execute("SELECT key FROM kept WHERE kind = ? ORDER BY used", (kind.name,))]

    def remove(self, kind: Kind, key: str) -> None:
        """Drop a value, if it is there."""
        with self._step(kind) as step:
            step.execute("DELETE FROM kept WHERE kind = ? AND key = ?", (kind.name, key))

    def ready(self) -> str:
        """Why the store does not answer, in a sentence; "" if it does."""
        try:
            with self._step(Kind("", 0)):
                return ""
        except StoreAway as problem:
            return str(problem)

    def close(self) -> None:
        """Close the file. Nobody may be using it."""
        while self._idle:
            self._idle.pop()[0].close()

    def _read(self, kind: Kind, key: str, columns: str) -> tuple[Any, ...] | None:
        named = {"kind": kind.name, "key": key}
        with self._step(kind) as step:
            if kind.reading_renews:
                step.execute(f"UPDATE kept SET used = {USED} WHERE kind = :kind AND key = :key", named)
            row: tuple[Any, ...] | None = step.execute(
                f"SELECT {columns} FROM kept WHERE kind = :kind AND key = :key", named
            ).fetchone()
            return row

    @contextmanager
    def _step(self, kind: Kind) -> Iterator[sqlite3.Connection]:
        """A step that other processes see whole or not at all; what has outlived its time is dropped before it."""
        try:
            with self._connected() as connection:
                connection.execute("BEGIN IMMEDIATE" if kind.reading_renews else "BEGIN")
                try:
                    if kind.lifetime:
                        connection.execute(
                            f"DELETE FROM kept WHERE kind = ? AND used < {NOW} - ?",
                            (kind.name, int(kind.lifetime * 1e6)),
                        )
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
        except (sqlite3.Error, OSError) as error:
            why = getattr(error, "strerror", None) or error  # of a file without its path, which visitors need not know
            raise StoreAway(f"What this server keeps cannot be read or written now ({why}).") from error

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses meanwhile."""
        opened = None
        while self._idle and not opened:
            with suppress(IndexError):  # another thread has taken the last one
                connection, process, number = self._idle.pop()
                if process == os.getpid() and number == _number_of(self._file):
                    opened = connection, process, number
        opened = opened or self._open()
        try:
            yield opened[0]
        finally:
            self._idle.append(opened)

    def _open(self) -> tuple[sqlite3.Connection, int, int]:
        os.close(os.open(self._file, os.O_CREAT | os.O_RDWR, 0o600))  # SQLite's other files get the same rights
        connection = sqlite3.connect(self._file, PATIENCE, isolation_level=None, check_same_thread=False)
        _log_ahead(connection)
        connection.execute("PRAGMA synchronous = OFF")  # it ends with the server: it need not outlive a power cut
        connection.executescript(TABLE)
        return connection, os.getpid(), _number_of(self._file)


def _number_of(file: Path) -> int:
    """The number of a file, by which another one of its name is told apart; 0 if there is none."""
    try:
        return file.stat().st_ino
    except OSError:
        return 0


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Let processes read while another writes. SQLite itself does not wait where two processes switch to it at once."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _make_room(step: sqlite3.Connection, limit: int, where: str, values: tuple[str, ...]) -> None:
    """Drop the oldest of these until they fit."""
    (total,) = step.execute(f"SELECT IFNULL(SUM(size), 0) FROM kept WHERE {where}", values).fetchone()
    while total > limit:
        row, size = step.execute(f"SELECT rowid, size FROM kept WHERE {where} ORDER BY used LIMIT 1", values).fetchone()
        step.execute("DELETE FROM kept WHERE rowid = ?", (row,))
        total -= size
