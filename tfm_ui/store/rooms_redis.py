"""Rooms in Redis, for several servers: each is a hash that expires, and each change is published to all servers."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Protocol

from redis import Redis
from redis.exceptions import RedisError

from tfm_ui.store.rooms import LIFETIME, NOTHING, Bounds, Heard, NoRoom, full

PATIENCE = 1.0  # seconds between two looks whether somebody still listens, and before Redis is asked again
CLOSED, CHANGED, WRITTEN, FULL = "closed", "changed", "written", "full"

# KEYS: the room, the rooms by the end of their time. ARGV: code, network, lifetime, most rooms, most of a network, then
# names and values. A hash whose time is over is gone, so that its code leaves the list here.
OPEN = """
local code, network, lifetime, most, of_network = unpack(ARGV, 1, 5)
local many = 0
for _, other in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    local whose = redis.call('HGET', string.sub(KEYS[1], 1, -1 - #code) .. other, 'network')
    if not whose then redis.call('ZREM', KEYS[2], other) end
    if whose == network then many = many + 1 end
end
if redis.call('ZCARD', KEYS[2]) >= tonumber(most) or many >= tonumber(of_network) then return 'full' end
if redis.call('EXISTS', KEYS[1]) == 1 then return 'changed' end
redis.call('HSET', KEYS[1], 'network', network, unpack(ARGV, 6))
redis.call('EXPIRE', KEYS[1], lifetime)
redis.call('ZADD', KEYS[2], redis.call('TIME')[1] + lifetime, code)
return 'written'
"""

# KEYS: the room. ARGV: code, channel, most values, most bytes, how many are given, then names and values of what is
# given and of what is written; an empty value removes. What is too much is taken back before anybody has seen it.
WRITE = """
local code, channel, most, bytes, given = unpack(ARGV, 1, 5)
if redis.call('EXISTS', KEYS[1]) == 0 then return 'closed' end
for at = 6, 5 + 2 * given, 2 do
    if (redis.call('HGET', KEYS[1], ARGV[at]) or '') ~= ARGV[at + 1] then return 'changed' end
end
local function size()
    local sum = 0
    for _, name in ipairs(redis.call('HKEYS', KEYS[1])) do sum = sum + #name + redis.call('HSTRLEN', KEYS[1], name) end
    return sum
end
local function put(name, value)
    if value == '' then redis.call('HDEL', KEYS[1], name) else redis.call('HSET', KEYS[1], name, value) end
end
local many, large, before = redis.call('HLEN', KEYS[1]), size(), {}
for at = 6 + 2 * given, #ARGV, 2 do
    before[ARGV[at]] = redis.call('HGET', KEYS[1], ARGV[at]) or ''
    put(ARGV[at], ARGV[at + 1])
end
if redis.call('HLEN', KEYS[1]) > math.max(tonumber(most) + 1, many) or size() > math.max(tonumber(bytes), large) then
    for name, value in pairs(before) do put(name, value) end
    return 'full'
end
redis.call('PUBLISH', channel, code)
return 'written'
"""


class Asked(Protocol):
    """What asks Redis: a `RedisStore`."""

    base: str
    listening: Redis

    def asking(self) -> AbstractContextManager[Redis]:
        """The connection, to be asked in the block."""


class RedisRooms:
    """A `RoomStore` in the Redis of a store.

    Args:
        store: by which Redis is asked.
    """

    def __init__(self, store: Asked) -> None:
        self._store, self._base = store, f"{store.base}:rooms:"
        self._list, self._channel = f"{store.base}:rooms", f"{store.base}:rooms"

    def open(self, code: str, values: Mapping[str, bytes], network: str, bounds: Bounds) -> bool:
        """Open a room, unless its code is taken; return whether it is open now."""
        limits = (LIFETIME, bounds.rooms, bounds.per_network)
        how = self._run(OPEN, [self._base + code, self._list], code, network, *limits, *_flat(values))
        if how == FULL:
            raise full(of_server=True)
        return how == WRITTEN

    def read(self, code: str) -> Mapping[str, bytes]:
        """All values of a room."""
        with self._store.asking() as redis:
            values: Any = redis.hgetall(self._base + code)
        if not values:
            raise NoRoom(code)
        return {name.decode(): value for name, value in values.items() if name != b"network"}

    def write(
        self, code: str, values: Mapping[str, bytes], bounds: Bounds, *, given: Mapping[str, bytes] = NOTHING
    ) -> bool:
        """Write values, if those that are `given` are still what they were; tell all servers."""
        limits = (bounds.values, bounds.bytes, len(given))
        how = self._run(WRITE, [self._base + code], code, self._channel, *limits, *_flat(given), *_flat(values))
        if how == CLOSED:
            raise NoRoom(code)
        if how == FULL:
            raise full(of_server=False)
        return how == WRITTEN

    def close(self, code: str) -> None:
        """Drop a room, if there is one, and tell all servers."""
        with self._store.asking() as redis, redis.pipeline() as steps:
            steps.delete(self._base + code)
            steps.zrem(self._list, code)
            steps.publish(self._channel, code)
            steps.execute()

    def codes(self) -> Sequence[str]:
        """The codes of all open rooms."""
        with self._store.asking() as redis:
            names: Any = redis.zrange(self._list, 0, -1)
            return [name.decode() for name in names if redis.exists(self._base + name.decode())]

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Call `heard`, in a thread of its own, whenever a room changes. After a break any may have."""
        is_over = threading.Event()

        def follow() -> None:
            while not is_over.is_set():
                with suppress(RedisError, OSError), self._store.listening.pubsub() as channel:  # type: ignore[no-untyped-call]
                    channel.subscribe(self._channel)
                    while not is_over.is_set():
                        message = channel.get_message(timeout=PATIENCE / 2)
                        if message and message["type"] == "subscribe":
                            heard("")
                        elif message and message["type"] == "message":
                            heard(message["data"].decode(errors="replace"))
                is_over.wait(PATIENCE)

        thread = threading.Thread(target=follow, name="hears of rooms", daemon=True)
        thread.start()

        def stop() -> None:
            is_over.set()
            thread.join(2 * PATIENCE)

        return stop

    def _run(self, script: str, keys: list[str], *arguments: Any) -> str:
        with self._store.asking() as redis:
            answer: Any = redis.register_script(script)(keys, arguments)
            return bytes(answer).decode()


def _flat(values: Mapping[str, bytes]) -> list[str | bytes]:
    return [part for pair in values.items() for part in pair]
