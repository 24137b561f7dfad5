"""A store in Redis, which several servers share. Imported only where a setting names a Redis server."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as TimedOut
from redis.retry import Retry

from tfm_ui.store import scripts
from tfm_ui.store.store import EXTRA, Entry, Kind, StoreAway, digest_of

PREFIX = "attention-lab"  # begins the names of all that is kept in Redis
PATIENCE = 1.0  # seconds that Redis may take to answer
PAUSE = 0.5  # seconds without another try after Redis has not answered: a page that asks ten times waits once


class RedisStore:
    """A `Store` in a Redis server.

    Args:
        address: such as redis://127.0.0.1:6379.
    """

    def __init__(self, address: str) -> None:
        # A connection that Redis has closed meanwhile, as after a restart, is opened anew; nothing else is tried twice.
        again = Retry(NoBackoff(), 1, supported_errors=(Disconnected,))
        self._redis = Redis.from_url(address, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE, retry=again)
        parts = urlsplit(address)
        self._host = f"{parts.hostname}:{parts.port or 6379}"  # not the whole address, which may hold a password
        self._tries_at = 0.0
        self._put = self._redis.register_script(scripts.PUT)
        self._read = self._redis.register_script(scripts.READ)
        self._keys = self._redis.register_script(scripts.KEYS)
        self._remove = self._redis.register_script(scripts.REMOVE)

    def put(self, kind: Kind, key: str, value: bytes, owner: str = "") -> None:
        """Keep a value in place of an earlier one, and drop the oldest values for which there is no room."""
        kind.check(key, value, owner)
        size = len(value) + EXTRA
        self._run(self._put, kind, key, owner, digest_of(value), size, value, kind.each, kind.together)

    def entry(self, kind: Kind, key: str) -> Entry | None:
        """What is known of a value, which counts as reading it; None if there is none."""
        row = self._run(self._read, kind, key, int(kind.reading_renews), 0)
        return Entry(row[0].decode(), row[1].decode()) if row else None

    def get(self, kind: Kind, key: str) -> bytes | None:
        """A value; None if there is none."""
        row = self._run(self._read, kind, key, int(kind.reading_renews), 1)
        return bytes(row[2]) if row else None

    def keys(self, kind: Kind) -> list[str]:
        """All keys of a kind, the oldest first."""
        return [key.decode() for key in self._run(self._keys, kind)]

    def remove(self, kind: Kind, key: str) -> None:
        """Drop a value, if it is there."""
        self._run(self._remove, kind, key)

    def ready(self) -> str:
        """Why the store does not answer, in a sentence; "" if it does."""
        try:
            with self._asking():
                self._redis.ping()
        except StoreAway as problem:
            return str(problem)
        return ""

    def close(self) -> None:
        """Close all connections."""
        self._redis.close()

    def _run(self, script: Any, kind: Kind, *arguments: Any) -> Any:
        with self._asking():
            return script([f"{PREFIX}:{kind.name}:"], [int(kind.lifetime * 1e6), *arguments])

    @contextmanager
    def _asking(self) -> Iterator[None]:
        if time.monotonic() < self._tries_at:
            raise StoreAway(self._sentence("it does not answer"))
        try:
            yield
        except (Disconnected, TimedOut) as error:
            self._tries_at = time.monotonic() + PAUSE
            raise StoreAway(self._sentence("it does not answer")) from error
        except RedisError as error:
            raise StoreAway(self._sentence(f"it answers “{str(error)[:100]}”")) from error

    def _sentence(self, why: str) -> str:
        return f"What servers share is kept by Redis at {self._host}, and {why}. The next look asks it again."
