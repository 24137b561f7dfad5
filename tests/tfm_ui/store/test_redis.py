"""Redis on a bad day: parts of it are lost, it is full, read-only or slow, others write into it or share it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from redis.connection import SSLConnection
from redis.exceptions import NoPermissionError

from tests.tfm_ui.store.hanging import proxy_to
from tests.tfm_ui.store.test_stores import same_store
from tfm_ui.store import redis_store
from tfm_ui.store.local import LocalStore
from tfm_ui.store.redis_store import RedisStore
from tfm_ui.store.spare import WithSpare
from tfm_ui.store.store import EXTRA, Entry, Kind, StoreAway, digest_of

KIND = Kind("small", together=10 * EXTRA, each=4 * EXTRA, reading_renews=True)
HELPERS = ("order", "about", "values")
SOON = 2 * redis_store.WHOLE  # seconds after which a call has ended, whatever happens


@pytest.fixture
def client(empty_redis):
    with Redis.from_url(empty_redis) as opened:
        yield opened


@pytest.fixture
def redis(empty_redis, monkeypatch):
    monkeypatch.setattr(redis_store, "PAUSE", 0.0)
    opened = RedisStore(empty_redis)
    yield opened
    opened.close()


def key_of(what: str, deployment: str = "") -> str:
    return f"attention-lab:{deployment}:{redis_store.FORMAT}:small:{what}"


def fill(redis: RedisStore) -> None:
    for number in range(10):
        redis.put(KIND, str(number), b"", f"owner {number}")


def test_it_keeps_the_three_keys_that_the_scripts_tell_of(redis, client):
    fill(redis)
    assert {key.decode() for key in client.scan_iter()} == {key_of(what) for what in HELPERS}


@pytest.mark.parametrize("lost", HELPERS)
def test_a_store_that_was_full_and_lost_a_part_takes_new_values(redis, client, lost):
    fill(redis)
    client.delete(key_of(lost))
    redis.put(KIND, "new", b"", "Ada")
    assert redis.get(KIND, "new") == b""
    assert redis.entry(KIND, "new") == Entry("Ada", digest_of(b""))
    kept = redis.keys(KIND)
    assert kept[-1] == "new"
    assert len(kept) == (10 if lost == "order" else 1)  # the order alone can be made anew
    assert {client.zcard(key_of("order")), client.hlen(key_of("about")), client.hlen(key_of("values"))} == {len(kept)}


STEP = (
    st.tuples(st.just("put"), st.sampled_from("abcdefghijkl"), st.sampled_from("ABCDE"))
    | st.tuples(st.just("lose"), st.sets(st.sampled_from(HELPERS), min_size=1))
    | st.tuples(st.just("lose a field"), st.sampled_from(HELPERS), st.sampled_from("abcdefghijkl"))
    | st.tuples(st.just("spoil"), st.sampled_from(("about", "values")), st.sampled_from("abcdefghijkl"), st.binary())
    | st.tuples(st.sampled_from(("get", "entry", "remove")), st.sampled_from("abcdefghijkl"))
)


@same_store
@given(steps=st.lists(STEP, max_size=25))
def test_whatever_is_lost_or_spoiled_every_call_ends_and_what_is_put_later_is_kept(redis, client, steps):
    client.flushall()
    begin = time.monotonic()
    for name, *given_ in steps:
        match name:
            case "put":
                redis.put(KIND, given_[0], b"12", given_[1])
                assert redis.get(KIND, given_[0]) == b"12"
                assert len(redis.keys(KIND)) <= 10
            case "lose":
                client.delete(*map(key_of, given_[0]))
            case "lose a field":
                (client.zrem if given_[0] == "order" else client.hdel)(key_of(given_[0]), given_[1])
            case "spoil":
                client.hset(key_of(given_[0]), given_[1], given_[2])
            case _:
                getattr(redis, name)(KIND, given_[0])
    for number in range(10):
        redis.put(KIND, f"later {number}", b"", f"owner {number}")
    assert redis.keys(KIND) == [f"later {number}" for number in range(10)]
    assert time.monotonic() - begin < SOON * (len(steps) + 10)


@pytest.mark.parametrize("told", [b"", b"ab", b"nonsense", b"zz Ada", b"-5 Ada", b"ab Ada", b"\xff"])
def test_what_somebody_else_wrote_about_a_value_makes_it_missing_at_most(redis, client, told):
    redis.put(KIND, "a", b"1", "Ada")
    client.hset(key_of("about"), "a", told)
    assert redis.entry(KIND, "a") in (None, Entry("Ada", "ab"))
    redis.put(KIND, "b", b"2", "Bob")
    assert redis.get(KIND, "b") == b"2"


def test_a_value_that_no_server_has_put_is_not_fetched(redis, client):
    redis.put(KIND, "a", b"1", "Ada")
    client.hset(key_of("values"), "a", bytes(KIND.largest + 1))
    assert redis.get(KIND, "a") is None
    assert redis.entry(KIND, "a") is None
    client.hset(key_of("values"), "a", bytes(KIND.largest))
    assert len(redis.get(KIND, "a")) == KIND.largest


def test_keys_and_owners_that_are_no_text_are_no_error(redis, client):
    redis.put(KIND, "a", b"1", "Ada")
    client.hset(key_of("values"), b"\xff", b"2")
    client.hset(key_of("about"), b"\xff", b"ab \xfe")
    assert redis.keys(KIND) == ["a", "\ufffd"]


def test_a_full_redis_is_a_sentence_and_still_tells_what_it_has(redis, client, tmp_path):
    redis.put(KIND, "before", b"1", "Ada")
    spare = LocalStore(tmp_path)
    store = WithSpare(redis, spare)
    client.config_set("maxmemory", "1")
    try:
        with pytest.raises(StoreAway, match=r"it answers “.*maxmemory"):
            redis.put(KIND, "a", b"2", "Ada")
        assert redis.get(KIND, "before") == b"1"
        assert redis.keys(KIND) == ["before"]
        store.put(KIND, "a", b"2", "Ada")  # no work is lost
        assert store.get(KIND, "a") == b"2"
        redis.remove(KIND, "before")  # makes room
    finally:
        client.config_set("maxmemory", "0")
    assert redis.keys(KIND) == []
    spare.close()


def test_a_redis_that_may_only_be_read_is_a_sentence_and_still_tells_what_it_has(redis, client):
    brief = Kind("small", together=10 * EXTRA, lifetime=0.3, reading_renews=True)
    redis.put(brief, "a", b"1")
    client.replicaof("127.0.0.1", "1")
    try:
        with pytest.raises(StoreAway, match="read only replica"):
            redis.put(KIND, "b", b"2")
        assert redis.get(KIND, "a") == b"1"
        assert redis.keys(KIND) == ["a"]
        time.sleep(0.4)
        assert redis.get(brief, "a") is None  # although it could not be dropped
        assert redis.keys(brief) == []
    finally:
        client.replicaof("NO", "ONE")


@pytest.mark.parametrize("mode", ["hangs", "drips"])
def test_a_redis_that_does_not_come_to_its_end_is_a_sentence_and_answers_again_later(mode, redis, client, monkeypatch):
    monkeypatch.setattr(redis_store, "WHOLE", 1.5)
    port = client.connection_pool.connection_kwargs["port"]
    redis.put(KIND, "a", b"the value of a", "Ada")
    redis.put(KIND, "b", b"the value of b", "Ada")
    with proxy_to(port) as proxy:
        slow = RedisStore(f"redis://127.0.0.1:{proxy.port}")
        assert slow.get(KIND, "a") == b"the value of a"
        proxy.mode = mode
        begin = time.monotonic()
        with pytest.raises(StoreAway, match="does not answer"):
            slow.get(KIND, "a")
        assert time.monotonic() - begin < SOON
        proxy.mode = "quick"
        assert slow.get(KIND, "b") == b"the value of b"  # and not what was asked for before
        slow.close()


def test_an_encrypted_connection_is_bounded_as_well():
    secure = RedisStore("rediss://127.0.0.1:1")
    made = secure._redis.connection_pool.connection_class
    assert issubclass(made, SSLConnection)
    assert made._connect is RedisStore("redis://127.0.0.1:1")._redis.connection_pool.connection_class._connect
    secure.close()


def test_deployments_that_share_a_redis_know_nothing_of_each_other(redis, empty_redis, client):
    others = RedisStore(empty_redis, "school")
    redis.put(KIND, "a", b"1", "Ada")
    assert others.get(KIND, "a") is None
    others.put(KIND, "a", b"2", "Ada")
    assert redis.get(KIND, "a") == b"1"
    assert client.exists(key_of("values"), key_of("values", "school")) == 2
    others.close()


def test_what_loses_values_in_redis_own_settings_is_a_sentence(redis, client, monkeypatch):
    assert redis.advice(10**9) == ""
    client.config_set("maxmemory", "100mb")
    try:
        assert redis.advice(10**7) == ""
        assert redis.advice(10**9) == "Redis will be full: its maxmemory is 105 MB, and 1000 MB may be kept."
        client.config_set("maxmemory-policy", "allkeys-lru")
        assert redis.advice(1) == (
            "Redis drops what is kept: its maxmemory-policy is allkeys-lru, and should be noeviction."
        )
    finally:
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "0")

    def forbidden(section: str) -> None:
        raise NoPermissionError("this user has no permissions to run the 'info' command")

    monkeypatch.setattr(redis._redis, "info", forbidden)
    assert redis.advice(1).startswith("The eviction policy of Redis cannot be looked up, and should be noeviction. ")
    assert "no permissions" in redis.advice(1)
