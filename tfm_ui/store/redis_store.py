"""A store in Redis, which several servers share. Imported only where a setting names a Redis server."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from socket import socket
from typing import Any
from urllib.parse import urlsplit

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as TimedOut
from redis.retry import Retry

from tfm_ui.store import scripts
from tfm_ui.store.store import EXTRA, Entry, Kind, StoreAway, digest_of, network_of

PREFIX = "attention-lab"  # begins the names of all that is kept in Redis
FORMAT = 2  # of what scripts.py keeps: servers of another format, before or after an update, keep theirs beside it
PATIENCE = 1.0  # seconds that Redis may be silent
WHOLE = 3.0  # seconds that a whole answer may take, however slowly it comes
PAUSE = 0.5  # seconds without another try after Redis has not answered: a page that asks ten times waits once
HEALTH = 10  # seconds of silence after which a connection that only listens is tried
POLICY = "noeviction"

_log = logging.getLogger(__name__)


class _Bounded:
    """A socket whose answers end in time: its own timeout begins anew with each byte that comes."""

    def __init__(self, connected: socket) -> None:
        self._socket = connected
        self.begin()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def begin(self) -> None:
        """Let a new answer have the whole time."""
        self._end = time.monotonic() + WHOLE
        self._socket.settimeout(PATIENCE)

    def recv(self, size: int) -> bytes:
        """What has come, at most `size` bytes.

        Raises:
            TimeoutError: if the answer, or its next byte, takes too long.
        """
        if self._socket.gettimeout():  # 0 looks whether there is anything, and does not wait
            left = self._end - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"expected an answer within {WHOLE:g} s, got a part of it")
            self._socket.settimeout(min(left, PATIENCE))
        return self._socket.recv(size)


class _BoundedConnection(Connection):
    def _connect(self) -> Any:
        connect: Any = super()._connect
        return _Bounded(connect())

    def send_packed_command(self, *arguments: Any, **named: Any) -> Any:
        connected: Any = self._sock
        if connected:
            connected.begin()
        send: Any = super().send_packed_command
        return send(*arguments, **named)


class _BoundedSecureConnection(_BoundedConnection, SSLConnection):
    pass


class RedisStore:
    """A `KeyValueStore` in a Redis server.

    Args:
        address: such as redis://127.0.0.1:6379.
        deployment: what the servers that share it are called, if others use the same Redis.
    """

    def __init__(self, address: str, deployment: str = "") -> None:
        # A connection that Redis has closed meanwhile, as after a restart, is opened anew; nothing else is tried twice.
        again = Retry(NoBackoff(), 1, supported_errors=(Disconnected,))
        parts = urlsplit(address)
        self._redis = Redis.from_url(
            address,
            socket_timeout=PATIENCE,
            socket_connect_timeout=PATIENCE,
            retry=again,
            connection_class=_BoundedSecureConnection if parts.scheme == "rediss" else _BoundedConnection,
        )
        # Who listens to what servers tell each other may hear nothing for hours, and asks whether Redis is still there.
        self.listening = Redis.from_url(address, socket_connect_timeout=PATIENCE, health_check_interval=HEALTH)
        self.base = f"{PREFIX}:{deployment}:{FORMAT}"  # begins the names of all that these servers keep
        self._host = f"{parts.hostname}:{parts.port or 6379}"  # not the whole address, which may hold a password
        self._tries_at = 0.0
        self._told = ""  # what the log has been told of a Redis that is away
        self._put = self._redis.register_script(scripts.PUT)
        self._read = self._redis.register_script(scripts.READ)
        self._keys = self._redis.register_script(scripts.KEYS)
        self._remove = self._redis.register_script(scripts.REMOVE)

    def put(self, kind: Kind, key: str, value: bytes, owner: str = "") -> None:
        """Keep a value in place of an earlier one, and drop the oldest values for which there is no room."""
        kind.check(key, value, owner)
        limits = (kind.each, kind.network if network_of(owner) else 0, kind.together)
        self._run(self._put, kind, key, owner, digest_of(value), value, EXTRA, *limits)

    def entry(self, kind: Kind, key: str) -> Entry | None:
        """What is known of a value, which counts as reading it; None if there is none."""
        row = self._run(self._read, kind, key, int(kind.reading_renews), 0, kind.largest)
        return Entry(_text(row[0]), _text(row[1])) if row else None

    def get(self, kind: Kind, key: str) -> bytes | None:
        """A value; None if there is none."""
        row = self._run(self._read, kind, key, int(kind.reading_renews), 1, kind.largest)
        return bytes(row[2]) if row else None

    def keys(self, kind: Kind) -> list[str]:
        """All keys of a kind, the oldest first."""
        return [_text(key) for key in self._run(self._keys, kind)]

    def remove(self, kind: Kind, key: str) -> None:
        """Drop a value, if it is there."""
        self._run(self._remove, kind, key)

    def ready(self) -> str:
        """Why the store does not answer, in a sentence; "" if it does."""
        try:
            with self.asking() as redis:
                redis.ping()
        except StoreAway as problem:
            return str(problem)
        return ""

    def advice(self, needed: int) -> str:
        """What of the server's settings loses what is kept, in a sentence; "" if nothing does.

        Args:
            needed: bytes of all that may be kept.
        """
        try:
            with self.asking() as redis:
                memory = redis.info("memory")  # CONFIG GET is forbidden more often
        except StoreAway as problem:
            return f"The eviction policy of Redis cannot be looked up, and should be {POLICY}. {problem}"
        policy, most = memory.get("maxmemory_policy", "unknown"), int(memory.get("maxmemory", 0))
        if policy != POLICY:
            return f"Redis drops what is kept: its maxmemory-policy is {policy}, and should be {POLICY}."
        if 0 < most < needed:
            return f"Redis will be full: its maxmemory is {most / 1e6:.0f} MB, and {needed / 1e6:.0f} MB may be kept."
        return ""

    def close(self) -> None:
        """Close all connections."""
        self._redis.close()
        self.listening.close()

    def _run(self, script: Any, kind: Kind, *arguments: Any) -> Any:
        with self.asking():
            return script([f"{self.base}:{kind.name}:"], [int(kind.lifetime * 1e6), *arguments])

    @contextmanager
    def asking(self) -> Iterator[Redis]:
        """The connection to Redis, to be asked in the block.

        Raises:
            StoreAway: if it does not answer, or answers by an error; for a moment after that nobody asks it again.
        """
        if time.monotonic() < self._tries_at:
            raise StoreAway(_sentence("it does not answer"))
        try:
            yield self._redis
        except (Disconnected, TimedOut) as error:
            self._tries_at = time.monotonic() + PAUSE
            raise self._away("it does not answer", error) from error
        except RedisError as error:
            raise self._away(f"it answers “{str(error).partition(' script: ')[0][:100]}”", error) from error
        self._told = ""

    def _away(self, why: str, error: RedisError) -> StoreAway:
        """What a visitor is told; once, the log is told where this Redis is."""
        if why != self._told:
            self._told = why
            _log.warning("Redis at %s: %s", self._host, error)
        return StoreAway(_sentence(why))


def _sentence(why: str) -> str:
    return f"What servers share is kept by Redis, and {why}. The next look asks it again."


def _text(written: bytes) -> str:
    return written.decode(errors="replace")  # somebody else may have written it
