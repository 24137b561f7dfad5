"""What a room is, and what its owner and its members may do there.

A room has a code of four letters, with which anybody can look, answer and leave, and a secret, which only the browser
of its owner has. What it keeps is in the store (tfm_ui/store/rooms.py), and is erased with it. A member is what is left
of a browser's cookie when it is hashed with a number that only this room has: no name, and no address.
"""

import json
import math
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from hmac import compare_digest
from typing import Any

from tfm_ui.classroom.asked import Asked, Result, Value, short
from tfm_ui.settings import SETTINGS, Settings
from tfm_ui.store.rooms import LIFETIME, Bounds, NoRoom, RoomFull
from tfm_ui.store.shared import rooms
from tfm_ui.streamlit_private.options import config

# Letters that look like no other letter or digit, and no vowels, so that no code is a word.
SIGNS = "BCDFHJKLMNPRTWXY"
LENGTH = 4
TRIES = 50  # codes that are drawn until one is free
MOST_PAGE = 40  # characters of the name of a page
MOST_QUERY = 8_000  # characters of a link's query
HERE_LASTS = 40.0  # seconds for which a server's count of those who are here holds: it is renewed more often
RESERVE = 64, 400_000  # values and bytes that are no answers: where it is, what is asked and shown, who is here
MOST_OVER = 400  # questions of which a room knows that their answers were shown
MOST_TIMES = 2  # so many answers of a question for each member that a room may have: some come by another browser
WRITES = 6  # times that an answer is written, if the room has changed meanwhile

# Names of the values of a room; the last four are followed by a colon and by what they belong to.
ABOUT, PLACE, ASKED, SHOWN, OVER = "about", "place", "asked", "shown", "over"
ANSWER, LATE, DONE, HERE = "answer", "late", "done", "here"

Values = Mapping[str, bytes]


class NotOwner(PermissionError):
    """Somebody without the owner's secret wants to do what the owner alone may do."""


class TooLate(ValueError):
    """An answer came when its question was no longer open."""


@dataclass(frozen=True)
class Opened:
    """A room that was opened just now: its code, and the owner's secret."""

    code: str
    secret: str


@dataclass(frozen=True)
class Room:
    """What a room keeps, as it was when it was read.

    Attributes:
        code: of the room.
        values: all that it keeps.
    """

    code: str
    values: Values = field(repr=False)

    @property
    def about(self) -> Mapping[str, Any]:
        """Its owner's secret, hashed; its number; when it ends, in seconds since 1970."""
        about: Mapping[str, Any] = json.loads(self.values[ABOUT])
        return about

    @property
    def place(self) -> Mapping[str, Any] | None:
        """Where the owner is: the page, the query of the link, and a number that grows."""
        return json.loads(self.values[PLACE]) if PLACE in self.values else None

    @property
    def asked(self) -> Asked | None:
        """The question that is on screen, if there is one."""
        if ASKED not in self.values:
            return None
        told = json.loads(self.values[ASKED])
        return Asked(**(told | {"options": tuple(told["options"])}))

    @property
    def shown(self) -> Result | None:
        """What is shown of its answers, if anything is."""
        if SHOWN not in self.values:
            return None
        told = json.loads(self.values[SHOWN])
        return Result(**(told | {"values": tuple(told["values"])}))

    @property
    def over(self) -> list[str]:
        """The names of the app's questions whose answers were shown: they are no secret any more."""
        return json.loads(self.values[OVER]) if OVER in self.values else []

    @property
    def size(self) -> int:
        """Bytes of all that it keeps."""
        return sum(len(name) + len(value) for name, value in self.values.items())

    @property
    def answers(self) -> dict[str, Value]:
        """The answers to the question on screen, by member."""
        asked = self.asked
        return self.answers_to(asked) if asked else {}

    def answers_to(self, asked: Asked) -> dict[str, Value]:
        """The answers to a question, by member."""
        return {who: json.loads(value) for who, value in self._of(ANSWER, asked.id).items()}

    def answer_of(self, asked: Asked | None, member: str) -> Value | None:
        """A member's answer to a question; None if there is none."""
        value = self.values.get(f"{ANSWER}:{asked.id}:{member}") if asked else None
        return json.loads(value) if value else None

    def is_late(self, asked: Asked | None, member: str) -> bool:
        """Whether a member's answer to a question came too late."""
        return asked is not None and f"{LATE}:{asked.id}:{member}" in self.values

    @property
    def late(self) -> int:
        """How many answers to the question on screen came too late."""
        asked = self.asked
        return len(self._of(LATE, asked.id)) if asked else 0

    def done(self, step: str) -> int:
        """How many members have done the task of a lesson's step."""
        return len(self._of(DONE, step))

    def here(self) -> tuple[int, bool]:
        """How many members are here, on all servers, and whether the owner is."""
        now = time.time()
        counts = [json.loads(value) for name, value in self.values.items() if name.startswith(f"{HERE}:")]
        fresh = [count for count in counts if now - count["at"] < HERE_LASTS]
        return sum(count["members"] for count in fresh), any(count["owner"] for count in fresh)

    def member(self, visitor: str) -> str:
        """What stands for a visitor's browser in this room; of a visitor without cookies it is the address that counts.

        A phone that changes its network stays the same member.
        """
        browser = visitor.partition(" ")[2] or visitor
        return short(browser.encode(), key=self.about["number"].encode())

    def is_owner(self, secret: str) -> bool:
        """Whether this is the owner's secret."""
        return compare_digest(_hashed(secret), str(self.about["owner"]))

    def _of(self, what: str, which: str) -> dict[str, bytes]:
        begin = f"{what}:{which}:"
        return {name[len(begin) :]: value for name, value in self.values.items() if name.startswith(begin)}


def read_code(typed: str) -> str:
    """A code, as people type it.

    Raises:
        NoRoom: if it can be none.
    """
    code = "".join(typed.split()).upper()
    if len(code) != LENGTH or not set(code) <= set(SIGNS):
        raise NoRoom(code[:LENGTH])
    return code


def bounds(settings: Settings = SETTINGS) -> Bounds:
    """What rooms may hold on this server, as far as members fill them."""
    return Bounds(settings.rooms, max(1, settings.rooms // 2), settings.room_answers, settings.room_bytes)


def with_reserve() -> Bounds:
    """What they may hold with what the room itself needs, however much its members have filled in."""
    usual = bounds()
    return usual._replace(values=usual.values + RESERVE[0], bytes=usual.bytes + RESERVE[1])


def begin(network: str) -> Opened:
    """Open a room.

    Args:
        network: who opens it, by the network: nobody's address is kept.

    Raises:
        RoomFull: if there are too many.
        StoreAway: if the store does not answer.
    """
    secret = secrets.token_urlsafe(24)
    about = {"owner": _hashed(secret), "number": secrets.token_hex(16), "ends": time.time() + LIFETIME}
    whose = short(network.encode(), key=config.get_option("server.cookieSecret").encode()[:64])
    for _ in range(TRIES):
        code = "".join(secrets.choice(SIGNS) for _ in range(LENGTH))
        if rooms().open(code, {ABOUT: _json(about)}, whose, bounds()):
            return Opened(code, secret)
    raise RoomFull("No code is free now. Try again a little later.")


def look(code: str) -> Room:
    """A room as it is now.

    Raises:
        NoRoom: if there is none.
        StoreAway: if the store does not answer.
    """
    values = rooms().read(code)
    if ABOUT not in values:
        raise NoRoom(code)
    return Room(code, values)


def owned(code: str, secret: str) -> Room:
    """A room, for its owner.

    Raises:
        NoRoom: if there is none.
        NotOwner: if this is not its secret.
        StoreAway: if the store does not answer.
    """
    room = look(code)
    if not room.is_owner(secret):
        raise NotOwner("Only who has opened this room can do that.")
    return room


def move(code: str, secret: str, place: Mapping[str, Any]) -> None:
    """Say where the owner is. What was said before, and arrives late, changes nothing.

    Raises:
        ValueError: if that is no place.
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    room, now = owned(code, secret), _place(place)
    if room.place and room.place["number"] >= now["number"]:
        return
    rooms().write(code, {PLACE: _json(now)}, with_reserve())


def _place(told: Mapping[str, Any]) -> dict[str, Any]:
    page, query, number = told.get("page"), told.get("query"), told.get("number")
    if not isinstance(page, str) or not isinstance(query, str) or type(number) is not int:
        raise ValueError("expected the name of a page, the query of its link, and a whole number")
    if len(page) > MOST_PAGE or len(query) > MOST_QUERY:
        raise ValueError(
            f"expected a page of at most {MOST_PAGE} characters and a query of at most {MOST_QUERY:,}, "
            f"got {len(page):,} and {len(query):,}"
        )
    return {"page": page, "query": query, "number": number}


def ask(code: str, secret: str, asked: Asked) -> None:
    """Ask the members a question, in place of the one before. Answers to it that are there already count.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    room, now = owned(code, secret), {ASKED: _json(asdict(asked)), SHOWN: b""}
    now |= {name: b"" for name in room.values if name.startswith(f"{LATE}:{asked.id}:")}  # they may answer now
    is_half_full = len(room.values) > bounds().values / 2 or room.size > bounds().bytes / 2
    if is_half_full:  # what is no longer asked makes room
        old = [name for name in room.values if name.startswith((f"{ANSWER}:", f"{LATE}:"))]
        now = {name: b"" for name in old if name.split(":")[1] != asked.id} | now
    rooms().write(code, now, with_reserve())


def poll(code: str, secret: str, asked: Asked) -> bool:
    """Ask the members a poll, unless just this is being asked: then its answers stay. Returns whether it is new.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    room = owned(code, secret)
    if room.asked and not room.shown and replace(room.asked, id=asked.id) == asked:
        return False
    ask(code, secret, asked)
    return True


def withdraw(code: str, secret: str, asked: str) -> None:
    """Ask no more what has this id, if it is on screen.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    room = owned(code, secret)
    if room.asked and room.asked.id == asked:
        rooms().write(code, {ASKED: b"", SHOWN: b""}, with_reserve(), given={ASKED: room.values[ASKED]})


def show(code: str, secret: str, asked: str, *, measured: Value | None = None, said: str = "") -> None:
    """Show the answers that are there now, of which no more count then. Shown again, they stand beside what is new.

    Args:
        code: of the room.
        secret: the owner's.
        asked: the id of the question.
        measured: what the app has computed.
        said: that in words.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
        TooLate: if something else is asked now.
    """
    for _ in range(WRITES):
        room = owned(code, secret)
        if room.asked is None or room.asked.id != asked:
            raise TooLate("This question is not on screen any more.")
        given = {ASKED: room.values[ASKED], SHOWN: room.values.get(SHOWN, b"")}
        if room.shown is None:  # first nobody may answer any more, then answers are counted
            rooms().write(code, {SHOWN: _json(asdict(Result(asked)))}, with_reserve(), given=given)
            continue
        result = _result(room.asked, room.answers, measured, said, room.shown)
        if rooms().write(code, _shown(room, room.asked, result), with_reserve(), given=given):
            return


def show_again(code: str, secret: str, asked: Asked, *, measured: Value | None = None, said: str = "") -> None:
    """Show a question whose prediction is over, with the answers that the room still has of it.

    Of a question that the room was never asked the page's answer alone is told. A poll whose answers are not shown yet
    stays on screen instead.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    room = owned(code, secret)
    if room.asked and not room.asked.which and not room.shown:
        return
    answers = room.answers_to(asked)
    if not answers and asked.which not in room.over:
        asked = replace(asked, ask=asked.about or asked.ask, kind="nothing", options=())
    now = {ASKED: _json(asdict(asked))} | _shown(room, asked, _result(asked, answers, measured, said, Result(asked.id)))
    rooms().write(code, now, with_reserve(), given={ASKED: room.values.get(ASKED, b"")})


def _result(asked: Asked, answers: Mapping[str, Value], measured: Value | None, said: str, before: Result) -> Result:
    numbers = sorted(value for value in answers.values() if not isinstance(value, str))
    words = sorted(value for value in answers.values() if isinstance(value, str))
    values: tuple[Value, ...] = () if asked.kind == "words" else (*numbers, *words)
    if asked.kind == "nothing" or (isinstance(measured, float) and not math.isfinite(measured)):
        measured = None
    if not said:  # the desk computes nothing
        measured, said = before.measured, before.said
    return Result(asked.id, values, len(answers), measured, said, before.text)


def _shown(room: Room, asked: Asked, result: Result) -> dict[str, bytes]:
    """What is written when this is shown: the app's question is over from then on."""
    now = {SHOWN: _json(asdict(result))}
    if asked.which and asked.which not in room.over:
        now[OVER] = _json([*room.over, asked.which][-MOST_OVER:])
    return now


def reveal(code: str, secret: str, member: str) -> None:
    """Show one answer in words to all, once answers are shown.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
        ValueError: if there is no such answer, or answers are not shown yet.
    """
    room = owned(code, secret)
    if not room.shown or not room.asked or room.asked.kind != "words":
        raise ValueError("expected a question in words whose answers are shown")
    if member not in room.answers:
        raise ValueError("expected an answer of this question")
    shown = asdict(room.shown) | {"text": str(room.answers[member])}
    rooms().write(code, {SHOWN: _json(shown)}, with_reserve(), given={SHOWN: room.values[SHOWN]})


def answer(code: str, member: str, asked: str, told: Any) -> None:
    """Answer the question on screen, or change the answer, until answers are shown.

    Raises:
        NoRoom, StoreAway: see `look`.
        TooLate: if answers are shown already, or something else is asked now.
        RoomFull: if the room holds no more.
        ValueError: if this is no answer of the question.
    """
    for _ in range(WRITES):
        room = look(code)
        if room.asked is None or room.asked.id != asked:
            raise TooLate("This question is not on screen any more, so your answer does not count.")
        value = _json(room.asked.read(told))
        if room.shown:
            if f"{ANSWER}:{asked}:{member}" not in room.values:
                with suppress(RoomFull):  # then one more is not counted
                    rooms().write(code, {f"{LATE}:{asked}:{member}": b"1"}, bounds())
            raise TooLate("The answers are shown already, so this one does not count.")
        if len(room.answers) >= MOST_TIMES * SETTINGS.room_members and member not in room.answers:
            raise RoomFull("This question has more answers than this server allows.")
        given = {ASKED: room.values[ASKED], SHOWN: b""}
        if rooms().write(code, {f"{ANSWER}:{asked}:{member}": value}, bounds(), given=given):
            return
    raise TooLate("The question is changing just now. Send your answer again.")


def note_done(code: str, member: str, step: str) -> None:
    """Note that a member has done the task of a lesson's step.

    Raises:
        NoRoom, StoreAway: see `look`.
        RoomFull: if the room holds no more.
    """
    rooms().write(code, {f"{DONE}:{step}:{member}": b"1"}, bounds())


def note_here(code: str, server: str, members: int, *, owner: bool) -> None:
    """Note how many members are connected to a server, and whether the owner is.

    Raises:
        NoRoom, StoreAway: see `look`.
    """
    count = {"members": members, "owner": owner, "at": time.time()}
    rooms().write(code, {f"{HERE}:{server}": _json(count)}, with_reserve())


def end(code: str, secret: str) -> None:
    """Close a room, and erase all that it keeps.

    Raises:
        NoRoom, NotOwner, StoreAway: see `owned`.
    """
    owned(code, secret)
    rooms().close(code)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def _hashed(secret: str) -> str:
    return blake2b(secret.encode(errors="replace"), digest_size=32).hexdigest()
