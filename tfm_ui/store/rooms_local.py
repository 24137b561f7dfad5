"""Rooms in a file of SQLite, for a single server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from tfm_ui.store.rooms import LIFETIME, NOTHING, Bounds, Heard, NoRoom, full
from tfm_ui.store.sqlite_file import SqliteFile
from tfm_ui.store.store import StoreAway

TABLES = """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS rooms (code TEXT PRIMARY KEY, network TEXT, opened REAL);
CREATE TABLE IF NOT EXISTS room_values (code TEXT, name TEXT, value BLOB, PRIMARY KEY (code, name)) WITHOUT ROWID;
"""
NOW = "(julianday('now') - 2440587.5) * 86400"  # seconds since 1970


class LocalRooms:
    """A `RoomStore` in a folder. What has changed is told in the process that has changed it: the only one of a server.

    Args:
        folder: where the file is; it must exist.
    """

    def __init__(self, folder: Path) -> None:
        self._file = SqliteFile(folder / "rooms.sqlite", TABLES, StoreAway)
        self._listening: list[Heard] = []

    def open(self, code: str, values: Mapping[str, bytes], network: str, bounds: Bounds) -> bool:
        """Open a room, unless its code is taken; return whether it is open now."""
        with self._step() as step:
            networks = [row[0] for row in step.execute("SELECT network FROM rooms")]
            if len(networks) >= bounds.rooms or networks.count(network) >= bounds.per_network:
                raise full(of_server=True)
            if step.execute("SELECT 1 FROM rooms WHERE code = ?", (code,)).fetchone():
                return False
            step.execute(f"INSERT INTO rooms VALUES (?, ?, {NOW})", (code, network))
            _put(step, code, values)
        return True

    def read(self, code: str) -> Mapping[str, bytes]:
        """All values of a room."""
        with self._file.step(writes=False) as step:
            open_now = f"code = (SELECT code FROM rooms WHERE code = ? AND opened >= {NOW} - ?)"
            rows = step.execute(f"SELECT name, value FROM room_values WHERE {open_now}", (code, LIFETIME))
            values = dict(rows.fetchall())
        if not values:
            raise NoRoom(code)
        return values

    def write(
        self, code: str, values: Mapping[str, bytes], bounds: Bounds, *, given: Mapping[str, bytes] = NOTHING
    ) -> bool:
        """Write values, if those that are `given` are still what they were."""
        with self._step() as step:
            if not step.execute("SELECT 1 FROM rooms WHERE code = ?", (code,)).fetchone():
                raise NoRoom(code)
            now = dict(step.execute("SELECT name, value FROM room_values WHERE code = ?", (code,)).fetchall())
            if any(now.get(name, b"") != value for name, value in given.items()):
                return False
            _put(step, code, values)
            counted = "SELECT COUNT(*), SUM(LENGTH(value) + LENGTH(CAST(name AS BLOB))) FROM room_values WHERE code = ?"
            many, size = step.execute(counted, (code,)).fetchone()
            if many > max(bounds.values, len(now)) or size > max(bounds.bytes, _size(now)):
                raise full(of_server=False)
        self._tell(code)
        return True

    def close(self, code: str) -> None:
        """Drop a room, if there is one."""
        with self._step() as step:
            step.execute("DELETE FROM rooms WHERE code = ?", (code,))
            step.execute("DELETE FROM room_values WHERE code = ?", (code,))
        self._file.erase()
        self._tell(code)

    def codes(self) -> Sequence[str]:
        """The codes of all open rooms."""
        with self._step() as step:
            return [code for (code,) in step.execute("SELECT code FROM rooms")]

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Call `heard` whenever a room changes."""
        self._listening.append(heard)
        return lambda: self._listening.remove(heard)

    def close_file(self) -> None:
        """Close the file. Nobody may be using it."""
        self._file.close()

    def _tell(self, code: str) -> None:
        for heard in tuple(self._listening):
            heard(code)

    @contextmanager
    def _step(self) -> Iterator[Connection]:
        """A step before which the rooms whose time is over are dropped, whatever becomes of the step itself."""
        with self._file.step(writes=True) as step:
            is_over = step.execute(f"DELETE FROM rooms WHERE opened < {NOW} - ?", (LIFETIME,)).rowcount
            if is_over:
                step.execute("DELETE FROM room_values WHERE code NOT IN (SELECT code FROM rooms)")
        if is_over:
            self._file.erase()
        with self._file.step(writes=True) as step:
            yield step


def _put(step: Connection, code: str, values: Mapping[str, bytes]) -> None:
    step.executemany("DELETE FROM room_values WHERE code = ? AND name = ?", [(code, name) for name in values])
    rows = [(code, name, value) for name, value in values.items() if value]
    step.executemany("INSERT INTO room_values VALUES (?, ?, ?)", rows)


def _size(values: Mapping[str, bytes]) -> int:
    return sum(len(name.encode()) + len(value) for name, value in values.items())
