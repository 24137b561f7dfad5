"""Words of a text as numbers, all of them at once: a text of 1,024 x 1,024 words takes a tenth of a second.

Words that occur often are read once. Decimals that are written alike, such as 0.1234 and 0.5678, are read together: an
integer below 2^53 divided by a power of ten is rounded once, so it is the very number that Python's float reads.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tfm_core.study.attention_files import told

WORDS = {"true": 1.0, "t": 1.0, "yes": 1.0, "false": 0.0, "f": 0.0, "no": 0.0}
LONGEST = 24  # signs of a word that are read together with others, in 8-byte steps
ALIKE = 48  # ways of writing that are read together; the words that are left are read singly
MOST_DIGITS = 15  # of a mantissa: every such integer is below 2^53
EXACT = 22  # the largest power of ten that float64 holds exactly
DECIMAL = re.compile(rb"-?(0+\.?0*|\.0+)(e-?0{1,3})?")  # with every digit written as 0

# The way in which a word is written: every digit as 0, + as −, E as e.
_WAY = np.arange(256, dtype=np.uint8)
_WAY[ord("0") : ord("9") + 1] = ord("0")
_WAY[ord("+")], _WAY[ord("E")] = ord("-"), ord("e")
_KEEP = np.array([2 ** (8 * size) - 1 for size in range(9)], np.uint64)  # the first bytes of eight

Spans = NDArray[np.int64]


class BadWord(ValueError):
    """A word that is no cell of a mask.

    Attributes:
        index: which word.
        problem: the rest of a sentence that begins with its place.
    """

    def __init__(self, index: int, problem: str) -> None:
        super().__init__(problem)
        self.index, self.problem = index, problem


@dataclass(frozen=True)
class Words:
    """Words within a text.

    Attributes:
        text: in UTF-8.
        starts: the place of each word's first byte.
        lengths: how many bytes each has.
    """

    text: bytes
    starts: Spans
    lengths: Spans

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, at: NDArray[np.int64] | slice) -> "Words":
        return Words(self.text, self.starts[at], self.lengths[at])

    def word(self, index: int) -> str:
        """A word as a string."""
        start = int(self.starts[index])
        return self.text[start : start + int(self.lengths[index])].decode("utf-8", "replace")

    def words(self) -> list[str]:
        """All words as strings."""
        return [self.word(index) for index in range(len(self))]


def split(text: bytes, between: bytes) -> Words:
    """The runs of bytes that are none of `between`."""
    is_between = np.zeros(256, bool)
    is_between[np.frombuffer(between, np.uint8)] = True
    inside = np.empty(len(text) + 2, bool)
    inside[0] = inside[-1] = False
    inside[1:-1] = ~is_between[np.frombuffer(text, np.uint8)]
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    return Words(text, edges[::2], edges[1::2] - edges[::2])


def scalar(word: str) -> float:
    """What a word says.

    Raises:
        ValueError: with the rest of a sentence that begins with the word's place.
    """
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    shown = told(word) if len(word) <= 20 else told(word[:19]) + "…"
    try:
        value = math.inf if len(word) > 60 else float(word)
    except ValueError:
        value = None
    if value is None or "_" in word or not word.isascii() or (len(word) > 60 and not word.isdigit()):
        if re.fullmatch(r"[+-]?\d+,\d+", word):
            raise ValueError(f"is “{shown}”: if the comma is a decimal one, write a point.")
        if not word:
            raise ValueError("is empty: a number, True or False was expected.")
        raise ValueError(f"is “{shown}”: a number, True or False was expected.")
    if math.isnan(value):
        raise ValueError("is NaN, which stands for neither visible nor hidden.")
    if math.isinf(value) and any(map(str.isdigit, word)):
        raise ValueError(f"is “{shown}”: a number that float64 can hold was expected.")
    return value


def kind_of(word: str) -> str:
    """What kind of thing a word is that `scalar` reads: "booleans", "whole numbers" or "numbers"."""
    if word.lower() in WORDS:
        return "booleans"
    return "whole numbers" if re.fullmatch(r"[+-]?\d+", word) else "numbers"


def read_words(words: Words) -> tuple[NDArray[np.float64], str]:
    """The numbers, float64 (word,), and their kind: "booleans", "whole numbers" or "numbers".

    Raises:
        BadWord: of the first word in its way of writing that is no number, nor True nor False.
    """
    reader = _Reader(words)
    reader.read()
    kinds = reader.kinds
    return reader.values, kinds.pop() if len(kinds) == 1 else "numbers"


class _Reader:
    """Reads words in groups: `left` are those that have not been read yet."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.values = np.empty(len(words))
        self.kinds: set[str] = set()
        longest = int(words.lengths.max(initial=1))
        steps = min(-(-longest // 8), LONGEST // 8)
        padded = words.text + bytes(LONGEST)
        eights = np.ndarray((len(words.text) + LONGEST - 7,), "<u8", padded, 0, (1,))
        self.keys = [
            eights[words.starts + 8 * step] & _KEEP[(words.lengths - 8 * step).clip(0, 8)] for step in range(steps)
        ]
        self.left: NDArray[np.int64] = np.arange(len(words))

    def read(self) -> None:
        if (long := self.words.lengths > LONGEST).any():
            self._singly(np.flatnonzero(long))
            self._keep(~long)
        while len(self.left):  # words that occur often
            same = np.logical_and.reduce([key == key[0] for key in self.keys])
            if len(self.left) > 64 and 16 * int(np.count_nonzero(same)) < len(self.left):
                break
            self._singly(self.left[:1])
            self.values[self.left[same]] = self.values[self.left[0]]
            self._keep(~same)
        ways = [_WAY[key.view(np.uint8)].view("<u8") for key in self.keys]
        for _ in range(ALIKE):
            if not len(self.left):
                return
            same = np.logical_and.reduce([way == way[0] for way in ways])
            way = b"".join(part[:1].tobytes() for part in ways).rstrip(b"\0")
            group = self.left[same]
            if len(group) > 32 and DECIMAL.fullmatch(way) and way.partition(b"e")[0].count(b"0") <= MOST_DIGITS:
                self._decimals(group, [key[same] for key in self.keys], way)
            else:
                self._singly(group)
            ways = [part[~same] for part in ways]
            self._keep(~same)
        self._singly(self.left)

    def _keep(self, mask: NDArray[np.bool_]) -> None:
        self.left, self.keys = self.left[mask], [key[mask] for key in self.keys]

    def _singly(self, group: NDArray[np.int64]) -> None:
        """Read word by word."""
        if len(group) > 64 and self._plainly(group):
            return
        known: dict[str, float] = {}
        for index in group.tolist():
            word = self.words.word(index)
            if word not in known:
                try:
                    known[word] = scalar(word)
                except ValueError as problem:
                    raise BadWord(index, str(problem)) from None
                self.kinds.add(kind_of(word))
            self.values[index] = known[word]

    def _plainly(self, group: NDArray[np.int64]) -> bool:
        """Read numbers alone, and say whether that is what all of the words were."""
        text, starts, lengths = self.words.text, self.words.starts[group], self.words.lengths[group]
        ends = (starts + lengths).tolist()
        parts = [text[start:end] for start, end in zip(starts.tolist(), ends, strict=True)]
        joined = b" ".join(parts).lower()
        if b"_" in joined or b"n" in joined or int(lengths.max()) > 60:  # NaN and infinities
            return False
        try:
            values = np.array([*map(float, parts)])
        except ValueError:
            return False
        if not np.isfinite(values).all():
            return False
        self.values[group] = values
        self.kinds.add("numbers" if b"." in joined or b"e" in joined else "whole numbers")
        return True

    def _decimals(self, group: NDArray[np.int64], keys: list[NDArray[np.uint64]], way: bytes) -> None:
        """Read decimals that are all written in one way."""
        signs = np.stack(keys, 1).view(np.uint8)  # (word, sign)
        digits = np.ascontiguousarray(signs.T) - np.uint8(ord("0"))
        mantissa, _, power = way.partition(b"e")
        number, exponent = np.zeros(len(group), np.int64), np.zeros(len(group), np.int64)
        for at, sign in enumerate(mantissa):
            if sign == ord("0"):
                number = 10 * number + digits[at]
        for at, sign in enumerate(power, len(mantissa) + 1):
            if sign == ord("0"):
                exponent = 10 * exponent + digits[at]
        if power.startswith(b"-"):
            exponent = np.where(signs[:, len(mantissa) + 1] == ord("-"), -exponent, exponent)
        exponent = exponent - len(mantissa.partition(b".")[2])
        tens = 10.0 ** np.arange(EXACT + 1)
        up, down = tens[exponent.clip(0, EXACT)], tens[(-exponent).clip(0, EXACT)]
        values = number * up / down
        if way.startswith(b"-"):
            values = np.where(signs[:, 0] == ord("-"), -values, values)
        self.values[group] = values
        self.kinds.add("numbers" if b"." in way or power else "whole numbers")
        far = np.abs(exponent) > EXACT
        if far.any():
            self._singly(group[far])
