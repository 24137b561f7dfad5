"""Rooms in the store: each is a set of named values, which grows within bounds and goes as a whole.

What the values mean is said in tfm_ui/classroom. A room is dropped when it is closed, and by the store itself when its
time is over, whether or not a server that knows it still runs.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, Protocol

LIFETIME = 3 * 3600  # seconds for which a room is open
NOTHING: Mapping[str, bytes] = MappingProxyType({})
Heard = Callable[[str], None]  # is told the code of a room that has changed; "" if any may have


class NoRoom(LookupError):
    """There is no such room, or there is none any more."""


class RoomFull(ValueError):
    """A room, or the server, holds as much as its settings allow."""


class Bounds(NamedTuple):
    """What may be kept.

    Attributes:
        rooms: that are open in all.
        per_network: rooms that those of one network may have open, by the names of their openers.
        values: of a room.
        bytes: of the values of a room, with their names.
    """

    rooms: int
    per_network: int
    values: int
    bytes: int


class RoomStore(Protocol):
    """Any thread of any process may call the methods. Each raises StoreAway if the store does not answer."""

    def open(self, code: str, values: Mapping[str, bytes], network: str, bounds: Bounds) -> bool:
        """Open a room, unless its code is taken; return whether it is open now.

        Raises:
            RoomFull: if there are too many rooms, in all or of this network.
        """

    def read(self, code: str) -> Mapping[str, bytes]:
        """All values of a room.

        Raises:
            NoRoom: if there is none.
        """

    def write(
        self, code: str, values: Mapping[str, bytes], bounds: Bounds, *, given: Mapping[str, bytes] = NOTHING
    ) -> bool:
        """Write values, if those that are `given` are still what they were; tell all who listen. "" removes a value.

        Args:
            code: of the room.
            values: name -> value.
            bounds: what may be kept.
            given: name -> the value that it must have now; b"" if there must be none.

        Returns:
            Whether they were written.

        Raises:
            NoRoom: if there is no such room.
            RoomFull: if there is no room for them in it.
        """

    def close(self, code: str) -> None:
        """Drop a room, if there is one, and tell all who listen."""

    def codes(self) -> Sequence[str]:
        """The codes of all open rooms."""

    def listen(self, heard: Heard) -> Callable[[], None]:
        """Call `heard`, in any thread, whenever a room changes; return what ends that."""


def full(of_server: bool) -> RoomFull:
    """What is said where there is no room for more."""
    if of_server:
        return RoomFull("As many rooms are open on this server as it allows. One may be free a little later.")
    return RoomFull("This room holds as many answers as this server allows.")
