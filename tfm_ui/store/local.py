"""A store in a file that all processes of a server share: SQLite, which keeps each step whole for all others."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tfm_ui.store.sqlite_file import SqliteFile
from tfm_ui.store.store import EXTRA, Entry, Kind, StoreAway, digest_of, network_of

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
        self._file = SqliteFile(folder / "kept.sqlite", TABLE, StoreAway)

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
        self._file.close()

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
        with self._file.step(writes=kind.reading_renews) as step:
            if kind.lifetime:
                step.execute(
                    f"DELETE FROM kept WHERE kind = ? AND used < {NOW} - ?", (kind.name, int(kind.lifetime * 1e6))
                )
            yield step


def _make_room(step: sqlite3.Connection, limit: int, where: str, values: tuple[str, ...]) -> None:
    """Drop the oldest of these until they fit."""
    (total,) = step.execute(f"SELECT IFNULL(SUM(size), 0) FROM kept WHERE {where}", values).fetchone()
    while total > limit:
        row, size = step.execute(f"SELECT rowid, size FROM kept WHERE {where} ORDER BY used LIMIT 1", values).fetchone()
        step.execute("DELETE FROM kept WHERE rowid = ?", (row,))
        total -= size
