"""The changes that can be made to the model: each with its text in a link, its words, and what it does.

    silence 1.2             nothing comes out of layer 1, head 2
    zero 1 3, zero 1.2 3    the value of token 3 is zero, in all heads of layer 1 or in head 2 alone
    weight 1.2 5>3 0.9      query 5 looks at key 3 with 0.9, the rest of its row scaled; with `raw` at the end, unscaled
    drop 4                  the text is read without its token 4; the others move up
    swap 2 5                tokens 2 and 5 change places
    replace 4 dog           in place of token 4 another is read

All numbers count from 1, and tokens as the text is written, whatever is dropped or swapped. In an encoder-decoder,
`decoder` or `cross` after the first word means another attention than the encoder's, and `target` the decoder's text.
In a link several changes are separated by semicolons.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from tfm_core import Tokens, encode
from tfm_core.model.tokens import PAD_ID, Tokenizer
from tfm_core.study.interventions import set_weight, silence_head, zero_value
from tfm_ui.live import places
from tfm_ui.live.places import texts_of
from tfm_ui.state.links import quoted
from tfm_ui.state.model_state import ModelState
from tfm_ui.text.token_labels import Names, named

Call = partial[Callable[[Tensor], Tensor]]  # of a function that makes an edit for `recording(edits=...)`
Places = NDArray[np.intp]  # of one text: where each of its tokens stands, from 0; -1 for one that is dropped
Positions = Mapping[str, Places]  # of each text, by its name, "source" or "target"

LONGEST = 20  # characters of a token that is read in place of another
NUMBER = r"(\d{1,4})"
EXPECTED = "expected such as silence 1.2, zero 1 3, weight 1.2 5>3 0.9, drop 4, swap 2 5 or replace 4 dog"
ROOM, A_ROOM = 300, 120  # characters of a link that B's changes may take, and A's; this leaves room for all the rest


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

    @property
    def place(self) -> str:
        """Where it is made: its first field."""
        place: str = next(iter(vars(self).values()))
        return place

    def __str__(self) -> str:
        """The change's text in a link."""
        return f"{self.verb} {'' if self.place == self.usual else f'{self.place} '}{self.written()}"

    def written(self) -> str:
        """Its further fields, as they stand in a link."""
        _, *arguments = vars(self).values()
        return " ".join(map(str, arguments))

    @abstractmethod
    def in_words(self, names: Names) -> str:
        """What it does, in words, as on a button."""

    @abstractmethod
    def tokens(self) -> list[tuple[str, int]]:
        """The tokens that it names, each with its text."""

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

    @abstractmethod
    def edit(self, positions: Positions) -> Call:
        """What it does to the tensor at `site`."""


@dataclass(frozen=True)
class OfText(Change):
    """A change of what the model reads."""

    text: str
    places, usual = "target", "source"

    def tokens(self) -> list[tuple[str, int]]:
        """All numbers that it has: each is a token's."""
        return [(self.text, token) for token in vars(self).values() if isinstance(token, int)]


@dataclass(frozen=True)
class Silence(OfAttention):
    """A head of which nothing comes out."""

    verb, arguments, site = "silence", rf"{NUMBER}\.{NUMBER}", "head_output"

    def written(self) -> str:
        return f"{self.layer}.{self.head}"

    def in_words(self, names: Names) -> str:
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

    def written(self) -> str:
        return f"{self.layer}{f'.{self.head}' if self.head else ''} {self.token}"

    def in_words(self, names: Names) -> str:
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

    def written(self) -> str:
        rest = "" if self.rescaled else " raw"
        return f"{self.layer}.{self.head} {self.query}>{self.key} {self.weight:g}{rest}"

    def in_words(self, names: Names) -> str:
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

    def in_words(self, names: Names) -> str:
        return f"Drop {names.token(self.text, self.token)}"


@dataclass(frozen=True)
class Swap(OfText):
    """Two tokens that change places."""

    first: int
    second: int
    verb, arguments = "swap", f"{NUMBER} {NUMBER}"

    def in_words(self, names: Names) -> str:
        return f"Swap {names.token(self.text, self.first)} and {names.token(self.text, self.second)}"


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

    def in_words(self, names: Names) -> str:
        return f"Read “{named(self.piece)}” for {names.token(self.text, self.token)}"

    def undoes(self, earlier: Change) -> bool:
        return isinstance(earlier, Replace) and earlier.tokens() == self.tokens()


KINDS: Sequence[type[Change]] = (Silence, Zero, Weight, Drop, Swap, Replace)


def parse(text: str) -> tuple[list[Change], list[str]]:
    """The changes in a text, and the parts of it that are none."""
    changes: dict[Change, None] = {}
    wrong = []
    for part in filter(None, (" ".join(part.split()) for part in text.split(";"))):
        if change := next(filter(None, (kind.parse(part) for kind in KINDS)), None):
            changes[change] = None
        else:
            wrong.append(part)
    return list(changes), wrong


def written(changes: Iterable[Change]) -> str:
    """The changes as they stand in a link."""
    return "; ".join(map(str, changes))


def fits(changes: Iterable[Change], room: int = ROOM) -> bool:
    """Whether `room` characters of a link hold them: there 日 takes nine, and each mark between two changes four."""
    return len(quoted(written(changes))) <= room


def with_change(changes: Sequence[Change], new: Change) -> list[Change]:
    """These and a new one; of one cell only the last weight counts, of one place the last token."""
    return [*(change for change in changes if not new.undoes(change)), new]


@dataclass(frozen=True)
class Changes:
    """A control that holds changes: the text that stands for them."""

    label: str
    max_chars: int = ROOM  # in a link

    def read(self, raw: str, default: Any) -> tuple[str, str]:
        """The changes among what was asked for, as many as there is room for."""
        asked, wrong = parse(raw)
        reason = f"“{wrong[0][:40]}” is no change, {EXPECTED}" if wrong else ""
        taken: list[Change] = []
        for change in asked:
            if not fits([*taken, change], self.max_chars):
                reason = reason or f"a link holds {self.max_chars} characters of changes; what is beyond is left out"
                break
            taken.append(change)
        return written(taken), reason


def how_many(model: ModelState, text: str) -> int:
    """How many tokens of a text there are to be changed; of a target text 0 if the model reads none."""
    if text == "target":
        return len(model.target_tokens.pieces) if model.is_encoder_decoder else 0
    return len(model.source_tokens.pieces)


def possible(text: str, model: ModelState) -> list[Change]:
    """The changes in a text that this model allows."""
    return sort_out(parse(text)[0], model)[0]


def sort_out(changes: Iterable[Change], model: ModelState) -> tuple[list[Change], dict[Change, str]]:
    """The changes that can be made to a model, and why each of the others cannot."""
    changes = list(changes)
    reasons: dict[Change, str] = {}
    dropped: dict[str, set[int]] = {"source": set(), "target": set()}
    for change in changes:  # what is dropped first: nothing else can be done to it
        if isinstance(change, Drop):
            last = len(dropped[change.text]) + 1 == how_many(model, change.text)
            if reason := _problem(change, model) or last * "one token must be left":
                reasons[change] = reason
            else:
                dropped[change.text].add(change.token)
    for change in changes:
        if not isinstance(change, Drop):
            on_dropped = any(token in dropped[text] for text, token in change.tokens())
            if reason := _problem(change, model) or on_dropped * "its token is dropped":
                reasons[change] = reason
    return [change for change in changes if change not in reasons], reasons


def _problem(change: Change, model: ModelState) -> str:
    """Why a change cannot be made, whatever the others are; "" if it can."""
    if change.place != change.usual and not model.is_encoder_decoder:
        return "only an encoder-decoder has that"
    if isinstance(change, OfAttention):
        if not 1 <= change.layer <= model.num_layers:
            return f"layers go from 1 to {model.num_layers}"
        if not change.first_head <= change.head <= model.num_heads:
            return f"heads go from 1 to {model.num_heads}"
    if isinstance(change, Swap) and change.first == change.second:
        return "a token is swapped with another one"
    for text, token in change.tokens():
        if not token:
            return "tokens count from 1"
        if token > how_many(model, text):
            return f"the {'text' if text == 'source' else 'target text'} has fewer tokens"
    return ""


def in_order(count: int, swapped: Iterable[tuple[int, int]], dropped: Collection[int]) -> list[int]:
    """The tokens of a text that are read, in the order in which they are read; all from 0, as the text is written."""
    left = list(range(count))
    for pair in swapped:
        first, second = (left.index(token) for token in pair)
        left[first], left[second] = left[second], left[first]
    return [token for token in left if token not in dropped]


def first_token(text: str, tokenizer: str | Tokenizer) -> tuple[str, int]:
    """The first token of a text and its id, after the special tokens that the tokenizer puts before every text."""
    tokens, at = encode(text, tokenizer), 0
    around = tokenizer.split("") if isinstance(tokenizer, Tokenizer) else []
    while at < min(len(around), len(tokens.pieces) - 1) and tokens.pieces[at] == around[at]:
        at += 1
    return tokens.pieces[at], tokens.ids[at]


def changed_ids(text: Tokens, tokenizer: str | Tokenizer, others: Mapping[int, str], left: Sequence[int]) -> Tensor:
    """The token ids of a text that is read in another order, and with `others` in place of some tokens, (1, seq)."""
    ids = list(text.ids)
    for token, piece in others.items():
        _, ids[token] = first_token(piece, tokenizer)
    return torch.tensor([[ids[token] for token in left] + [PAD_ID] * (len(ids) - len(left))])


def swaps(changes: Iterable[Change], text: str) -> list[tuple[int, int]]:
    """The pairs of a text's tokens, from 0, that change places."""
    return [(each.first - 1, each.second - 1) for each in changes if isinstance(each, Swap) and each.text == text]


def drops(changes: Iterable[Change], text: str) -> list[int]:
    """The tokens of a text, from 0, that are dropped."""
    return [each.token - 1 for each in changes if isinstance(each, Drop) and each.text == text]


def order(changes: Sequence[Change], text: str, tokens: int) -> list[int]:
    """The tokens of a text, from 0, in the order in which the model reads them."""
    return in_order(tokens, swaps(changes, text), drops(changes, text))


def replacements(changes: Iterable[Change], text: str, model: ModelState) -> dict[int, str]:
    """The tokens of a text, from 0, in whose place another is read -> the text whose first token that is.

    Where tokens carry the space before them, the other one has it if that one has it.
    """
    pieces = (model.target_tokens if text == "target" else model.source_tokens).pieces
    return {
        at: f" {change.piece}" if model.pretrained and pieces[at].startswith(" ") else change.piece
        for change in changes
        if isinstance(change, Replace) and change.text == text and (at := change.token - 1) < len(pieces)
    }


def positions(changes: Sequence[Change], model: ModelState) -> dict[str, Places]:
    """Text -> where each of its tokens stands, from 0; -1 if it is dropped."""
    standing = {}
    for text, tokens in (("source", model.source_tokens), ("target", model.target_tokens)):
        left = order(changes, text, len(tokens.pieces))
        standing[text] = np.full(len(tokens.pieces), -1, np.intp)
        standing[text][left] = np.arange(len(left))
    return standing


def edits_of(changes: Sequence[Change], model: ModelState) -> dict[str, list[Call]]:
    """What changes that the model allows do in a pass of it: name in a recording -> the calls that make its edits."""
    calls: dict[str, list[Call]] = {}
    for change in changes:
        if isinstance(change, OfAttention):
            place = places.place(model, places.kind_of(model, change.kind))
            name = place.format(layer=change.layer - 1, what=change.site)
            calls.setdefault(name, []).append(change.edit(positions(changes, model)))
    return calls
