"""What every store does, whichever it is: values come back, limits are kept, the oldest goes first."""

import time
from collections import OrderedDict
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tfm_ui.store.kinds import KINDS
from tfm_ui.store.store import EXTRA, LONGEST_NAME, Entry, Kind, digest_of

PLAIN = Kind("plain", together=100_000)
SMALL = Kind("small", together=10 * EXTRA, each=4 * EXTRA, network=6 * EXTRA, reading_renews=True)
# Hypothesis calls a test many times with the same store.
same_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def test_what_was_put_comes_back_and_belongs_to_its_owner(store):
    assert store.get(PLAIN, "a") is store.entry(PLAIN, "a") is None
    assert store.keys(PLAIN) == []
    store.put(PLAIN, "a", b"1", "Ada")
    store.put(PLAIN, "b", b"2")
    assert (store.get(PLAIN, "a"), store.get(PLAIN, "b")) == (b"1", b"2")
    assert store.entry(PLAIN, "a") == Entry("Ada", digest_of(b"1"))
    assert store.entry(PLAIN, "b").owner == ""
    store.put(PLAIN, "a", b"3", "Bob")
    assert store.get(PLAIN, "a") == b"3"
    assert store.entry(PLAIN, "a") == Entry("Bob", digest_of(b"3"))
    assert store.keys(PLAIN) == ["b", "a"]
    store.remove(PLAIN, "a")
    store.remove(PLAIN, "never")
    assert store.keys(PLAIN) == ["b"]
    assert store.ready() == ""


def test_kinds_know_nothing_of_each_other(store):
    other = replace(PLAIN, name="other")
    store.put(PLAIN, "a", b"1")
    assert store.get(other, "a") is None
    store.put(other, "a", b"2")
    store.remove(PLAIN, "a")
    assert store.get(other, "a") == b"2"


@same_store
@given(
    key=st.text(st.characters(codec="utf-8"), min_size=1, max_size=LONGEST_NAME),
    owner=st.text(st.characters(codec="utf-8"), max_size=LONGEST_NAME),
    value=st.binary(max_size=300),
)
def test_keys_owners_and_values_may_be_anything(store, key, owner, value):
    store.put(PLAIN, key, value, owner)
    assert store.get(PLAIN, key) == value
    assert store.entry(PLAIN, key) == Entry(owner, digest_of(value))
    assert key in store.keys(PLAIN)


def test_a_large_value_comes_back_whole(store):
    value, large = bytes(range(256)) * 4096, Kind("large", together=2**24)
    store.put(large, "mask", value)
    assert store.get(large, "mask") == value


def test_what_is_larger_than_the_limit_is_refused_and_changes_nothing(store):
    store.put(SMALL, "a", b"before", "Ada")
    with pytest.raises(ValueError, match="small: expected at most 3,072 bytes, got 3,073"):
        store.put(SMALL, "a", bytes(3073), "Ada")
    assert store.get(SMALL, "a") == b"before"
    store.put(SMALL, "a", bytes(3072), "Ada")
    assert store.keys(SMALL) == ["a"]
    with pytest.raises(ValueError, match="expected at most 200 characters of key, got 201"):
        store.put(SMALL, "k" * 201, b"")


def test_a_value_may_have_a_limit_of_its_own(store):
    small = replace(PLAIN, most=10)
    with pytest.raises(ValueError, match="plain: expected at most 10 bytes, got 11"):
        store.put(small, "a", bytes(11))
    store.put(PLAIN, "a", bytes(10))
    assert store.get(small, "a") == bytes(10)


def test_without_a_limit_of_its_own_an_owner_may_fill_all(store):
    for number in range(5):
        store.put(Kind("free", together=3 * EXTRA), str(number), b"", "Ada")
    assert store.keys(Kind("free", together=3 * EXTRA)) == ["2", "3", "4"]


def test_reading_renews_only_where_the_kind_says_so(store):
    for kind, first in ((SMALL, "b"), (PLAIN, "a")):
        for key in ("a", "b"):
            store.put(kind, key, b"")
        store.get(kind, "a")
        assert store.keys(kind)[0] == first
        store.entry(kind, "b")
        assert store.keys(kind) == (["a", "b"])


class Model:
    """The rules in a few lines: dictionaries in place of a store."""

    def __init__(self):
        self.kept = OrderedDict()  # key -> owner, size; the newest last

    def put(self, key, size, owner):
        self.kept.pop(key, None)
        self.kept[key] = owner, size + EXTRA
        while self.bytes_of(owner) > SMALL.each:
            del self.kept[next(key for key, (whose, _) in self.kept.items() if whose == owner)]
        network = owner.partition(" ")[0]
        while network and self.bytes_of(network=network) > SMALL.network:
            del self.kept[next(key for key, (whose, _) in self.kept.items() if whose.partition(" ")[0] == network)]
        while self.bytes_of() > SMALL.together:
            self.kept.popitem(last=False)

    def read(self, key):
        if key in self.kept:
            self.kept.move_to_end(key)

    def bytes_of(self, owner=None, network=None):
        sizes = [(whose, whose.partition(" ")[0], size) for whose, size in self.kept.values()]
        return sum(size for whose, near, size in sizes if owner in (None, whose) and network in (None, near))


# Of one address, of another that begins alike, without one, and an address alone.
OWNERS = ("1.2.3.4 A", "1.2.3.4 B", "1.2.3.4 C", "1.2.3.4", "1.2.3.45 A", " A", " B", "C")
PUT = st.tuples(st.sampled_from("abcdefghijkl"), st.integers(0, SMALL.largest), st.sampled_from(OWNERS))
READ = st.sampled_from("abcdefghijkl")
MORE_THAN_A_SHARE = [(f"{owner}{n}", 0, owner) for owner in "BC" for n in range(3)]
MORE_THAN_A_SHARE += [(f"A{n}", 0, "A") for n in range(50)]
INVENTED_VISITORS = [(f"{owner[0]}{n}", 0, owner) for owner in ("5.6.7.8 B", "9.9.9.9 C") for n in range(2)]
INVENTED_VISITORS += [(f"A{n}", 0, f"1.2.3.4 {n}") for n in range(50)]


@same_store
@given(steps=st.lists(PUT | READ, max_size=40))
@example(steps=MORE_THAN_A_SHARE)
@example(steps=INVENTED_VISITORS)
def test_never_over_a_limit_and_the_oldest_goes_first_the_owners_then_the_networks_then_anyones(store, steps):
    model = Model()
    for key in store.keys(SMALL):
        store.remove(SMALL, key)
    for step in steps:
        if isinstance(step, tuple):
            key, size, owner = step
            store.put(SMALL, key, bytes(size), owner)
            model.put(key, size, owner)
        else:
            store.get(SMALL, step)
            model.read(step)
        assert store.keys(SMALL) == list(model.kept)
        assert model.bytes_of() <= SMALL.together


def test_what_has_outlived_its_time_is_gone_and_has_room_no_longer(store):
    """A longer time is tried where the machine was too slow to look within the first."""
    for lifetime in (0.3, 1.0, 3.0, 10.0):
        brief = Kind(f"brief {lifetime}", together=4 * EXTRA, lifetime=lifetime, reading_renews=True)
        put = time.monotonic()
        store.put(brief, "a", b"1")
        store.put(brief, "b", b"2")
        time.sleep(lifetime * 2 / 3)
        asked = time.monotonic()
        read = store.get(brief, "a")  # counts as new
        answered = time.monotonic()
        time.sleep(lifetime * 2 / 3)
        left = store.keys(brief)
        if answered - put < lifetime and time.monotonic() - asked < lifetime:
            break
    assert read == b"1"
    assert left == ["a"]
    assert store.get(brief, "b") is None
    time.sleep(lifetime * 7 / 6)
    assert store.entry(brief, "a") is None
    assert store.keys(brief) == []


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_of_each_kind_nobody_can_push_out_all_that_others_have(kind, store):
    """Comparisons are one for each task, whoever has asked for them."""
    share = min(limit for limit in (kind.each, kind.network, kind.together) if limit)
    assert share <= kind.together // 2 or kind.name == "comparisons"
    assert kind.largest <= share
    small = replace(kind, together=20 * EXTRA, each=10 * EXTRA, network=10 * EXTRA, most=0)
    store.put(small, "Ada's", b"", "1.2.3.4")
    for number in range(40):
        store.put(small, f"Bob's {number}", b"", "5.6.7.8")
    assert store.keys(small)[0] == "Ada's"
