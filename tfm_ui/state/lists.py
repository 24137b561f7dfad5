"""Fields that hold several numbers or names, written as a short text. Pure."""

import math
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from tfm_ui.state.fields import whole_number


@dataclass(frozen=True)
class Numbers:
    """Some of the numbers from `low` to `high`, written as "2 3", or as "q2 q3" if a letter says what they count.

    Attributes:
        label: the text beside the control.
        high: the highest number.
        letters: one of these letters stands before each number, the same letter before all of them.
        max_chars: the greatest length of the text.
        low: the lowest number, 0 or 1.
    """

    label: str
    high: int
    letters: str = ""
    max_chars: int = 60
    low: int = 1

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The valid numbers, each once, as many as fit."""
        form = re.compile(f"([{self.letters}])(0|[1-9][0-9]*)" if self.letters else "()(0|[1-9][0-9]*)")
        words = list(dict.fromkeys(raw.replace(",", " ").split()))
        numbers = [match for match in map(form.fullmatch, words) if match and self._holds(match[2])]
        numbers = [match for match in numbers if match[1] == numbers[0][1]]
        if words and not numbers:
            return default, f"it can hold {self._expected()}"
        text = " ".join(match[0] for match in numbers)
        while len(text) > self.max_chars:
            text = text.rpartition(" ")[0]
        return text, "" if text == " ".join(words) else f"it can hold {self._expected()}"

    def _holds(self, digits: str) -> bool:
        number = whole_number(digits)
        return number is not None and self.low <= number <= self.high

    def _expected(self) -> str:
        after = f", all after {' or all after '.join(self.letters)}" if self.letters else ""
        numbers = f"whole numbers from {self.low} to {self.high}{after}"
        return f"{numbers}, separated by spaces, at most {self.max_chars} characters in all"


LETTERS = "ABCDEF"  # of vectors without a name, by their places: no vector is given one of these as its name
NAME = re.compile(r"[^\W\d_][\w’'-]{0,11}")
NAME_RULE = f"a name is one word of up to 12 letters, other than {LETTERS[0]} to {LETTERS[-1]}, and stands once"


@dataclass(frozen=True)
class Vectors:
    """A few vectors, written as "1,0.5 0,-1": numbers are separated by commas, vectors by spaces.

    The value is that text, with each number rounded to two decimals; `vectors` reads it. A vector may have a name
    where there is `room` for names, written as "cat:1,0.5"; `vector_names` reads it.

    Attributes:
        label: the text beside the control.
        ranges: the lowest and the highest value of each number of a vector.
        fewest, most: how many vectors there may be.
        room: how many characters of a link a text with names may take; 0 where vectors have no names. Of a longer text
            the last names are left out.
    """

    label: str
    ranges: tuple[tuple[float, float], ...]
    fewest: int = 1
    most: int = 1
    room: int = 0

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The vectors, each number as near as its range allows; the default if their number or size is wrong."""
        try:
            points = vectors(raw)
        except ValueError:
            points = []
        fits = self.fewest <= len(points) <= self.most and all(len(vector) == len(self.ranges) for vector in points)
        fits = fits and (bool(self.room) or ":" not in raw)
        if not fits or not all(math.isfinite(number) for vector in points for number in vector):
            return default, self._expected()
        near = [
            [
                round(min(max(number, low), high), 2) + 0.0
                for number, (low, high) in zip(vector, self.ranges, strict=True)
            ]
            for vector in points  # + 0.0 makes 0 of -0
        ]
        inside = all(
            low <= number <= high for vector in points for number, (low, high) in zip(vector, self.ranges, strict=True)
        )
        text, reason = self._named([",".join(f"{number:g}" for number in vector) for vector in near], vector_names(raw))
        return text, reason if inside else f"its numbers go {self._ranges()}"

    def _named(self, numbers: list[str], given: list[str]) -> tuple[str, str]:
        """The text of these vectors with as many of their names as there may be, and why some are left out."""
        kept = [
            name if NAME.fullmatch(name) and name not in [*LETTERS, *given[:place]] else ""
            for place, name in enumerate(given)
        ]
        reason = "" if kept == given else NAME_RULE

        def text() -> str:
            return " ".join(f"{name}:{vector}" if name else vector for name, vector in zip(kept, numbers, strict=True))

        while any(kept) and len(quote_plus(text())) > self.room:
            last = max(place for place, name in enumerate(kept) if name)
            kept[last], reason = "", "a link has no room for more names"
        return text(), reason

    def _expected(self) -> str:
        many = f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"
        noun = "vector" if self.most == 1 else "vectors, separated by spaces,"
        return f"{many} {noun} of {len(self.ranges)} numbers, separated by commas, were expected"

    def _ranges(self) -> str:
        each = [f"from {low:g} to {high:g}" for low, high in self.ranges]
        return each[0] if len(set(each)) == 1 else " and ".join(each)


def vectors(text: str) -> list[tuple[float, ...]]:
    """The vectors that the text of a `Vectors` field stands for.

    Raises:
        ValueError: if a part of the text is not a number.
    """
    return [tuple(float(number) for number in vector.rpartition(":")[2].split(",")) for vector in text.split()]


def vector_names(text: str) -> list[str]:
    """The names of the vectors that the text of a `Vectors` field stands for; "" of one that has none."""
    return [vector.rpartition(":")[0] for vector in text.split()]


@dataclass(frozen=True)
class Names:
    """Some of a few names, written as "a,b", in the order in which they were chosen.

    Attributes:
        label: the text beside the control.
        options: the names that can be chosen.
    """

    label: str
    options: tuple[str, ...]

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The valid names, each once; the default if there are none."""
        asked = list(dict.fromkeys(name for name in raw.split(",") if name))
        chosen = [name for name in asked if name in self.options]
        reason = f"it can hold some of {', '.join(self.options)}"
        return ",".join(chosen) or default, "" if chosen and chosen == asked else reason


def names(text: str) -> list[str]:
    """The names that the text of a `Names` field stands for."""
    return [name for name in text.split(",") if name]
