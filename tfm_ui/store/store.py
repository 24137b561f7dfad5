"""What a store is: bytes by kind and key, within limits that are kept whoever else writes at the same time.

A server keeps in it what links and pages need later: uploads, measurements, trained runs. Values are data, such as NPZ
without pickle, JSON or safetensors: somebody else may write to a Redis server, and nothing in it is ever executed.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

EXTRA = 2**10  # bytes that count for each value in addition to its own: many small ones take room, too
LONGEST_NAME = 200  # characters of a key or an owner


class StoreAway(OSError):
    """A store does not answer; the message says so in a sentence."""


@dataclass(frozen=True)
class Kind:
    """What is kept, and how much of it; of too much the oldest goes: the owner's, the network's, anyone's.

    Owners are named as visitors are (tfm_ui/visitors/visitor.py): before a space stands the network address.

    Attributes:
        name: of the kind.
        together: bytes of all values.
        each: bytes of the values of an owner; 0 if that has no limit of its own.
        network: bytes of the values of all owners of an address, as one can invent others; 0 if that has no limit.
        most: bytes of a value; 0 if only the others limit it. More is neither taken nor fetched.
        lifetime: seconds after which a value goes; 0 if it stays.
        reading_renews: whether a value that is read counts as new.
    """

    name: str
    together: int
    each: int = 0
    network: int = 0
    most: int = 0
    lifetime: float = 0.0
    reading_renews: bool = False

    @property
    def largest(self) -> int:
        """Bytes that a value may have."""
        limits = (self.together - EXTRA, self.each - EXTRA, self.network - EXTRA, self.most)
        return min(limit for limit in limits if limit > 0)

    def check(self, key: str, value: bytes, owner: str) -> None:
        """Refuse what cannot be kept.

        Raises:
            ValueError: naming what was expected and what came.
        """
        if len(value) > self.largest:
            raise ValueError(f"{self.name}: expected at most {self.largest:,} bytes, got {len(value):,}")
        for what, name in (("key", key), ("owner", owner)):
            if len(name) > LONGEST_NAME:
                raise ValueError(f"{self.name}: expected at most {LONGEST_NAME} characters of {what}, got {len(name)}")


@dataclass(frozen=True)
class Entry:
    """What is known of a value without reading it.

    Attributes:
        owner: whose it is; "" for everybody's.
        digest: another digest means another value.
    """

    owner: str
    digest: str


def network_of(owner: str) -> str:
    """The address in an owner's name; "" if there is none, as on this machine."""
    return owner.partition(" ")[0]


def digest_of(value: bytes) -> str:
    """What stands for a value."""
    return blake2b(value, digest_size=16).hexdigest()


class KeyValueStore(Protocol):
    """Any thread of any process may call the methods. Each raises StoreAway if the store does not answer."""

    def put(self, kind: Kind, key: str, value: bytes, owner: str = "") -> None:
        """Keep a value in place of an earlier one, and drop the oldest values for which there is no room.

        Raises:
            ValueError: for a value that is larger than the kind's limits.
        """

    def entry(self, kind: Kind, key: str) -> Entry | None:
        """What is known of a value, which counts as reading it; None if there is none."""

    def get(self, kind: Kind, key: str) -> bytes | None:
        """A value; None if there is none."""

    def keys(self, kind: Kind) -> list[str]:
        """All keys of a kind, the oldest first."""

    def remove(self, kind: Kind, key: str) -> None:
        """Drop a value, if it is there."""

    def ready(self) -> str:
        """Why the store does not answer, in a sentence; "" if it does."""
