"""Whose turn it is: clients take turns, each client's own wishes in their order."""

from collections import deque
from typing import Generic, TypeVar

Wish = TypeVar("Wish")


class Ring(Generic[Wish]):
    """What clients wait for. Several may wait for one thing: it comes when the first of them has it as their turn."""

    def __init__(self) -> None:
        self._lanes: dict[str, list[Wish]] = {}  # whoever is next stands first

    def add(self, client: str, wish: Wish) -> None:
        """Behind this client's others."""
        lane = self._lanes.setdefault(client, [])
        if wish not in lane:
            lane.append(wish)

    def of(self, client: str) -> list[Wish]:
        """What this client waits for."""
        return list(self._lanes.get(client, []))

    def leave(self, client: str, wish: Wish) -> None:
        """This client no longer waits for it."""
        lane = [other for other in self._lanes.get(client, []) if other != wish]
        if lane:
            self._lanes[client] = lane
        else:
            self._lanes.pop(client, None)

    def order(self) -> list[Wish]:
        """All, as they will come, if nothing is added."""
        return [wish for _, wish in self._turns()]

    def next(self) -> Wish | None:
        """Take out what comes first; the client whose turn it was is the last from now on."""
        turns = self._turns()
        if not turns:
            return None
        whose, wish = turns[0]
        for client in list(self._lanes):
            self.leave(client, wish)
        if whose in self._lanes:
            self._lanes[whose] = self._lanes.pop(whose)
        return wish

    def clear(self) -> list[Wish]:
        """Take out all of them."""
        wishes = self.order()
        self._lanes.clear()
        return wishes

    def _turns(self) -> list[tuple[str, Wish]]:
        found: list[tuple[str, Wish]] = []
        lanes = deque((client, deque(lane)) for client, lane in self._lanes.items())
        while lanes:
            client, lane = lanes.popleft()
            while lane and any(lane[0] == wish for _, wish in found):
                lane.popleft()
            if lane:
                found.append((client, lane.popleft()))
                lanes.append((client, lane))
        return found
