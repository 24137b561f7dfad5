"""Whose turn it is: clients take turns, each client's own wishes in their order."""

from typing import Generic, NamedTuple, TypeVar

Wish = TypeVar("Wish")


class Turn(NamedTuple, Generic[Wish]):
    """When a wish comes: by its round, and within a round by when it was asked for."""

    round: int
    number: int
    client: str
    wish: Wish


class Ring(Generic[Wish]):
    """What clients wait for. Several may wait for one thing: it comes when the first of them has it as their turn.

    In each round every client has one turn, whoever asked first before the others. Who comes later joins the round that
    is on, and who had a turn in it the next one.
    """

    def __init__(self) -> None:
        self._turns: list[Turn[Wish]] = []  # as they come
        self._served: dict[str, int] = {}  # the round of a client's last turn, where it is still on
        self._round = self._count = 0

    def add(self, client: str, wish: Wish) -> None:
        """Behind this client's others."""
        own = [turn for turn in self._turns if turn.client == client]
        if any(turn.wish == wish for turn in own):
            return
        last = own[-1].round if own else self._served.get(client, -1)
        self._count += 1
        self._turns.append(Turn(max(last + 1, self._round), self._count, client, wish))
        self._turns.sort(key=lambda turn: (turn.round, turn.number))

    def of(self, client: str) -> list[Wish]:
        """What this client waits for."""
        return [turn.wish for turn in self._turns if turn.client == client]

    def leave(self, client: str, wish: Wish) -> None:
        """This client no longer waits for it."""
        self._turns = [turn for turn in self._turns if (turn.client, turn.wish) != (client, wish)]

    def order(self) -> list[Wish]:
        """All, as they will come, if nothing is added."""
        return list(dict.fromkeys(turn.wish for turn in self._turns))

    def next(self) -> Wish | None:
        """Take out what comes first."""
        if not self._turns:
            return None
        first = self._turns[0]
        self._turns = [turn for turn in self._turns if turn.wish != first.wish]
        self._round = first.round
        self._served = {client: last for client, last in self._served.items() if last >= self._round}
        self._served[first.client] = self._round
        return first.wish

    def clear(self) -> list[Wish]:
        """Take out all of them."""
        wishes = self.order()
        self._turns = []
        return wishes
