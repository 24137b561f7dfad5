"""What is done to the model, as a short text in the link: "silence 1.2; weight 1.1 6>2 0.9; drop 4". Pure.

    silence 1.2             nothing comes out of layer 1, head 2
    zero 1 3, zero 1.2 3    the value of token 3 is zero, in all heads of layer 1 or in head 2 alone
    weight 1.2 5>3 0.9      query 5 looks at key 3 with 0.9, the rest of its row scaled; with `raw` behind it, left
    drop 4                  the text is read without its token 4; the others move up
    swap 2 5                tokens 2 and 5 change places
    replace 4 dog           in place of token 4 another is read

All count from 1, and tokens as the text is written, whatever is dropped or swapped. In an encoder-decoder `decoder` or
`cross` behind the first word is another attention than the encoder's, and `target` the decoder's text.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tfm_ui.state.links import quoted

KINDS = ("encoder", "decoder", "cross")  # a single stack's attention is called as the encoder's
EXPECTED = "expected such as silence 1.2, zero 1 3, weight 1.2 5>3 0.9, drop 4, swap 2 5 or replace 4 dog"


@dataclass(frozen=True)
class Silence:
    """A head of which nothing comes out."""

    kind: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"silence {_but(self.kind, 'encoder')}{self.layer}.{self.head}"


@dataclass(frozen=True)
class Zero:
    """A token whose value vector is zero; in all heads if `head` is 0."""

    kind: str
    layer: int
    head: int
    token: int

    def __str__(self) -> str:
        head = f".{self.head}" if self.head else ""
        return f"zero {_but(self.kind, 'encoder')}{self.layer}{head} {self.token}"


@dataclass(frozen=True)
class Weight:
    """A weight that is set; `rescaled` says whether the rest of its row makes room for it."""

    kind: str
    layer: int
    head: int
    query: int
    key: int
    weight: float
    rescaled: bool

    def __str__(self) -> str:
        place = f"{_but(self.kind, 'encoder')}{self.layer}.{self.head} {self.query}>{self.key}"
        return f"weight {place} {self.weight:g}{'' if self.rescaled else ' raw'}"


@dataclass(frozen=True)
class Drop:
    """A token that the model does not read."""

    text: str
    token: int

    def __str__(self) -> str:
        return f"drop {_but(self.text, 'source')}{self.token}"


@dataclass(frozen=True)
class Swap:
    """Two tokens that change places."""

    text: str
    one: int
    other: int

    def __str__(self) -> str:
        return f"swap {_but(self.text, 'source')}{self.one} {self.other}"


@dataclass(frozen=True)
class Replace:
    """A token in whose place another is read: the first of this piece of text."""

    text: str
    token: int
    piece: str

    def __str__(self) -> str:
        return f"replace {_but(self.text, 'source')}{self.token} {self.piece}"


Change = Silence | Zero | Weight | Drop | Swap | Replace
OF_TEXT = Drop | Swap | Replace  # done to a text, the others to the model
LONGEST = 20  # signs of a piece
ROOM = 300  # characters of a link for the changes of B, and as many for those of A: the rest of it fits, too


def _but(word: str, usual: str) -> str:
    return "" if word == usual else f"{word} "


_KIND, _TEXT, _HEAD = r"(?:(encoder|decoder|cross) )?", r"(?:(target) )?", r"(\d{1,4})\.(\d{1,4})"
GRAMMAR: tuple[tuple[str, Callable[..., Change]], ...] = (
    (rf"silence {_KIND}{_HEAD}", lambda kind, *at: Silence(kind or "encoder", *map(int, at))),
    (
        rf"zero {_KIND}(\d{{1,4}})(?:\.(\d{{1,4}}))? (\d{{1,4}})",
        lambda kind, layer, head, token: Zero(kind or "encoder", int(layer), int(head or 0), int(token)),
    ),
    (
        rf"weight {_KIND}{_HEAD} (\d{{1,4}})>(\d{{1,4}}) ([01](?:\.\d{{1,6}})?|\.\d{{1,6}})( raw)?",
        lambda kind, layer, head, query, key, weight, raw: Weight(
            kind or "encoder", int(layer), int(head), int(query), int(key), min(1.0, round(float(weight), 3)), not raw
        ),
    ),
    (rf"drop {_TEXT}(\d{{1,4}})", lambda text, token: Drop(text or "source", int(token))),
    (rf"swap {_TEXT}(\d{{1,4}}) (\d{{1,4}})", lambda text, *two: Swap(text or "source", *map(int, two))),
    (
        rf"replace {_TEXT}(\d{{1,4}}) (\S{{1,{LONGEST}}})",
        lambda text, token, piece: Replace(text or "source", int(token), piece),
    ),
)


def parse(raw: str) -> tuple[list[Change], list[str]]:
    """The changes in a text, and the parts of it that are none."""
    found, wrong = [], []
    for part in filter(None, (" ".join(part.split()) for part in raw.split(";"))):
        for pattern, make in GRAMMAR:
            if match := re.fullmatch(pattern, part, re.ASCII | re.IGNORECASE):
                which, *rest = match.groups()
                found.append(make(which and which.lower(), *rest))
                break
        else:
            wrong.append(part)
    return list(dict.fromkeys(found)), wrong


def written(changes: Iterable[Change]) -> str:
    """As they stand in a link."""
    return "; ".join(map(str, changes))


def fits(changes: Iterable[Change], room: int = ROOM) -> bool:
    """Whether so many characters of a link hold them: there 日 takes nine, and each mark between two changes four."""
    return len(quoted(written(changes))) <= room


def with_change(changes: Sequence[Change], new: Change) -> list[Change]:
    """These and a new one; of one cell only the last weight counts, of one place the last token."""
    if isinstance(new, Weight):
        cell = (new.kind, new.layer, new.head, new.query, new.key)
        others = [c for c in changes if not (isinstance(c, Weight) and _cell(c) == cell)]
    elif isinstance(new, Replace):
        others = [c for c in changes if not (isinstance(c, Replace) and (c.text, c.token) == (new.text, new.token))]
    else:
        others = [c for c in changes if c != new]
    return [*others, new]


def _cell(weight: Weight) -> tuple[str, int, int, int, int]:
    return weight.kind, weight.layer, weight.head, weight.query, weight.key


@dataclass(frozen=True)
class Changes:
    """A control that holds changes: the text that stands for them."""

    label: str
    max_chars: int = ROOM  # in a link

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The changes among what was asked for, as many as there is room for."""
        found, wrong = parse(raw)
        reason = f"“{wrong[0][:40]}” is no change, {EXPECTED}" if wrong else ""
        taken: list[Change] = []
        for change in found:
            if not fits([*taken, change], self.max_chars):
                reason = reason or f"a link holds {self.max_chars} characters of changes; what is beyond is left out"
                break
            taken.append(change)
        return written(taken), reason
