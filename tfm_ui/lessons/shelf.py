"""The lessons: the chapters and the teaching material that come with the app, and what visitors have brought.

What a visitor brings is kept as uploaded masks are: under a name that nobody can guess, for whoever has the link.
"""

import re
import secrets
from base64 import b32encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b

from tfm_ui.folders import ASSETS
from tfm_ui.lessons.lesson import Lesson, Step
from tfm_ui.lessons.reader import FaultyLesson, read
from tfm_ui.store.kinds import UPLOADS
from tfm_ui.store.shared import store

FOLDER = ASSETS / "lessons"
LECTURE = "the-transformer-architecture"  # the lecture of ninety minutes
START = "start-here"  # the lesson for who knows nothing yet
BEGINS = "brought-"  # what the names of lessons that visitors have brought begin with
SECRET = secrets.token_bytes(32)
DRAWN_BYTES = 10  # of a name: 80 bits, which nobody guesses, and 16 letters and digits
BROUGHT = re.compile(rf"{BEGINS}[a-z2-7]{{16}}")


@dataclass(frozen=True)
class Place:
    """A step of a lesson.

    Attributes:
        name: of the lesson.
        lesson: the lesson.
        at: the place of the step, from 0.
    """

    name: str
    lesson: Lesson
    at: int = 0

    @property
    def step(self) -> Step:
        """The step."""
        return self.lesson.steps[self.at]

    @property
    def link(self) -> str:
        """What the parameter `lesson` of a link holds."""
        return f"{self.name}.{self.step.name}"

    @property
    def is_last(self) -> bool:
        """Whether no step follows."""
        return self.at + 1 == len(self.lesson.steps)

    def other(self, at: int) -> "Place":
        """Another step of the lesson."""
        return Place(self.name, self.lesson, at)


@cache
def names() -> Sequence[str]:
    """The names of the chapters that come with the app, in teaching order."""
    return (FOLDER / "order.txt").read_text(encoding="utf-8").split()


@cache
def teaching() -> Sequence[str]:
    """The names of what comes with the app for teachers: a lecture, and exercise sheets."""
    return (FOLDER / "teaching" / "order.txt").read_text(encoding="utf-8").split()


def is_shipped(name: str) -> bool:
    """Whether a lesson comes with the app."""
    return name in names() or name in teaching()


@cache
def shipped(name: str) -> Lesson:
    """A lesson that comes with the app."""
    file = (FOLDER if name in names() else FOLDER / "teaching") / f"{name}.md"
    return read(file.read_text(encoding="utf-8"), file.name)


@cache
def example() -> str:
    """A lesson of two steps as its file, for who wants to write one; docs/lessons.md has it, too."""
    return (FOLDER / "example" / "one-head-by-hand.md").read_text(encoding="utf-8")


def find(name: str) -> Lesson:
    """The lesson with this name.

    Raises:
        LookupError: if there is none, or it is not kept any more.
        StoreAway: if the store does not answer.
    """
    if is_shipped(name):
        return shipped(name)
    value = store().get(UPLOADS, name) if BROUGHT.fullmatch(name) else None
    if value is None:
        raise LookupError(f"expected the name of a lesson that is kept here, got {name[:60]}")
    return _brought(value)


def place(link: str) -> Place:
    """The step that a link names, or the first step of the lesson that it names.

    Raises:
        LookupError: if there is no such lesson or step.
        StoreAway: if the store does not answer.
    """
    name, _, step = link.partition(".")
    lesson = find(name)
    at = lesson.step(step) if step else 0
    if at is None:
        raise LookupError(f"expected a step of the lesson {lesson.title}, got {step[:60]}")
    return Place(name, lesson, at)


def after(name: str) -> Place | None:
    """The first step of the lesson that comes next; None after the last, and after what a visitor has brought."""
    at = names().index(name) + 1 if name in names() else len(names())
    return Place(names()[at], shipped(names()[at])) if at < len(names()) else None


@lru_cache(maxsize=64)
def _brought(value: bytes) -> Lesson:
    try:
        return read(value.decode())
    except (UnicodeDecodeError, FaultyLesson) as problem:  # somebody else may write to a store of several servers
        raise LookupError("expected a lesson under this name, got other bytes") from problem


def keep(text: str, visitor: str) -> str:
    """Take in a lesson that was read without faults; returns its name, which is short: somebody may have to type it.

    Raises:
        StoreAway: if the store does not answer.
    """
    name, value = _name(text, visitor), text.encode()
    store().put(UPLOADS, name, value, visitor)
    return name


def kept(text: str, visitor: str) -> str:
    """The name under which this visitor's lesson is kept here; "" if it is not.

    Raises:
        StoreAway: if the store does not answer.
    """
    name = _name(text, visitor)
    return name if store().entry(UPLOADS, name) else ""


def _name(text: str, visitor: str) -> str:
    """The name of a visitor's lesson: the same each time, on a server."""
    told = len(visitor).to_bytes(4) + visitor.encode() + text.encode()
    return BEGINS + b32encode(blake2b(told, digest_size=DRAWN_BYTES, key=SECRET).digest()).decode().lower()
