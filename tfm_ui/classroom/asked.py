"""What a room is asked, and what is shown of its answers."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal
from unicodedata import category

LARGEST = 1e15  # no number of an answer is as large
MOST_CHARS = 80  # of an answer in a few words
HIDDEN, JOINERS = {"Cc", "Cf", "Cs"}, "\u200c\u200d"  # signs that nobody sees, and those that some words and emoji need
MOST_POLL, FEWEST_CHOICES, MOST_CHOICES = 200, 2, 5  # characters of a poll's question; its choices
MOST_CHOICE = 60  # characters of a choice of a poll

Kind = Literal["choice", "number", "words", "nothing"]
Value = str | float


@dataclass(frozen=True)
class Asked:
    """A question that the members of a room are asked.

    Attributes:
        id: tells it from others of the room.
        ask: its words.
        kind: what an answer is; nothing is asked where the page only says its own answer.
        options: what members choose from.
        unit: what follows a number.
        which: the name of the question in the app; "" of a poll.
        about: what the page asks beside it, for those who do not see that page.
    """

    id: str
    ask: str
    kind: Kind
    options: tuple[str, ...] = ()
    unit: str = ""
    which: str = ""
    about: str = ""

    def read(self, told: Any) -> Value:
        """An answer, of what a browser tells.

        Raises:
            ValueError: naming what was expected and what came.
        """
        if self.kind == "choice":
            if told not in self.options:
                raise ValueError(f"expected one of {', '.join(self.options)}, got {str(told)[:60]!r}")
            return str(told)
        if self.kind == "number":
            if not isinstance(told, int | float) or isinstance(told, bool):
                raise ValueError(f"expected a number, got {str(told)[:60]!r}")
            if not abs(told) < LARGEST:
                raise ValueError(f"expected a number from −10¹⁵ to 10¹⁵, got {str(told)[:60]}")
            return float(told)
        if self.kind == "nothing":
            raise ValueError("expected no answer, as nothing is asked")
        words = " ".join(str(told).split()) if isinstance(told, str) else ""
        if not words or len(words) > MOST_CHARS:
            raise ValueError(f"expected 1 to {MOST_CHARS} characters, got {len(words)}")
        if any(category(sign) in HIDDEN and sign not in JOINERS for sign in words):
            raise ValueError("expected letters and signs, got one that steers how others are shown")
        return words


def asked_of(which: str, ask: str, options: Sequence[str], unit: str, *, in_words: bool, about: str = "") -> Asked:
    """A prediction of the app as a question for a room: always the same one."""
    kind: Kind = "choice" if options else "words" if in_words else "number"
    named = json.dumps([which, ask, kind, unit, *options])
    return Asked(short(named.encode()), ask, kind, tuple(options), unit, which, about)


def said_of(which: str, ask: str) -> Asked:
    """A question of the app that a room is not asked: it is told the page's answer alone."""
    return Asked(short(json.dumps([which, "said"]).encode()), ask, "nothing", which=which)


def poll_of(ask: str, options: Sequence[str]) -> Asked:
    """A poll of the owner's.

    Raises:
        ValueError: naming what was expected and what came.
    """
    words, choices = " ".join(ask.split()), [" ".join(option.split()) for option in options if option.strip()]
    if not 1 <= len(words) <= MOST_POLL:
        raise ValueError(f"expected a question of 1 to {MOST_POLL} characters, got {len(words)}")
    if not FEWEST_CHOICES <= len(choices) <= MOST_CHOICES:
        raise ValueError(f"expected {FEWEST_CHOICES} to {MOST_CHOICES} choices, got {len(choices)}")
    if len(set(choices)) < len(choices):
        raise ValueError("expected choices that differ, got two that are the same")
    if longest := max((choice for choice in choices if len(choice) > MOST_CHOICE), key=len, default=""):
        raise ValueError(f"expected choices of at most {MOST_CHOICE} characters, got {len(longest)}")
    return Asked(secrets.token_hex(6), words, "choice", tuple(choices))


@dataclass(frozen=True)
class Result:
    """What is shown of a question's answers, when its owner has decided so. Later answers do not count.

    Attributes:
        id: of the question.
        values: all answers, sorted, so that nobody learns who gave which; none while they are being collected, or of
            words.
        many: how many there are.
        measured: what the app has computed; None of a poll, and of words.
        said: the computed answer in words.
        text: an answer in words that the owner has chosen to show.
    """

    id: str
    values: tuple[Value, ...] = ()
    many: int = 0
    measured: Value | None = None
    said: str = ""
    text: str = ""


def short(data: bytes, key: bytes = b"") -> str:
    """A name of 16 hexadecimal digits for this; with a key nobody can find out what it stands for."""
    return blake2b(data, digest_size=8, key=key).hexdigest()
