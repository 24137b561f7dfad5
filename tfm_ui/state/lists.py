"""Fields that hold several numbers or names, written as a short text. Pure."""

import math
import re
from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True)
class Vectors:
    """A few vectors, written as "1,0.5 0,-1": numbers are separated by commas, vectors by spaces.

    The value is that text, with each number rounded to two decimals; `vectors` reads it.

    Attributes:
        label: the text beside the control.
        ranges: the lowest and the highest value of each number of a vector.
        fewest, most: how many vectors there may be.
    """

    label: str
    ranges: tuple[tuple[float, float], ...]
    fewest: int = 1
    most: int = 1

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The vectors, each number as near as its range allows; the default if their number or size is wrong."""
        try:
            points = vectors(raw)
        except ValueError:
            points = []
        fits = self.fewest <= len(points) <= self.most and all(len(vector) == len(self.ranges) for vector in points)
        if not fits or not all(math.isfinite(number) for vector in points for number in vector):
            return default, self._expected()
        near = [
            [
                round(min(max(number, low), high), 2) + 0.0
                for number, (low, high) in zip(vector, self.ranges, strict=True)
            ]
            for vector in points  # + 0.0 makes 0 of -0
        ]
        text = " ".join(",".join(f"{number:g}" for number in vector) for vector in near)
        inside = all(
            low <= number <= high for vector in points for number, (low, high) in zip(vector, self.ranges, strict=True)
        )
        return text, "" if inside else f"its numbers go {self._ranges()}"

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
    return [tuple(float(number) for number in vector.split(",")) for vector in text.split()]


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
