"""The door of a room: who may come in with which code, and who has tried too many.

A code has four letters, so whoever could try as many as they like would be in some room before long.
"""

from cachetools import TTLCache
from starlette.responses import JSONResponse

from tfm_ui.classroom import room as rooms
from tfm_ui.classroom.room import Room, read_code
from tfm_ui.classroom.tries import Tries
from tfm_ui.settings import SETTINGS
from tfm_ui.store.rooms import NoRoom
from tfm_ui.store.store import StoreAway
from tfm_ui.visitors import metrics
from tfm_ui.visitors.visitor import address_of

GONE = "There is no room {code}. A room closes after three hours, or when its owner closes it."
NO_CODE = "The code of a room has {letters} letters; got “{got}”."
WRONG = "Too many codes were tried from here. Try again in {seconds} s."

# Codes of rooms that are not there: of a browser, which may mistype, and of a network, which may be a whole school.
WRONG_BY_BROWSER, WRONG_BY_NETWORK = Tries(8, 4), Tries(40, 6)
KNOWN_WRONG: TTLCache[tuple[str, str], bool] = TTLCache(10_000, 600)  # seconds for which a network was told so


class Refusal(Exception):
    """An HTTP error, with a sentence."""

    def __init__(self, status: int, words: str, wait: int = 0) -> None:
        super().__init__(words)
        self.words = words
        headers = {"Retry-After": str(wait)} if wait else {}
        is_over = {"over": True} if status == 404 else {}  # a proxy answers 404, too
        self.response = JSONResponse({"problem": words} | is_over, status, headers | {"Cache-Control": "no-store"})


def enter(typed: str, who: str) -> Room:
    """The room with this code, for a visitor who has not tried too many codes.

    Raises:
        Refusal: if there is no such room, or the visitor is not told.
    """
    network = address_of(who) or who
    wrong = ((WRONG_BY_BROWSER, who), (WRONG_BY_NETWORK, network))
    wait = max(tries.wait(whose) for tries, whose in wrong)
    try:
        code = read_code(typed)
    except NoRoom:
        raise Refusal(404, NO_CODE.format(letters=rooms.LENGTH, got=" ".join(typed.split())[:20])) from None
    try:
        room = rooms.look(code)
    except NoRoom:
        if KNOWN_WRONG.get(
            (network, code)
        ):  # to hear it again tells nothing: a class comes back to a room that is over
            raise Refusal(404, GONE.format(code=code)) from None
        if wait:
            metrics.REFUSED.labels("room_codes").inc()
            raise Refusal(429, WRONG.format(seconds=wait), wait) from None
        for tries, whose in wrong:
            tries.take(whose)
        KNOWN_WRONG[network, code] = True
        raise Refusal(404, GONE.format(code=code)) from None
    except StoreAway as problem:
        raise Refusal(503, str(problem), wait=5) from None
    if wait and not MEMBERS.knows(room, who):
        metrics.REFUSED.labels("room_codes").inc()
        raise Refusal(429, WRONG.format(seconds=wait), wait)
    MEMBERS.note(room, who)
    return room


class Members:
    """The browsers that have been in a room of this server, by their names there: they come back after a break."""

    def __init__(self) -> None:
        self._known: dict[str, set[str]] = {}

    def knows(self, room: Room, who: str) -> bool:
        """Whether this visitor was there before."""
        return room.member(who) in self._known.get(_name(room), ())

    def note(self, room: Room, who: str) -> None:
        """Note that this visitor is there."""
        if _name(room) not in self._known:
            while len(self._known) >= SETTINGS.rooms:
                del self._known[next(iter(self._known))]
            self._known[_name(room)] = set()
        known = self._known[_name(room)]
        if len(known) < 2 * SETTINGS.room_members:
            known.add(room.member(who))


def _name(room: Room) -> str:
    return str(room.about["number"])


MEMBERS = Members()
