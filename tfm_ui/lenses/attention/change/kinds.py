"""The kinds of change that can be made to the model: each with its text in a link, its words, and what it does.

    silence 1.2             nothing comes out of layer 1, head 2
    zero 1 3, zero 1.2 3    the value of token 3 is zero, in all heads of layer 1 or in head 2 alone
    weight 1.2 5>3 0.9      query 5 looks at key 3 with 0.9, the rest of its row scaled; with `raw` at the end, unscaled
    drop 4                  the text is read without its token 4; the others move up
    swap 2 5                tokens 2 and 5 change places
    replace 4 dog           in place of token 4 another is read

All numbers count from 1, and tokens as the text is written, whatever is dropped or swapped. In an encoder-decoder,
`decoder` or `cross` after the first word means another attention than the encoder's, and `target` the decoder's text.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

from torch import Tensor

from tfm_core.study.interventions import set_weight, silence_head, zero_value
from tfm_ui.lenses.attention.change.aligned import Positions
from tfm_ui.live.texts import texts_of
from tfm_ui.text.token_labels import Names, named

Call = partial[Callable[[Tensor], Tensor]]  # of a function that makes an edit for `recording(edits=...)`
LONGEST = 20  # characters of a token that is read in place of another
NUMBER = r"(\d{1,4})"


class Change(ABC):
    """A change. Each kind is a frozen dataclass: changes that say the same are equal.

    Its first field says where it is made: a kind of attention, or a text. In a link that is said where it is not the
    usual one, after the verb and before the arguments.
    """

    verb: ClassVar[str]
    places: ClassVar[str]  # where it can be made, as a regular expression
    usual: ClassVar[str]
    arguments: ClassVar[str]  # likewise, a group for each further field

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The change that stands in a link, if it is one of this kind."""
        match = re.fullmatch(f"{cls.verb} (?:({cls.places}) )?{cls.arguments}", text, re.ASCII | re.IGNORECASE)
        make: Callable[..., Self] = cls
        return make((match[1] or cls.usual).lower(), *cls.values(*match.groups()[1:])) if match else None

    @classmethod
    def values(cls, *arguments: str) -> list[Any]:
        """Its further fields; an argument that is left out is 0."""
        return [int(argument or 0) for argument in arguments]

    def written(self, place: str, arguments: str) -> str:
        """The change's text in a link."""
        return f"{self.verb} {'' if place == self.usual else f'{place} '}{arguments}"

    @abstractmethod
    def said(self, names: Names) -> str:
        """What it does, in words, as on a button."""

    @abstractmethod
    def tokens(self) -> list[tuple[str, int]]:
        """The tokens that it names, each with its text."""

    @abstractmethod
    def stack_text(self) -> str:
        """The text that the changed stack of layers reads, "source" or "target"."""

    def undoes(self, earlier: "Change") -> bool:
        """Whether nothing is left of an earlier change once this one is made."""
        return self == earlier


@dataclass(frozen=True)
class OfAttention(Change):
    """A change of what one attention computes."""

    kind: str  # a single stack's attention is called as the encoder's
    layer: int
    head: int
    places, usual = "encoder|decoder|cross", "encoder"
    first_head: ClassVar[int] = 1
    site: ClassVar[str]  # the recording's name of what is edited, without its place in the model

    def stack_text(self) -> str:
        return texts_of(self.kind)[0]

    @abstractmethod
    def edit(self, positions: Positions) -> Call:
        """What it does to the tensor at `site`."""


@dataclass(frozen=True)
class OfText(Change):
    """A change of what the model reads."""

    text: str
    places, usual = "target", "source"

    def stack_text(self) -> str:
        return self.text


@dataclass(frozen=True)
class Silence(OfAttention):
    """A head of which nothing comes out."""

    verb, arguments, site = "silence", rf"{NUMBER}\.{NUMBER}", "head_output"

    def __str__(self) -> str:
        return self.written(self.kind, f"{self.layer}.{self.head}")

    def said(self, names: Names) -> str:
        return f"Silence {names.head(self.kind, self.layer, self.head)}"

    def tokens(self) -> list[tuple[str, int]]:
        return []

    def edit(self, positions: Positions) -> Call:
        return partial(silence_head, self.head - 1)


@dataclass(frozen=True)
class Zero(OfAttention):
    """A token whose value vector is zero; in all heads if `head` is 0."""

    token: int
    verb, arguments, site = "zero", rf"{NUMBER}(?:\.{NUMBER})? {NUMBER}", "value"
    first_head = 0

    def __str__(self) -> str:
        return self.written(self.kind, f"{self.layer}{f'.{self.head}' if self.head else ''} {self.token}")

    def said(self, names: Names) -> str:
        token, head = names.token(*self.tokens()[0]), names.head(self.kind, self.layer, self.head or None)
        return f"Zero the value of {token} in {head}"

    def tokens(self) -> list[tuple[str, int]]:
        return [(texts_of(self.kind)[1], self.token)]

    def edit(self, positions: Positions) -> Call:
        ((text, token),) = self.tokens()
        return partial(zero_value, int(positions[text][token - 1]), self.head - 1 if self.head else None)


@dataclass(frozen=True)
class Weight(OfAttention):
    """A weight that is set; `rescaled` says whether the rest of its row makes room for it."""

    query: int
    key: int
    weight: float
    rescaled: bool
    verb, site = "weight", "weights"
    arguments = rf"{NUMBER}\.{NUMBER} {NUMBER}>{NUMBER} ([01](?:\.\d{{1,6}})?|\.\d{{1,6}})( raw)?"

    @classmethod
    def values(cls, *arguments: str) -> list[Any]:
        *cell, weight, raw = arguments
        return [*map(int, cell), min(1.0, round(float(weight), 3)), not raw]

    def __str__(self) -> str:
        cell, rest = f"{self.layer}.{self.head} {self.query}>{self.key}", "" if self.rescaled else " raw"
        return self.written(self.kind, f"{cell} {self.weight:g}{rest}")

    def said(self, names: Names) -> str:
        query, key = (names.token(*token) for token in self.tokens())
        head, rest = names.head(self.kind, self.layer, self.head), "" if self.rescaled else ", the rest as it was"
        return f"{query} looks at {key} with {self.weight:g} in {head}{rest}"

    def tokens(self) -> list[tuple[str, int]]:
        return list(zip(texts_of(self.kind), (self.query, self.key), strict=True))

    def undoes(self, earlier: Change) -> bool:
        return isinstance(earlier, Weight) and replace(earlier, weight=self.weight, rescaled=self.rescaled) == self

    def edit(self, positions: Positions) -> Call:
        query, key = (int(positions[text][token - 1]) for text, token in self.tokens())
        return partial(set_weight, self.head - 1, query, key, self.weight, renormalise=self.rescaled)


@dataclass(frozen=True)
class Drop(OfText):
    """A token that the model does not read."""

    token: int
    verb, arguments = "drop", NUMBER

    def __str__(self) -> str:
        return self.written(self.text, f"{self.token}")

    def said(self, names: Names) -> str:
        return f"Drop {names.token(self.text, self.token)}"

    def tokens(self) -> list[tuple[str, int]]:
        return [(self.text, self.token)]


@dataclass(frozen=True)
class Swap(OfText):
    """Two tokens that change places."""

    first: int
    second: int
    verb, arguments = "swap", f"{NUMBER} {NUMBER}"

    def __str__(self) -> str:
        return self.written(self.text, f"{self.first} {self.second}")

    def said(self, names: Names) -> str:
        return f"Swap {names.token(self.text, self.first)} and {names.token(self.text, self.second)}"

    def tokens(self) -> list[tuple[str, int]]:
        return [(self.text, self.first), (self.text, self.second)]


@dataclass(frozen=True)
class Replace(OfText):
    """A token in whose place another is read: the first of this piece of text."""

    token: int
    piece: str
    verb, arguments = "replace", rf"{NUMBER} (\S{{1,{LONGEST}}})"

    @classmethod
    def values(cls, *arguments: str) -> list[Any]:
        token, piece = arguments
        return [int(token), piece]

    def __str__(self) -> str:
        return self.written(self.text, f"{self.token} {self.piece}")

    def said(self, names: Names) -> str:
        return f"Read “{named(self.piece)}” for {names.token(self.text, self.token)}"

    def tokens(self) -> list[tuple[str, int]]:
        return [(self.text, self.token)]

    def undoes(self, earlier: Change) -> bool:
        return isinstance(earlier, Replace) and earlier.tokens() == self.tokens()


KINDS: Sequence[type[Change]] = (Silence, Zero, Weight, Drop, Swap, Replace)
