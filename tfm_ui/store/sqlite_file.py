"""A file of SQLite that all processes of a server share: each step is whole for all others."""

import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATIENCE = 5.0  # seconds that a step waits for other processes, whose steps take milliseconds


class SqliteFile:
    """A file that only this user can read. Any thread of any process may use it.

    Args:
        file: where it is; its folder must exist.
        tables: makes the tables, unless they are there.
        away: is raised, with a sentence, where the file cannot be read or written.
    """

    def __init__(self, file: Path, tables: str, away: type[OSError]) -> None:
        self._file, self._tables, self._away = file, tables, away
        # The connections that nobody uses now: a step has one of its own, so that no thread waits while another one's
        # step waits for another process. Beside each stands whose it is, as a forked process needs another, and the
        # number of the file that it has opened, as whoever tidies up temporary files may have removed it.
        self._idle: deque[tuple[sqlite3.Connection, int, int]] = deque()

    @contextmanager
    def step(self, *, writes: bool) -> Iterator[sqlite3.Connection]:
        """A step that other processes see whole or not at all.

        Args:
            writes: whether it writes at once after it has read: then no other step comes in between.
        """
        try:
            with self._connected() as connection:
                connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
                try:
                    yield connection
                    connection.execute("COMMIT")
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
        except (sqlite3.Error, OSError) as error:
            why = getattr(error, "strerror", None) or error  # of a file without its path, which visitors need not know
            raise self._away(f"What this server keeps cannot be read or written now ({why}).") from error

    def erase(self) -> None:
        """Let what was removed vanish from the file's log, too, as far as no other process reads it just now."""
        with suppress(sqlite3.Error), self._connected() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Close the file. Nobody may be using it."""
        while self._idle:
            self._idle.pop()[0].close()

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
        connection.executescript(self._tables)
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
