"""Nobody waits for ever: crowds of visitors at the limiter, in a time that the test makes."""

import heapq
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import count, islice

import pytest

from tfm_ui.visitors.compute_limiter import RETRY, Busy, ComputeLimiter, Lane, Ticket
from tfm_ui.visitors.fair_queue import HEAD_START

PAGE, PICTURE, EACH = 0.05, 0.04, 1.5  # seconds that a page and a picture take, and between two moves of a visitor
MANY = 30  # pictures that somebody without patience asks for, ten times a second


class Crowd:
    """Visitors of a limiter, who begin at its computations and end them, one event after the other."""

    def __init__(self) -> None:
        self.now = 0.0
        self.limiter = ComputeLimiter(
            pictures=2, pages=2, slow=1, per_visitor=24, per_address=192, in_all=288, clock=lambda: self.now
        )
        self.turns = 0  # that have begun
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()

    def at(self, time: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time, next(self._numbers), act))

    def compute(self, visitor: str, lane: Lane, then: Callable[[], None] = lambda: None) -> Ticket:
        """Ask for a turn, compute in it, and leave."""
        ticket = self.limiter.ask(visitor, lane)

        def begin(admitted: Future[None]) -> None:
            if admitted.exception():
                return  # pushed out
            self.turns += 1
            self.at(self.now + (PAGE if lane is Lane.PAGES else PICTURE), end)

        def end() -> None:
            self.limiter.leave(ticket)
            then()

        ticket.admitted.add_done_callback(begin)
        return ticket

    def run_until(self, done: Callable[[], bool], most: float = 600.0) -> None:
        while not done():
            self.now, _, act = heapq.heappop(self._events)
            assert self.now < most, "somebody waits for ever"
            act()

    def moves(self, visitor: str, start: float) -> None:
        """A visitor who moves again and again: each move asks for a page and a picture, unless these wait already."""
        waiting: dict[Lane, Ticket] = {}

        def move() -> None:
            for lane in (Lane.PICTURES, Lane.PAGES):
                if lane not in waiting or waiting[lane].left:
                    with suppress(Busy):
                        waiting[lane] = self.compute(visitor, lane)
            self.at(self.now + EACH, move)

        self.at(start, move)

    def floods(self, visitors: Iterator[str], start: float) -> None:
        """Somebody who asks for pictures without end, each time as another visitor if there are several."""

        def ask() -> None:
            for visitor in islice(visitors, MANY):
                with suppress(Busy):
                    self.compute(visitor, Lane.PICTURES)
            self.at(self.now + 0.1, ask)

        self.at(start, ask)


def opened(crowd: Crowd, visitor: str, at: float) -> dict[str, float]:
    """Open a link at this time; what is known when the first picture begins: the turns of others, and the seconds."""
    noted: dict[str, float] = {}

    def come() -> None:
        noted["turns"], noted["began"] = crowd.turns, crowd.now
        crowd.compute(visitor, Lane.PAGES, then=ask_for_pictures)
        noted["expected page"] = crowd.limiter.expected(visitor)

    def ask_for_pictures() -> None:
        noted.setdefault("page", crowd.now - noted["began"] - PAGE)
        try:
            crowd.compute(visitor, Lane.PICTURES).admitted.add_done_callback(there)
        except Busy:
            crowd.at(crowd.now + RETRY, ask_for_pictures)

    def there(admitted: Future[None]) -> None:
        if admitted.exception():
            return crowd.at(crowd.now + RETRY, ask_for_pictures)
        noted["turns"], noted["seconds"] = crowd.turns - noted["turns"], crowd.now - noted["began"]

    crowd.at(at, come)
    crowd.run_until(lambda: "seconds" in noted)
    return noted


FLOODS: dict[str, tuple[int, Callable[[int], str]]] = {  # how many addresses somebody without patience has, and names
    "nobody": (0, str),
    "a guest": (1, lambda number: "192.0.2.9 guest"),
    "a guest of many names": (1, lambda number: f"192.0.2.9 {number}"),
    "guests of many addresses": (4, lambda number: f"192.0.3.{number % 4} {number}"),
}


@pytest.mark.parametrize("floods", FLOODS)
@pytest.mark.parametrize("visitors", [1, 30, 120])
def test_the_first_picture_of_a_link_begins_after_a_bounded_number_of_turns_whatever_others_ask(visitors, floods):
    """Addresses take turns, and then their visitors: each has one page and one picture at most before a newcomer's."""
    crowd = Crowd()
    for number in range(visitors):
        crowd.moves(f"192.0.2.1 {number}", start=number * EACH / visitors)
    addresses, name = FLOODS[floods]
    if addresses:
        crowd.floods(map(name, count()), start=0.0)
    noted = opened(crowd, "192.0.2.1 new", at=5.0)
    assert noted["turns"] <= 3 * (1 + addresses) * (visitors + HEAD_START)


@pytest.mark.parametrize("visitors", [60, 100, 150])
def test_about_how_long_a_page_still_waits_is_foretold(visitors):
    crowd = Crowd()
    for number in range(visitors):
        crowd.moves(f"192.0.2.1 {number}", start=number * EACH / visitors)
    noted = opened(crowd, "192.0.2.1 new", at=10.0)
    assert 0.5 * noted["page"] - PAGE <= noted["expected page"] <= 2 * noted["page"] + PAGE


def test_nothing_is_foretold_of_who_does_not_wait():
    crowd = Crowd()
    assert crowd.limiter.expected("192.0.2.1 a") == 0
    crowd.limiter.ask("192.0.2.1 a", Lane.PAGES)
    assert crowd.limiter.expected("192.0.2.1 a") == 0


@pytest.mark.parametrize("draggers", [3, 30, 100])
def test_previews_give_way_to_who_has_moved_once(draggers):
    """Who drags asks again as soon as an answer is there: the more of them, the less often do previews come."""
    crowd, begun = Crowd(), Counter[str]()

    def drag(visitor: str) -> None:
        begun[visitor] += 1
        crowd.compute(visitor, Lane.PICTURES, then=lambda: drag(visitor))

    for number in range(draggers):
        crowd.at(0.0, partial(drag, f"192.0.2.1 {number}"))
    crowd.at(10.0, lambda: None)
    crowd.run_until(lambda: crowd.now >= 10.0)
    before, asked = crowd.turns, begun.copy()
    mine = crowd.compute("192.0.2.1 mover", Lane.PICTURES)
    crowd.run_until(mine.admitted.done)
    assert crowd.turns - before <= draggers + 1
    assert max((begun - asked).values(), default=0) <= 2, "nobody who drags has had two turns meanwhile"
