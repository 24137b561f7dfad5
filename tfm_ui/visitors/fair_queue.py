"""A fair queue: network addresses take turns, then the visitors of an address; a visitor's items keep their order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")

# Visitors and addresses without a recent turn get a head start: their items count as if they had been added this many
# ticks earlier (a tick is an added item or a turn). After twice as many ticks nobody can overtake them any more.
HEAD_START = 32


class Queued(NamedTuple, Generic[Item]):
    """An item, the visitor with the network address, and the tick at which it was added."""

    number: int
    visitor: str
    address: str
    item: Item


class FairQueue(Generic[Item]):
    """The items that visitors wait for. If several visitors wait for the same item, the earliest of their turns counts.

    The next turn belongs to the address that has waited longest since its item was added or since its last turn, and
    at this address to the visitor who has waited longest. Newcomers get a small head start. Therefore at most one item
    of a visitor with many comes before another visitor's first item, and everybody gets a turn, however many visitors a
    program invents.

    Args:
        address_of: the network address of a visitor.
    """

    def __init__(self, address_of: Callable[[str], str]) -> None:
        self._address_of = address_of
        self._waiting: list[Queued[Item]] = []
        self._served: dict[str, int] = {}  # the last turn of each visitor and address, while it still matters
        self._count = 0

    def add(self, visitor: str, item: Item) -> None:
        """Add an item after this visitor's other items."""
        if item not in self.of(visitor):
            self._waiting.append(Queued(self._tick(), visitor, self._address_of(visitor), item))

    def of(self, visitor: str) -> list[Item]:
        """The items that this visitor waits for."""
        return [queued.item for queued in self._waiting if queued.visitor == visitor]

    def of_address(self, visitor: str) -> list[Item]:
        """The items that all visitors of the same address wait for."""
        address = self._address_of(visitor)
        here = [queued for queued in self._waiting if queued.address == address]
        return list(dict.fromkeys(queued.item for queued in here))

    def before(self, visitor: str) -> int:
        """How many items were added before this visitor's first one: about as many turns come before it."""
        first = next((queued.number for queued in self._waiting if queued.visitor == visitor), 0)
        return sum(queued.number < first for queued in self._waiting)

    def leave(self, visitor: str, item: Item) -> None:
        """Note that this visitor no longer waits for this item."""
        self._waiting = [queued for queued in self._waiting if (queued.visitor, queued.item) != (visitor, item)]

    def drop(self, item: Item) -> None:
        """Take this item out, whoever waits for it."""
        self._waiting = [queued for queued in self._waiting if queued.item != item]

    def order(self) -> list[Item]:
        """All items in the order in which they will be taken, if none is added."""
        rest: FairQueue[Item] = FairQueue(self._address_of)
        rest._waiting, rest._served, rest._count = self._waiting, self._served, self._count
        return list(iter(rest.next, None))

    def next(self) -> Item | None:
        """Take out the next item; None if the queue is empty."""
        if not self._waiting:
            return None
        here = _longest(self._waiting, _address, self._served)
        first = _longest(here, _visitor, self._served)[0]
        self._waiting = [queued for queued in self._waiting if queued.item != first.item]
        now = self._tick()
        waiting = {name for queued in self._waiting for name in (_visitor(queued), _address(queued))}
        served = self._served | dict.fromkeys((_visitor(first), _address(first)), now)
        self._served = {name: turn for name, turn in served.items() if name in waiting or turn > now - HEAD_START}
        return first.item

    def clear(self) -> list[Item]:
        """Take out all items."""
        items = self.order()
        self._waiting = []
        return items

    def _tick(self) -> int:
        self._count += 1
        return self._count


def _address(queued: Queued[Item]) -> str:
    return f"address {queued.address}"


def _visitor(queued: Queued[Item]) -> str:
    return f"visitor {queued.visitor}"


def _longest(
    waiting: Sequence[Queued[Item]], name: Callable[[Queued[Item]], str], served: Mapping[str, int]
) -> list[Queued[Item]]:
    """The items of the visitor or address that has waited longest, in the order in which they were added."""
    groups: dict[str, list[Queued[Item]]] = {}
    for queued in waiting:
        groups.setdefault(name(queued), []).append(queued)

    def since(group: list[Queued[Item]]) -> int:
        return max(group[0].number - HEAD_START, served.get(name(group[0]), 0))

    return min(groups.values(), key=since)
