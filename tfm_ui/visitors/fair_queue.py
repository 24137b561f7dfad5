"""Whose turn it is: network addresses take turns, at each address its visitors, each visitor's own items in order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from tfm_ui.visitors.visitor import address_of

Item = TypeVar("Item")

# Whoever has had no turn lately comes before those who have: as if the item had been asked for so many acts (items and
# turns) earlier. Twice as many acts later it is passed over by nobody.
NEW = 32


class Queued(NamedTuple, Generic[Item]):
    """A item, and when it was asked for: a number that counts all that happens to the queue."""

    number: int
    visitor: str
    item: Item


class FairQueue(Generic[Item]):
    """What visitors wait for. Several may wait for one thing: it comes when the first of them has it as their turn.

    The next turn is that of the address which has waited longest since it asked or had its last turn, and there of the
    visitor who has; newcomers are favoured a little. So of a visitor with many items one at most comes before another
    visitor's first, and nobody is passed over for ever, however many visitors one program makes up.
    """

    def __init__(self) -> None:
        self._waiting: list[Queued[Item]] = []
        self._served: dict[str, int] = {}  # the last turn of each visitor and address, as long as it matters
        self._count = 0

    def add(self, visitor: str, item: Item) -> None:
        """Behind this visitor's others."""
        if item not in self.of(visitor):
            self._waiting.append(Queued(self._tick(), visitor, item))

    def of(self, visitor: str) -> list[Item]:
        """What this visitor waits for."""
        return [queued.item for queued in self._waiting if queued.visitor == visitor]

    def of_address(self, visitor: str) -> list[Item]:
        """What all visitors of this one's address wait for."""
        address = address_of(visitor)
        return list(dict.fromkeys(queued.item for queued in self._waiting if address_of(queued.visitor) == address))

    def leave(self, visitor: str, item: Item) -> None:
        """This visitor no longer waits for it."""
        self._waiting = [queued for queued in self._waiting if (queued.visitor, queued.item) != (visitor, item)]

    def order(self) -> list[Item]:
        """All, as they will come, if nothing is added."""
        rest: FairQueue[Item] = FairQueue()
        rest._waiting, rest._served, rest._count = self._waiting, self._served, self._count
        return list(iter(rest.next, None))

    def next(self) -> Item | None:
        """Take out what comes first."""
        if not self._waiting:
            return None
        here = _longest(self._waiting, _address, self._served)
        first = _longest(here, _visitor, self._served)[0]
        self._waiting = [queued for queued in self._waiting if queued.item != first.item]
        now = self._tick()
        waiting = {name for queued in self._waiting for name in (_visitor(queued), _address(queued))}
        served = self._served | dict.fromkeys((_visitor(first), _address(first)), now)
        self._served = {name: turn for name, turn in served.items() if name in waiting or turn > now - NEW}
        return first.item

    def clear(self) -> list[Item]:
        """Take out all of them."""
        items = self.order()
        self._waiting = []
        return items

    def _tick(self) -> int:
        self._count += 1
        return self._count


def _visitor(queued: Queued[Item]) -> str:
    return f"visitor {queued.visitor}"


def _address(queued: Queued[Item]) -> str:
    return f"address {address_of(queued.visitor)}"


def _longest(
    waiting: Sequence[Queued[Item]], name: Callable[[Queued[Item]], str], served: Mapping[str, int]
) -> list[Queued[Item]]:
    """Those of the name that has waited longest, in the order in which they were asked for."""
    groups: dict[str, list[Queued[Item]]] = {}
    for queued in waiting:
        groups.setdefault(name(queued), []).append(queued)

    def since(group: list[Queued[Item]]) -> int:
        return max(group[0].number - NEW, served.get(name(group[0]), 0))

    return min(groups.values(), key=since)
